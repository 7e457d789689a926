"""The content of a model file: ``model.json``, and arrays whose shapes and possible values follow from it.

The parameters of the model and of those that are averaged with it stand one after the other along their experts, as
``experts`` counts them. A regressor's experts have one predictor, a classifier's one for each class but the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from math import exp, inf
from typing import Any

from skmoe.arrays.sizes import LARGEST
from skmoe.model.activations import ACTIVATIONS
from skmoe.model.calibration import FARTHEST, LEAST_DOF, MOST_LOG_SCALE
from skmoe.model.families import (
    FAMILIES,
    NegativeBinomialExposureFamily,
    PoissonExposureFamily,
    TrialsFamily,
)
from skmoe.model.family import Family
from skmoe.model.gaussian import GaussianFamily
from skmoe.model.record import FitRecord
from skmoe.persistence.archive import ArraySpec, Values
from skmoe.persistence.plain import (
    Check,
    boolean,
    either,
    listed,
    nothing,
    number,
    of_type,
    one_of,
    record,
    text,
    to_plain,
    whole,
)
from skmoe.tables.encoder import OF_THE_TABLE, TableEncoder

__all__ = [
    "COEFFICIENT",
    "FORMAT",
    "OPTIONAL",
    "PARAMETERS",
    "RECORD",
    "SETTINGS",
    "TABLE",
    "arrays_of",
    "check_sizes",
    "family_from",
    "family_record",
    "header_check",
]

FORMAT = 7
ROUNDING = 1e-9  # relative; a value on the very bound counts as inside

MOST_COEFFICIENT = 1e15 * LARGEST
"""Sizes of coefficients and noise that no fit exceeds: units of y and X are at most `LARGEST` apart, which columns that
nearly repeat each other and gates that separate the rows take further by some ten digits."""
COEFFICIENT = Values(least=-MOST_COEFFICIENT, most=MOST_COEFFICIENT)
POSITIVE, UP_TO_ONE = Values(above=0.0, most=MOST_COEFFICIENT), Values(least=0.0, most=1.0 + 1e-6, share=True)
COVARIANCE = Values(symmetric=True)
PARAMETERS = ("A", "b", "W", "c", "sigma", "largest")  # of `MoEParameters`; `largest` is infinite where nothing is held
OPTIONAL = ("covariance_", "covariance_robust_", "covariance_at_origin_", "profile_intervals_")  # None if not there

SETTINGS = (
    "activation",
    "averaging",
    "calibration",
    "categorical",
    "expert_features",
    "fit_intercept",
    "gate_features",
    "max_experts",
    "max_iter",
    "max_time",
    "method",
    "n_experts",
    "n_init",
    "noise",
    "penalty",
    "spectral_options",
    "tol",
    "unseen",
)
"""Settings of the estimator that are kept. Never one that names a path, or holds code: a file comes from anywhere."""

RECORD = of_type(FitRecord)
CALIBRATION = record(
    {
        "shift": number(-FARTHEST, most=FARTHEST),
        "scale": number(exp(-MOST_LOG_SCALE) * (1 - ROUNDING), most=exp(MOST_LOG_SCALE) * (1 + ROUNDING)),
        "dof": number(LEAST_DOF * (1 - ROUNDING), infinite=True),
    }
)
COLUMNS = either(nothing, listed(either(text, whole(-(2**63)))))  # that experts or gate look at, by name or place
FREE: Check = lambda value, where: None  # noqa: E731 - checked by the estimator itself, when it is built
TABLE = of_type(TableEncoder, without=OF_THE_TABLE)
CATEGORICAL = either(nothing, text, listed(either(text, whole())))
LABEL = either(text, boolean, whole(-(2**63)), number())
TWO_COLUMN_TYPES: dict[str, type[Family]] = {
    "binomial trials": TrialsFamily,
    "poisson exposure": PoissonExposureFamily,
    "negative-binomial exposure": NegativeBinomialExposureFamily,
}
"""Families of two columns of outputs: a setting names them like those of one."""

FAMILY_TYPES: dict[str, type[Family]] = {name: type(family) for name, family in FAMILIES.items()} | TWO_COLUMN_TYPES
"""Families that a file can name; a file without a name is of Gaussian experts."""


def family_record(family: Family) -> dict[str, Any] | None:
    """Return the record of a family in ``model.json``; None for Gaussian experts, whose activation is a setting."""
    if type(family) is GaussianFamily:
        return None
    for name, kind in FAMILY_TYPES.items():
        if type(family) is kind and (name == family.name or name in TWO_COLUMN_TYPES):
            return {"name": name, **to_plain(family)}
    raise ValueError(
        f"family {family.name!r} is your own code, which a model file cannot hold; keep the coefficients, or pickle"
    )


def family_from(record: Mapping[str, Any]) -> Family:
    """Return the family of a record."""
    return FAMILY_TYPES[record["name"]](**{name: value for name, value in record.items() if name != "name"})


def _classes(value: Any, where: str) -> None:
    """Check for labels of one kind, each once and in order, as a fit finds them."""
    listed(LABEL)(value, where)
    if len(value) < 2:
        raise ValueError("a classifier has two classes or more")
    if len({type(label) for label in value}) > 1:
        raise ValueError(f"{where} has labels of several kinds")
    if any(not a < b for a, b in pairwise(value)):
        raise ValueError(f"{where} must be sorted, each label there once")


def _family(k: int) -> Check:
    """Return a check for the record of a family of k experts: its name, and the fields of its type."""

    def check(value: Any, where: str) -> None:
        one_of(*FAMILY_TYPES)(value.get("name") if isinstance(value, dict) else None, f"{where}.name")
        of_type(FAMILY_TYPES[value["name"]])({name: item for name, item in value.items() if name != "name"}, where)
        one_of(0, k)(len(value.get("expert_dof", ())), f"the length of {where}.expert_dof")

    return check


def check_sizes(record: FitRecord, experts: int) -> None:
    """Refuse a record that is not of so many experts, all of them over the same inputs."""
    inputs = [record.inputs.low, record.inputs.high, *(part for r in record.regimes for part in (r.center, r.spread))]
    if not len(record.regimes) == experts > 0 or len({len(values) for values in inputs}) > 1 or not inputs[0]:
        raise ValueError(f"the record must be of {experts} experts over the same inputs")


def header_check(d: int, k: int) -> Check:
    """Return the check of ``model.json`` for a model of k experts over d inputs."""
    settings = dict.fromkeys(SETTINGS, FREE) | {"activation": one_of(*ACTIVATIONS), "categorical": CATEGORICAL}
    return record(
        {
            "format": one_of(FORMAT),
            "settings": record({}, settings | dict.fromkeys(("expert_features", "gate_features"), COLUMNS)),
            "family": either(nothing, _family(k)),
            "classes": either(nothing, _classes),
            "record": RECORD,
            "calibration": either(nothing, CALIBRATION),
            "experts": listed(whole(1)),
            "feature_names": either(nothing, listed(text, d)),
            "columns": either(nothing, listed(text)),
            "origin": either(nothing, listed(number(), d)),
            "profiled": boolean,
        }
    )


def arrays_of(header: Mapping[str, Any], record: FitRecord) -> dict[str, ArraySpec]:
    """Return the arrays that a file has to hold, by ``model.json`` and the record in it."""
    experts, identified = header["experts"], record.run.identified
    k, d, e = len(record.regimes), len(record.inputs.low), sum(experts)
    predictors = 1 if header["classes"] is None else len(header["classes"]) - 1
    several = () if predictors == 1 else (predictors,)
    q = k * (predictors + 1) * (d + 1) + k  # parameters of experts, gate and noise with those that are fixed
    found = {
        "A": ArraySpec((e, *several, d), COEFFICIENT),
        "b": ArraySpec((e, *several), COEFFICIENT),
        "W": ArraySpec((e, d), COEFFICIENT),
        "c": ArraySpec((e,), COEFFICIENT),
        "sigma": ArraySpec((e,), POSITIVE),
        "largest": ArraySpec((e,), Values(infinite=True)),
        "shares_": ArraySpec((k,), UP_TO_ONE),
        "stability_": ArraySpec((k,), Values(least=0.0, most=1.0, nan=True)),
        "member_weights_": ArraySpec((len(experts) - 1,), UP_TO_ONE),
    }
    # one expert that the data do not identify may have as many coefficients as rows, and an unknown noise
    unknown = k == 1 and not identified
    found["dof_"] = ArraySpec((k,), Values(least=0.0, above=-inf if unknown else 0.0, infinite=True))
    if header["classes"] is None:
        found["noise_scale_"] = ArraySpec((k,), replace(POSITIVE, nan=unknown))
    covariances = OPTIONAL[: 2 if header["origin"] is None else 3] if identified else ()
    found |= dict.fromkeys(covariances, ArraySpec((q, q), COVARIANCE))
    return found | ({"profile_intervals_": ArraySpec((q, 2))} if header["profiled"] else {})
