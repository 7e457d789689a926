"""A model file that runs no code when it is loaded: JSON texts and plain arrays, as `model_schema` declares them.

What is written was checked as it will be when it is read. A model fitted to a table of text and numbers carries along
how its columns became inputs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from skmoe.arrays.visible import visible
from skmoe.model.activations import ACTIVATIONS, get_activation
from skmoe.model.calibration import Calibration
from skmoe.model.families import FAMILIES, OF_TWO_COLUMNS, BinomialFamily, MultinomialFamily, StudentFamily
from skmoe.model.family import Family
from skmoe.model.gaussian import GaussianFamily
from skmoe.model.parameters import MoEParameters
from skmoe.persistence.archive import Archive, opened, write_archive
from skmoe.persistence.earlier_formats import CHECKSUMS_SINCE, EARLIER, arrays_always, header_of, more_arrays, table_of
from skmoe.persistence.errors import ModelFileError, reason
from skmoe.persistence.model_schema import (
    AT_ORIGIN,
    CLASSIFIER_SETTINGS,
    COVARIANCES,
    FORMAT,
    HELD,
    KINDS,
    MEMBER_ARRAYS,
    MEMBER_HELD,
    NUMBERS,
    PROFILE,
    SETTINGS,
    TABLE,
    arrays_of,
    family_from,
    family_record,
    header_check,
    symbols,
)
from skmoe.spectral.options import spectral_options
from skmoe.tables.chosen import chosen_inputs
from skmoe.tables.encoder import TableEncoder

__all__ = ["load_model", "save_model"]

NOT_ARRAYS = ("plug_in_scale", "member_weights")  # of the model's parameters and members, not attributes by these names


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator.

    Parameters
    ----------
    model : MoERegressor or MoEClassifier
    path : str or path

    Raises
    ------
    ValueError
        If the model holds code of the caller's, or anything that could not be loaded again.
    """
    model._validate_params()
    header, table = _header(model), None if model.encoder_ is None else _plain(model.encoder_.to_json())
    arrays = {"member_weights": model.member_weights_}
    at_origin = dict(zip(AT_ORIGIN, (model.parameters_.b, model.parameters_.c), strict=True))
    for name in arrays_of(header):
        if name in MEMBER_ARRAYS:
            arrays[name] = np.concatenate([getattr(member, name.removeprefix("member_")) for member in model.members_])
        elif name in MEMBER_HELD:
            arrays[name] = np.concatenate([_largest(member) for member in model.members_])
        elif name in HELD:
            arrays[name] = _largest(model.parameters_)
        elif name in at_origin:
            arrays[name] = at_origin[name]
        elif name == "plug_in_scale":
            arrays[name] = model.parameters_.sigma
        elif name not in NOT_ARRAYS:
            arrays[name] = getattr(model, name)
    try:
        _check(header, table)
        known, specs = symbols(header), arrays_of(header)
        for name, values in arrays.items():
            if np.shape(values) != specs[name].sizes(known):
                raise ValueError(f"{name} must be of shape {specs[name].sizes(known)}; it is of {np.shape(values)}")
            specs[name].values.refuse(np.asarray(values, dtype=np.float64), name)
    except ValueError as error:
        raise ValueError(f"the model cannot be saved: {reason(error)}") from error
    write_archive(path, {"model.json": header} | ({} if table is None else {"table.json": table}), arrays)


def _largest(parameters: MoEParameters) -> np.ndarray:
    """Largest predictors of experts, infinite where they are not held."""
    return np.full(len(parameters.A), np.inf) if parameters.largest is None else parameters.largest


def _header(model: Any) -> dict[str, Any]:
    """What ``model.json`` says of a model."""
    params, classifier = model.get_params(), hasattr(model, "classes_")
    settings = {k: _plain(params[k]) for k in (CLASSIFIER_SETTINGS if classifier else SETTINGS)}
    header = {
        "format": FORMAT,
        "kind": "classifier" if classifier else "regressor",
        "settings": settings,
        "numbers": {k: _plain(getattr(model, k)) for k in NUMBERS},
        "history": {k: _plain(v) for k, v in model.history_.items()},
        "calibration": _plain(model.calibration_),
        "members": [len(member.A) for member in model.members_],
    }
    header["numbers"]["n_features_in_"] = len(model.encoded_feature_names_)  # of a file: inputs
    if hasattr(model, "feature_names_in_"):
        header["feature_names"] = [str(n) for n in model.encoded_feature_names_]
    if model.encoder_ is not None:
        header["columns"] = [str(n) for n in model.feature_names_in_]
    if model.parameters_.origin is not None:
        header["origin"] = _plain(model.parameters_.origin)
    if any(p.largest is not None for p in (model.parameters_, *model.members_)):
        header["held"] = True
    if model.profile_intervals_ is not None:
        header["profiled"] = True
    if classifier:
        return header | {"classes": model.classes_.tolist()}
    name = model.parameters_.g.name
    if ACTIVATIONS.get(name) != model.parameters_.g:
        raise ValueError(
            f"activation {name!r} is your own code, which a model file cannot hold; keep the coefficients, or pickle"
        )
    settings["activation"] = name
    if callable((settings["spectral_options"] or {}).get("decomposition")):
        raise ValueError(
            "the decomposition of spectral_options is your own code, which a model file cannot hold; keep the "
            "coefficients, or pickle"
        )
    family = family_record(model.parameters_.family)
    return header if family is None else header | {"family": family}


def load_model(path: str | os.PathLike[str], make: Mapping[str, Callable[..., Any]]) -> Any:
    """Read a model written by `save_model` into a new one that `make` builds from its settings.

    Parameters
    ----------
    path : str or path
    make : callable
        The estimator's class.

    Returns
    -------
    MoERegressor
        The fitted model, without the standard errors that follow from its covariance.

    Raises
    ------
    FileNotFoundError
        If there is no file.
    ModelFileError
        If it is not whole, not a model file, or of a later version.
    """
    path = os.fsdecode(path)
    shown = visible(path)
    try:
        with opened(Path(path)) as archive:
            return _read(archive, make, shown)
    except (FileNotFoundError, ModelFileError):
        raise
    except Exception as error:  # whatever a hostile file makes a library raise, it is one refusal here
        raise ModelFileError(
            f"{shown} is damaged or not a skmoe model file ({reason(error)}); save the model again"
        ) from error


def _read(archive: Archive, make: Mapping[str, Callable[..., Any]], path: str) -> Any:
    """The model in an archive, every part of which was checked."""
    header = archive.json("model.json")
    version = header["format"] if isinstance(header, dict) and "format" in header else None
    if type(version) is not int or version < 1:
        raise ValueError("model.json names no format")
    if version > FORMAT:
        raise ModelFileError(
            f"{path} was written by a later skmoe (format {version}, this one reads to {FORMAT}); upgrade skmoe"
        )
    if version >= CHECKSUMS_SINCE and archive.sums is None:
        raise ValueError("its checksums are missing")
    if version in EARLIER:
        header = header_of(header)
    table = table_of(archive.json("table.json")) if "table.json" in archive.members else None
    _check(header, table)
    specs = arrays_of(header, arrays_always(version))
    texts = {"model.json"} | (set() if table is None else {"table.json"})
    archive.refuse_others(texts | {f"{name}.npy" for name in specs})
    arrays = archive.arrays(specs, symbols(header))
    return _model(make[_kind(header)], header, table, arrays | more_arrays(version, arrays))


def _kind(header: Mapping[str, Any]) -> str:
    """What kind of estimator a file is of; those of earlier formats are regressors."""
    kind = header.get("kind", "regressor")
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}; it is {str(kind)[:80]!r}")
    return kind


def _check(header: dict[str, Any], table: dict[str, Any] | None) -> None:
    """Refuse texts that are not those of a model."""
    of = header.get("numbers")
    if not isinstance(of, dict):
        raise ValueError("model.json has no numbers")
    for name in ("n_experts_", "n_features_in_"):
        NUMBERS[name](of.get(name), f"numbers.{name}")
    header_check(of["n_features_in_"], of["n_experts_"], _kind(header))(header, "model.json")
    if header["calibration"] is not None and _family(header).base.noise_dof is None:
        raise ValueError("a law of this family has no calibration")
    if table is None:
        return
    TABLE(table, "table.json")
    encoder = TableEncoder.from_json(table)
    features, columns = encoder.features, header.get("columns", encoder.names)
    if len(features) != of["n_features_in_"] or header.get("feature_names") != features:
        raise ValueError("what it says of its columns is not of this model")
    if len(set(columns)) < len(columns) or not set(encoder.names) <= set(columns):
        raise ValueError("columns must be those of its table, each once")


def _model(make: Callable[..., Any], header: Mapping[str, Any], table: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    numbers, classes = header["numbers"], header.get("classes")
    family, settings = _family(header), dict(header["settings"])
    if classes is None:
        settings["family"] = "gaussian" if isinstance(family, GaussianFamily) else _family_setting(family)
    model = make(**settings)
    model._validate_params()
    if classes is None:
        spectral_options(model.spectral_options)
    else:
        model.classes_ = np.array(classes)
    for name, values in arrays.items():
        if name not in (*NOT_ARRAYS, *HELD) and name not in {**MEMBER_ARRAYS, **MEMBER_HELD}:
            setattr(model, name, values)
    for name in (*COVARIANCES, *PROFILE):
        setattr(model, name, arrays.get(name))
    for name in NUMBERS:
        setattr(model, name, numbers[name])
    model.encoder_ = None if table is None else TableEncoder.from_json(table)
    k, d, origin = numbers["n_experts_"], numbers["n_features_in_"], header.get("origin")
    several = () if family.predictors == 1 else (family.predictors,)
    model.covariance_at_origin_ = arrays.get("covariance_at_origin_")
    b, c = model.expert_intercept_.reshape(k, *several), model.gate_intercept_
    if origin is not None:
        b, c = (arrays[name] for name in AT_ORIGIN)
    A, sigma = model.expert_coef_.reshape(k, *several, d), arrays.get("plug_in_scale", np.ones(k))
    largest = arrays.get("largest_predictor")
    model.parameters_ = MoEParameters(A, model.gate_coef_, sigma, b, c, family, origin, largest)
    model.family_ = model.parameters_.family
    members = _members(header["members"], arrays, family.any_experts)
    model.members_ = tuple(replace(member, origin=origin) for member in members)
    model.member_weights_ = arrays["member_weights"]
    model.calibration_ = None if header["calibration"] is None else Calibration(**header["calibration"])
    model.history_ = dict(header["history"])
    for name in ("objective", "spectrum"):
        if model.history_[name] is not None:
            model.history_[name] = np.array(model.history_[name], dtype=np.float64)
    _name_columns(model, header)
    for part in ("expert", "gate"):
        chosen_inputs(model, part)
    return model


def _name_columns(model: Any, header: Mapping[str, Any]) -> None:
    """Name the columns of the table of a fit, and the inputs that they became."""
    width = header["numbers"]["n_features_in_"]
    inputs = header.get("feature_names")
    model.encoded_feature_names_ = np.array(inputs or [f"x{i}" for i in range(width)], dtype=object)
    if inputs is not None:
        names = inputs if model.encoder_ is None else header.get("columns", model.encoder_.names)
        model.feature_names_in_ = np.array(names, dtype=object)
        model.n_features_in_ = len(names)


def _family(header: Mapping[str, Any]) -> Family:
    """The law of a model's experts."""
    if "classes" in header:
        classes = len(header["classes"])
        return BinomialFamily() if classes == 2 else MultinomialFamily(classes)
    if "family" in header:
        return family_from(header["family"])
    return GaussianFamily(get_activation(header["settings"].get("activation", "linear")))


def _family_setting(family: Family) -> str | Family:
    """The setting that a fit of a family was asked for by."""
    if isinstance(family, StudentFamily) and family.learned:
        asked = StudentFamily(learned=True, per_expert=family.per_expert, least_dof=family.least_dof)
        return family.name if asked == FAMILIES[family.name] else asked
    for name, known in FAMILIES.items():
        if family == known:
            return name
    return family.name if family == OF_TWO_COLUMNS.get(family.name) else family


def _members(experts: list[int], arrays: Mapping[str, np.ndarray], family: Any) -> tuple[MoEParameters, ...]:
    """Models that are averaged, so many experts each."""
    if not experts:
        return ()
    arrays = {"member_largest": np.full(sum(experts), np.inf), **arrays}
    parts = (np.split(arrays[name], np.cumsum(experts)[:-1].tolist()) for name in (*MEMBER_ARRAYS, *MEMBER_HELD))
    return tuple(
        MoEParameters(A, W, sigma, b, c, family, largest=None if np.all(np.isinf(largest)) else largest)
        for A, b, W, c, sigma, largest in zip(*parts, strict=True)
    )


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
