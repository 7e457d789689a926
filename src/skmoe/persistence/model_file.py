"""A model file that runs no code when it is loaded: JSON texts and plain arrays, as `model_schema` declares them.

What is written was checked as it will be when it is read. A model fitted to a table of text and numbers carries along
how its columns became inputs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from skmoe.arrays.visible import visible
from skmoe.model.activations import ACTIVATIONS, get_activation
from skmoe.model.calibration import Calibration
from skmoe.model.families import FAMILIES, OF_TWO_COLUMNS, BinomialFamily, MultinomialFamily, StudentFamily
from skmoe.model.family import Family
from skmoe.model.fitted import FittedMixture
from skmoe.model.gaussian import GaussianFamily
from skmoe.model.parameters import MoEParameters
from skmoe.model.record import FitRecord
from skmoe.persistence.archive import Archive, opened, write_archive
from skmoe.persistence.errors import ModelFileError, reason
from skmoe.persistence.model_schema import (
    COEFFICIENT,
    FORMAT,
    OPTIONAL,
    PARAMETERS,
    RECORD,
    SETTINGS,
    TABLE,
    arrays_of,
    check_sizes,
    family_from,
    family_record,
    header_check,
)
from skmoe.persistence.plain import from_plain, one_of, to_plain
from skmoe.spectral.options import spectral_options
from skmoe.tables.chosen import chosen_inputs
from skmoe.tables.encoder import TableEncoder

__all__ = ["load_model", "save_model"]

OWN_CODE = "is your own code, which a model file cannot hold; keep the coefficients, or pickle"


def save_model(model: FittedMixture, path: str | os.PathLike[str]) -> None:
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
    header, table = _header(model), None if model.encoder_ is None else to_plain(model.encoder_.to_json())
    try:
        specs = arrays_of(header, _check(header, table))
        arrays = {name: np.asarray(_array(model, name), dtype=np.float64) for name in specs}
        for name, spec in specs.items():
            spec.refuse(arrays[name], name)
    except ValueError as error:
        raise ValueError(f"the model cannot be saved: {reason(error)}") from error
    write_archive(path, {"model.json": header} | ({} if table is None else {"table.json": table}), arrays)


def _array(model: FittedMixture, name: str) -> np.ndarray:
    """Return an array of a model: an attribute, or parameters of the model and of those averaged with it."""
    if name not in PARAMETERS:
        return getattr(model, name)
    parts = [(getattr(p, name), len(p.A)) for p in (model.parameters_, *model.members_)]
    return np.concatenate([np.full(k, np.inf) if values is None else values for values, k in parts])


def _header(model: FittedMixture) -> dict[str, Any]:
    """Return the content of ``model.json``."""
    params, p, classifier = model.get_params(), model.parameters_, hasattr(model, "classes_")
    named, encoder = hasattr(model, "feature_names_in_"), model.encoder_
    if not classifier:
        if ACTIVATIONS.get(p.g.name) != p.g:
            raise ValueError(f"activation {p.g.name!r} {OWN_CODE}")
        if callable((to_plain(params["spectral_options"]) or {}).get("decomposition")):
            raise ValueError(f"the decomposition of spectral_options {OWN_CODE}")
        params["activation"] = p.g.name
    return to_plain(
        {
            "format": FORMAT,
            "settings": {name: params[name] for name in SETTINGS if name in params},
            "family": None if classifier else family_record(p.family),
            "classes": model.classes_ if classifier else None,
            "record": model.record_,
            "calibration": model.calibration_,
            "experts": [len(part.A) for part in (p, *model.members_)],
            "feature_names": list(map(str, model.encoded_feature_names_)) if named else None,
            "columns": None if encoder is None else list(map(str, model.feature_names_in_)),
            "origin": p.origin,
            "profiled": model.profile_intervals_ is not None,
        }
    )


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
        If it is not whole, not a model file, or of another format.
    """
    with opened(path, "is damaged or not a skmoe model file ({}); save the model again") as archive:
        return _read(archive, make, visible(os.fsdecode(path)))


def _read(archive: Archive, make: Mapping[str, Callable[..., Any]], path: str) -> Any:
    """Read the model in an archive, and check every part of it."""
    header = archive.json("model.json")
    version = header.get("format") if isinstance(header, dict) else None
    if type(version) is int and version > 0 and version != FORMAT:
        raise ModelFileError(
            f"{path} is of format {version}, and this skmoe reads format {FORMAT}; load it with the skmoe that wrote it"
        )
    one_of(FORMAT)(version, "format")
    table = archive.json("table.json") if "table.json" in archive.members else None
    record = _check(header, table)
    arrays = archive.arrays(arrays_of(header, record), {"model.json"} | (set() if table is None else {"table.json"}))
    return _model(make["regressor" if header["classes"] is None else "classifier"], header, record, table, arrays)


def _check(header: dict[str, Any], table: dict[str, Any] | None) -> FitRecord:
    """Refuse texts that are not those of a model; return the record of its fit."""
    RECORD(header.get("record"), "record")
    record: FitRecord = from_plain(FitRecord, header["record"])
    header_check(len(record.inputs.low), len(record.regimes))(header, "model.json")
    check_sizes(record, header["experts"][0] if header["experts"] else 0)
    if header["classes"] is not None and header["family"] is not None:
        raise ValueError("a classifier has no family")
    if header["calibration"] is not None and _family(header).base.noise_dof is None:
        raise ValueError("a distribution of this family has no calibration")
    if table is None:
        return record
    TABLE(table, "table.json")
    encoder, columns = TableEncoder.from_json(table), header["columns"] or []
    if header["feature_names"] != encoder.features:
        raise ValueError("what it says of its columns is not of this model")
    if len(set(columns)) < len(columns) or not set(encoder.names) <= set(columns):
        raise ValueError("columns must be those of its table, each once")
    return record


def _model(
    make: Callable[..., Any], header: Mapping[str, Any], record: FitRecord, table: Any, arrays: Mapping[str, np.ndarray]
) -> Any:
    classes = header["classes"]
    family, settings = _family(header), dict(header["settings"])
    if classes is None:
        settings["family"] = _family_setting(family)
    model = make(**settings)
    model._validate_params()
    if classes is None:
        spectral_options(model.spectral_options)
    else:
        model.classes_ = np.array(classes)
    found = {**dict.fromkeys(OPTIONAL), **arrays}
    for name in found.keys() - set(PARAMETERS):
        setattr(model, name, found[name])
    model.encoder_ = None if table is None else TableEncoder.from_json(table)
    model.parameters_, *members = _parameters(header, arrays, family)
    model.members_, model.record_ = tuple(members), record
    for name in ("expert_intercept_", "gate_intercept_"):
        with np.errstate(over="ignore", invalid="ignore"):  # and refused
            COEFFICIENT.refuse(getattr(model, name), name)
    model.calibration_ = None if header["calibration"] is None else Calibration(**header["calibration"])
    _name_columns(model, header, len(record.inputs.low))
    for part in ("expert", "gate"):
        chosen_inputs(model, part)
    return model


def _name_columns(model: FittedMixture, header: Mapping[str, Any], d: int) -> None:
    """Name the columns of the table of a fit, and the inputs that they became."""
    inputs = header["feature_names"]
    model.n_features_in_ = d
    model.encoded_feature_names_ = np.array(inputs or [f"x{i}" for i in range(d)], dtype=object)
    if inputs is not None:
        model.feature_names_in_ = np.array(inputs if model.encoder_ is None else header["columns"], dtype=object)
        model.n_features_in_ = len(model.feature_names_in_)


def _parameters(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], family: Any) -> Iterator[MoEParameters]:
    """Yield the parameters of the model, and of those that are averaged with it."""
    places = np.cumsum(header["experts"])[:-1].tolist()
    for A, b, W, c, sigma, largest in zip(*(np.split(arrays[name], places) for name in PARAMETERS), strict=True):
        held = None if np.all(np.isinf(largest)) else largest
        yield MoEParameters(A, W, sigma, b, c, family, header["origin"], held)
        family = family.any_experts


def _family(header: Mapping[str, Any]) -> Family:
    """Return the distribution of a model's experts."""
    if header["classes"] is not None:
        classes = len(header["classes"])
        return BinomialFamily() if classes == 2 else MultinomialFamily(classes)
    if header["family"] is not None:
        return family_from(header["family"])
    return GaussianFamily(get_activation(header["settings"].get("activation", "linear")))


def _family_setting(family: Family) -> str | Family:
    """Return the setting that a fit of a family was asked for by."""
    if isinstance(family, GaussianFamily):
        return "gaussian"
    if isinstance(family, StudentFamily) and family.learned:
        asked = StudentFamily(learned=True, per_expert=family.per_expert, least_dof=family.least_dof)
        return family.name if asked == FAMILIES[family.name] else asked
    for name, known in FAMILIES.items():
        if family == known:
            return name
    return family.name if family == OF_TWO_COLUMNS.get(family.name) else family
