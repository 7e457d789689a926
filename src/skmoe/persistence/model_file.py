"""A model file that runs no code when it is loaded: a zip of one JSON text and plain arrays.

Arrays are NumPy's own format, read with pickling forbidden. The zip's checksums find damage, a version number finds
files from the future. A model fitted to a table carries the recipe of its columns along (`skmoe.rows.encoder`).
"""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from skmoe.inference.uncertainty import split_errors
from skmoe.model.activations import ACTIVATIONS
from skmoe.model.parameters import MoEParameters

__all__ = ["load", "replacing", "save"]

FORMAT = 1
ARRAYS = ("expert_coef_", "expert_intercept_", "gate_coef_", "gate_intercept_", "noise_scale_", "shares_")
OPTIONAL = ("covariance_", "covariance_robust_")
NUMBERS = ("n_experts_", "n_parameters_", "log_likelihood_", "n_iter_", "converged_", "identified_", "n_features_in_")

NOT_KEPT = ("random_state", "input_law", "activation", "checkpoint", "verbose")  # of the fit, not of the model


@contextmanager
def replacing(path: Any) -> Iterator[Path]:
    """A name beside `path` to write to, moved into its place at the end: what fails leaves nothing half-written."""
    path = Path(path).resolve()
    if path.exists() and not path.is_file():  # a pipe or a device is written to, never replaced
        yield path
        return
    beside = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        yield beside
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def save(model: Any, path: Any) -> None:
    """Write a fitted `MoERegressor`."""
    name = model.parameters_.g.name
    if ACTIVATIONS.get(name) != model.parameters_.g:
        raise ValueError(
            f"activation {name!r} is your own code, which a model file cannot hold; keep the coefficients, or pickle"
        )
    settings = {k: v for k, v in model.get_params().items() if k not in NOT_KEPT}
    history = {k: _plain(v) for k, v in model.history_.items()}
    header = {
        "format": FORMAT,
        "settings": {k: _plain(v) for k, v in settings.items()} | {"activation": name},
        "numbers": {k: _plain(getattr(model, k)) for k in NUMBERS},
        "history": history,
    }
    if hasattr(model, "feature_names_in_"):
        header["feature_names"] = [str(n) for n in model.feature_names_in_]
    arrays = {k: getattr(model, k) for k in (*ARRAYS, *OPTIONAL) if getattr(model, k) is not None}
    with replacing(path) as beside, zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("model.json", json.dumps(header, indent=1))
        if getattr(model, "table_", None) is not None:
            file.writestr("table.json", json.dumps(model.table_, indent=1))
        for key, values in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, np.asarray(values), allow_pickle=False)
            file.writestr(f"{key}.npy", buffer.getvalue())


def load(path: Any, make: Callable[..., Any]) -> Any:
    """Read a model written by `save` into a new one that `make` builds from its settings."""
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as file:
            header = json.loads(file.read("model.json"))
            version = header["format"]
            if not isinstance(version, int) or version > FORMAT:
                raise ValueError(
                    f"{path} was written by a later skmoe (format {version}, this one reads to {FORMAT}); upgrade skmoe"
                )
            table = json.loads(file.read("table.json")) if "table.json" in file.namelist() else None
            arrays = {
                name[:-4]: np.load(io.BytesIO(file.read(name)), allow_pickle=False)
                for name in file.namelist()
                if name.endswith(".npy")
            }
        model = make(**header["settings"])
        for name in ARRAYS:
            setattr(model, name, arrays[name])
        for name in OPTIONAL:
            setattr(model, name, arrays.get(name))
        for name in NUMBERS:
            setattr(model, name, header["numbers"][name])
        k, d = model.expert_coef_.shape
        if model.gate_coef_.shape != (k, d) or model.n_features_in_ != d:
            raise ValueError("shapes of the arrays do not fit together")
    except FileNotFoundError:
        raise
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, OSError, TypeError) as error:
        raise ValueError(f"{path} is damaged or not a skmoe model file ({error}); save the model again") from error
    except ValueError as error:
        if "later skmoe" in str(error):
            raise
        raise ValueError(f"{path} is damaged or not a skmoe model file ({error}); save the model again") from error
    model.parameters_ = MoEParameters(
        model.expert_coef_,
        model.gate_coef_,
        model.noise_scale_,
        b=model.expert_intercept_,
        c=model.gate_intercept_,
        g=header["settings"]["activation"],
    )
    for name, values in split_errors(model.covariance_, k, d).items():
        setattr(model, f"{name}_se_", values)
    model.history_ = header["history"]
    for name in ("log_likelihood", "spectrum"):
        if model.history_[name] is not None:
            model.history_[name] = np.array(model.history_[name])
    if table is not None:
        model.table_ = table
    if "feature_names" in header:
        model.feature_names_in_ = np.array(header["feature_names"], dtype=object)
    return model


def _plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value
