"""Fixtures: every kernel runs on every array library that is installed."""

import importlib

import numpy as np
import pytest

from skips import pytest_configure  # noqa: F401  a hook: skips are failures where a list says which are allowed
from streams import let_samples_be_small, made_rows

BACKENDS = {"numpy": "array_api_compat.numpy", "strict": "array_api_strict", "torch": "array_api_compat.torch"}


@pytest.fixture(params=list(BACKENDS))
def xp(request):
    if request.param == "torch":
        pytest.importorskip("torch", reason="PyTorch is not installed", exc_type=ImportError)
    return importlib.import_module(BACKENDS[request.param])


@pytest.fixture(scope="session")
def rows():
    """A problem in wild units, for rows outside memory."""
    return made_rows()


@pytest.fixture
def small_samples(monkeypatch):
    let_samples_be_small(monkeypatch)


@pytest.fixture
def rng():
    return np.random.default_rng(20190611)
