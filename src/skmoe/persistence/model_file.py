"""A model file that runs no code when it is loaded: a zip of one JSON text and plain arrays.

Arrays are NumPy's own format, read with pickling forbidden. The zip's checksums find damage, a version number finds
files from the future. A model fitted to a table of text and numbers carries along how its columns became inputs.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from skmoe.inference import split_errors
from skmoe.model.activations import ACTIVATIONS
from skmoe.model.calibration import Calibration
from skmoe.model.parameters import MoEParameters
from skmoe.rows.encoder import TableEncoder
from skmoe.rows.writing import replacing

__all__ = ["load_model", "save_model"]

FORMAT = 3
ARRAYS = (
    "expert_coef_",
    "expert_intercept_",
    "gate_coef_",
    "gate_intercept_",
    "noise_scale_",
    "shares_",
    "dof_",
    "stability_",
)
MEMBER_ARRAYS = ("A", "b", "W", "c", "sigma")  # of the models that are averaged, one after the other
OPTIONAL = ("covariance_", "covariance_robust_", "covariance_at_origin_")
AT_ORIGIN = ("origin", "b", "c")  # of parameters whose intercepts are not those at inputs of zero
NUMBERS = (
    "n_experts_",
    "n_parameters_",
    "log_likelihood_",
    "n_iter_",
    "converged_",
    "identified_",
    "n_features_in_",
    "penalty_",
    "gate_uncertain_",
)

NOT_KEPT = ("random_state", "input_law", "activation", "checkpoint", "verbose")  # of the fit, not of the model


class _LaterVersionError(ValueError):
    """A file that this version cannot read yet."""


def save_model(model: Any, path: Any) -> None:
    """Write a fitted `MoERegressor`."""
    name = model.parameters_.g.name
    if ACTIVATIONS.get(name) != model.parameters_.g:
        raise ValueError(
            f"activation {name!r} is your own code, which a model file cannot hold; keep the coefficients, or pickle"
        )
    settings = {k: _plain(v) for k, v in model.get_params().items() if k not in NOT_KEPT}
    if callable((settings["spectral_options"] or {}).get("decomposition")):
        raise ValueError(
            "the decomposition of spectral_options is your own code, which a model file cannot hold; keep the "
            "coefficients, or pickle"
        )
    header = {
        "format": FORMAT,
        "settings": settings | {"activation": name},
        "numbers": {k: _plain(getattr(model, k)) for k in NUMBERS},
        "history": {k: _plain(v) for k, v in model.history_.items()},
        "calibration": _plain(model.calibration_),
        "members": [len(member.A) for member in model.members_],
    }
    if hasattr(model, "feature_names_in_"):
        header["feature_names"] = [str(n) for n in model.feature_names_in_]
    arrays = {k: getattr(model, k) for k in (*ARRAYS, *OPTIONAL) if getattr(model, k) is not None}
    arrays |= {"plug_in_scale": model.parameters_.sigma, "member_weights": model.member_weights_}
    if model.parameters_.origin is not None:
        arrays |= {f"origin_{part}": getattr(model.parameters_, part) for part in AT_ORIGIN}
    if model.members_:
        for part in MEMBER_ARRAYS:
            arrays[f"member_{part}"] = np.concatenate([getattr(member, part) for member in model.members_])
    with replacing(path) as beside, zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("model.json", json.dumps(header, indent=1))
        if model.encoder_ is not None:
            file.writestr("table.json", json.dumps(model.encoder_.to_json(), indent=1))
        for key, values in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, np.asarray(values), allow_pickle=False)
            file.writestr(f"{key}.npy", buffer.getvalue())


def load_model(path: Any, make: Callable[..., Any]) -> Any:
    """Read a model written by `save_model` into a new one that `make` builds from its settings."""
    path = Path(path)
    try:
        header, table, arrays = _read(path)
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
        model.encoder_ = None if table is None else TableEncoder.from_json(table)
        if model.encoder_ is not None and len(model.encoder_.features) != d:
            raise ValueError("what it says of its columns is not of this model")
        family = header["settings"]["activation"]
        origin, b, c = arrays.get("origin_origin"), model.expert_intercept_, model.gate_intercept_
        if origin is not None:
            b, c = arrays["origin_b"], arrays["origin_c"]
            if (origin.shape, b.shape, c.shape) != ((d,), (k,), (k,)):
                raise ValueError("the shapes of its origin and intercepts do not fit together")
        model.parameters_ = MoEParameters(
            model.expert_coef_, model.gate_coef_, arrays["plug_in_scale"], b, c, family, origin
        )
        members = _members(header["members"], arrays, d, family)
        model.members_ = tuple(replace(member, origin=origin) for member in members)
        model.member_weights_ = arrays["member_weights"]
        model.calibration_ = None if header["calibration"] is None else Calibration(**header["calibration"])
    except (FileNotFoundError, _LaterVersionError):
        raise
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, OSError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged or not a skmoe model file ({error}); save the model again") from error
    for name, values in split_errors(model.covariance_, k, d).items():
        setattr(model, f"{name}_se_", values)
    model.history_ = header["history"]
    for name in ("objective", "spectrum"):
        if model.history_[name] is not None:
            model.history_[name] = np.array(model.history_[name])
    if "feature_names" in header:
        model.feature_names_in_ = np.array(header["feature_names"], dtype=object)
    return model


def _members(experts: list[int], arrays: dict[str, np.ndarray], d: int, family: Any) -> tuple[MoEParameters, ...]:
    """Models that are averaged, so many experts each."""
    weights = arrays["member_weights"]
    if len(weights) != len(experts):
        raise ValueError("its averaged models and their weights do not fit together")
    ends = np.cumsum(experts)[:-1].tolist()
    parts = {name: np.split(arrays[f"member_{name}"], ends) for name in MEMBER_ARRAYS} if experts else {}
    members = tuple(
        MoEParameters(parts["A"][i], parts["W"][i], parts["sigma"][i], parts["b"][i], parts["c"][i], family)
        for i in range(len(experts))
    )
    if any(member.A.shape != (k, d) or member.W.shape != (k, d) for member, k in zip(members, experts, strict=True)):
        raise ValueError("shapes of its averaged models do not fit together")
    return members


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any] | None, dict[str, np.ndarray]]:
    """Header, columns and arrays of a model file."""
    with zipfile.ZipFile(path) as file:
        header = json.loads(file.read("model.json"))
        version = header["format"]
        if not isinstance(version, int) or version > FORMAT:
            raise _LaterVersionError(
                f"{path} was written by a later skmoe (format {version}, this one reads to {FORMAT}); upgrade skmoe"
            )
        table = json.loads(file.read("table.json")) if "table.json" in file.namelist() else None
        arrays = {
            name[:-4]: np.load(io.BytesIO(file.read(name)), allow_pickle=False)
            for name in file.namelist()
            if name.endswith(".npy")
        }
    if version == 1:
        header = _from_first_edition(header)
    if version < 3:
        header, arrays = _from_second_format(header, arrays)
    return header, table, arrays


def _from_first_edition(header: dict[str, Any]) -> dict[str, Any]:
    """What the first edition called otherwise."""
    settings, history = dict(header["settings"]), dict(header["history"])
    settings["penalty"] = settings.pop("gate_penalty")
    history["objective"] = history.pop("log_likelihood")
    return header | {"settings": settings, "history": history}


def _from_second_format(
    header: dict[str, Any], arrays: dict[str, np.ndarray]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """A model of one member, without calibration, whose noise scales are those of maximum likelihood."""
    settings, history = dict(header["settings"]), dict(header["history"])
    settings |= {"calibration": None}
    history |= {"icl": [], "held_out": [], "penalties": [], "step": 0.0}
    sigma = arrays["noise_scale_"]
    more = {
        "dof_": np.full(len(sigma), np.inf),
        "stability_": np.full(len(sigma), np.nan),
        "plug_in_scale": sigma,
        "member_weights": np.zeros(0),
    }
    numbers = header["numbers"] | {"penalty_": 0.0, "gate_uncertain_": False}
    told = {"settings": settings, "history": history, "numbers": numbers, "calibration": None, "members": []}
    return header | told, arrays | more


def _plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value
