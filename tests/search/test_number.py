import numpy as np
import pytest

from problems import family
from skmoe import make_moe
from skmoe.rows.inputs import RowsToFit
from skmoe.search.config import SearchConfig
from skmoe.search.number import bic, choose_experts
from skmoe.search.records import Control
from skmoe.search.task import ModelSpec, prepare


def task_of(X, y, config=None):
    spec = ModelSpec(family("linear"), "per-expert", 1e-5, True)
    rng = np.random.default_rng(0)
    return prepare(RowsToFit(X, y, None, None), spec, "auto", rng, Control(), config or SearchConfig()), rng


def test_number_with_the_smallest_criterion_is_chosen():
    X, y, _ = make_moe(1500, 3, 2, noise_scale=0.2, random_state=1)
    task, rng = task_of(X, y)
    fitted, tried = choose_experts(task, rng)
    assert [k for k, _ in tried] == [1, 2, 3, 4]  # two beyond the best
    assert min(tried, key=lambda pair: pair[1])[0] == len(fitted.parameters.A) == 2
    assert bic(fitted, 1500) <= dict(tried)[2] + 1e-6  # the number chosen is searched for in full


def test_criterion_is_that_of_the_callers_rows():
    X, y, _ = make_moe(800, 3, 2, noise_scale=0.2, random_state=1)
    task, rng = task_of(X, y)
    fitted, _ = choose_experts(task, rng)
    total = np.sum(fitted.parameters.log_density(X, y))
    assert bic(fitted, 800) == pytest.approx(fitted.n_parameters * np.log(800) - 2 * total, rel=1e-9)


@pytest.mark.parametrize(("n", "most"), [(20, 1), (28, 2), (45, 2), (46, 3)])
def test_no_more_experts_are_tried_than_rows_can_carry(rng, n, most):
    """Two rows for each parameter, of gate and noise too: 5, 14 and 23 parameters of one to three experts here."""
    X = rng.standard_normal((n, 3))
    y = np.sign(X[:, 0]) + np.sign(X[:, 1]) + np.where(X[:, 2] > 0, 2.0, -2.0) * X[:, 2]  # as many as can be had
    y = y + 0.01 * rng.standard_normal(n)
    task, generator = task_of(X, y, SearchConfig(patience=10))
    _, tried = choose_experts(task, generator)
    assert [k for k, _ in tried] == list(range(1, most + 1))
    assert [task.problem(k).n_parameters for k in (1, 2, 3)] == [5, 14, 23]
