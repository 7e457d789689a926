"""What a model file holds: its members, the shapes of its arrays in symbols, and what their values may be.

Symbols: k experts of p predictors, d inputs, q = k (p + 1) (d + 1) + k parameters of experts, gate and noise with those
that are fixed; m models that are averaged, with e experts together. ``model.json`` says what they are, and every array
has to agree. A regressor's experts have one predictor, a classifier's one for each class but the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from itertools import pairwise
from math import exp
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
    row,
    text,
    whole,
)
from skmoe.tables.encoder import OF_THE_TABLE, TableEncoder
from skmoe.tables.relations import RelationKind

__all__ = [
    "ARRAYS",
    "AT_ORIGIN",
    "CLASSIFIER_SETTINGS",
    "COVARIANCES",
    "FORMAT",
    "HELD",
    "KINDS",
    "MEMBER_ARRAYS",
    "MEMBER_HELD",
    "NUMBERS",
    "PROFILE",
    "SETTINGS",
    "TABLE",
    "arrays_of",
    "family_from",
    "family_record",
    "header_check",
    "symbols",
]

FORMAT = 5
ROUNDING = 1e-9  # relative; a value on the very bound counts as inside

MOST_COEFFICIENT = 1e15 * LARGEST
"""Sizes of coefficients and noise that no fit exceeds: units of y and X are at most `LARGEST` apart, which columns that
nearly repeat each other and gates that separate the rows take further by some ten digits."""
COEFFICIENT = Values(least=-MOST_COEFFICIENT, most=MOST_COEFFICIENT)
POSITIVE, UP_TO_ONE = Values(above=0.0, most=MOST_COEFFICIENT), Values(least=0.0, most=1.0 + 1e-6, share=True)
COVARIANCE = Values(symmetric=True)

ARRAYS = {
    "expert_coef_": ArraySpec(("k", "d"), COEFFICIENT),
    "expert_intercept_": ArraySpec(("k",), COEFFICIENT),
    "gate_coef_": ArraySpec(("k", "d"), COEFFICIENT),
    "gate_intercept_": ArraySpec(("k",), COEFFICIENT),
    "noise_scale_": ArraySpec(("k",), POSITIVE),
    "shares_": ArraySpec(("k",), UP_TO_ONE),
    "dof_": ArraySpec(("k",), Values(above=0.0, infinite=True)),
    "stability_": ArraySpec(("k",), Values(least=0.0, most=1.0, nan=True)),
    "plug_in_scale": ArraySpec(("k",), POSITIVE),
    "member_weights": ArraySpec(("m",), UP_TO_ONE),
}
NOT_IDENTIFIED = {
    "noise_scale_": ArraySpec(("k",), replace(POSITIVE, nan=True)),
    "dof_": ArraySpec(("k",), Values(least=0.0, infinite=True)),
}
"""Of one expert that the data do not identify: it may have as many coefficients as rows, and an unknown noise."""
CLASSIFIER_ARRAYS = {name: ARRAYS[name] for name in ("gate_coef_", "gate_intercept_", "shares_", "stability_")} | {
    "expert_coef_": ArraySpec(("k", "p", "d"), COEFFICIENT),
    "expert_intercept_": ArraySpec(("k", "p"), COEFFICIENT),
    "member_weights": ARRAYS["member_weights"],
}
COVARIANCES = {
    "covariance_": ArraySpec(("q", "q"), COVARIANCE),
    "covariance_robust_": ArraySpec(("q", "q"), COVARIANCE),
}
"""There where the data identify the model (``identified_``), and only there."""
PROFILE = {"profile_intervals_": ArraySpec(("q", 2))}
"""There where ``model.json`` says that the profile likelihood was followed."""
AT_ORIGIN = {
    "expert_intercept_at_origin": ArraySpec(("k",), COEFFICIENT),
    "gate_intercept_at_origin": ArraySpec(("k",), COEFFICIENT),
}
COVARIANCE_AT_ORIGIN = {"covariance_at_origin_": ArraySpec(("q", "q"), COVARIANCE)}
"""There where ``model.json`` names an origin, since columns of the fit lay far from zero."""
MEMBER_ARRAYS = {
    "member_A": ArraySpec(("e", "d"), COEFFICIENT),
    "member_b": ArraySpec(("e",), COEFFICIENT),
    "member_W": ArraySpec(("e", "d"), COEFFICIENT),
    "member_c": ArraySpec(("e",), COEFFICIENT),
    "member_sigma": ArraySpec(("e",), POSITIVE),
}
"""Of the models that are averaged, one after the other; there where any are."""

SEVERAL = {"member_A": ArraySpec(("e", "p", "d"), COEFFICIENT), "member_b": ArraySpec(("e", "p"), COEFFICIENT)}
"""The same of experts with several predictors."""
HELD = {"largest_predictor": ArraySpec(("k",), Values(infinite=True))}
MEMBER_HELD = {"member_largest": ArraySpec(("e",), Values(infinite=True))}
"""Largest predictors, of the model and of those that are averaged, infinite where they are not held; there where
``model.json`` says that any are."""

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

CLASSIFIER_SETTINGS = tuple(
    name for name in SETTINGS if name not in ("activation", "calibration", "method", "noise", "spectral_options")
)

NUMBERS: dict[str, Check] = {
    "n_experts_": whole(1),
    "n_parameters_": whole(1),
    "log_likelihood_": number(),
    "n_iter_": whole(),
    "converged_": boolean,
    "identified_": boolean,
    "n_features_in_": whole(1),
    "penalty_": number(0.0),
    "gate_uncertain_": boolean,
}

ANY_NUMBER = number(infinite=True, nan=True)
CALIBRATION = record(
    {
        "shift": number(-FARTHEST, most=FARTHEST),
        "scale": number(exp(-MOST_LOG_SCALE) * (1 - ROUNDING), most=exp(MOST_LOG_SCALE) * (1 + ROUNDING)),
        "dof": number(LEAST_DOF * (1 - ROUNDING), infinite=True),
    }
)
RELATION = record(
    {
        "kind": one_of(*map(str, RelationKind)),
        "columns": listed(text),
        "slopes": listed(ANY_NUMBER),
        "constant": ANY_NUMBER,
        "error": ANY_NUMBER,
        "function": text,
        "values": whole(),
        "rows": whole(),
        "sources": listed(text),
    }
)
COLUMNS = either(nothing, listed(either(text, whole(-(2**63)))))  # that experts or gate look at, by name or place
FREE: Check = lambda value, where: None  # noqa: E731 - checked by the estimator itself, when it is built
TABLE = of_type(TableEncoder, without=OF_THE_TABLE)
CATEGORICAL = either(nothing, text, listed(either(text, whole())))
LABEL = either(text, boolean, whole(-(2**63)), number())
KINDS = ("regressor", "classifier")
TWO_COLUMN_TYPES: dict[str, type[Family]] = {
    "binomial trials": TrialsFamily,
    "poisson exposure": PoissonExposureFamily,
    "negative-binomial exposure": NegativeBinomialExposureFamily,
}
"""Families of two columns of outputs: a setting names them like those of one."""

FAMILY_TYPES: dict[str, type[Family]] = {name: type(family) for name, family in FAMILIES.items()} | TWO_COLUMN_TYPES
"""Families that a file can name; a file without a name is of Gaussian experts."""


def family_record(family: Family) -> dict[str, Any] | None:
    """What ``model.json`` says of a family; None for Gaussian experts, whose activation is a setting."""
    if type(family) is GaussianFamily:
        return None
    for name, kind in FAMILY_TYPES.items():
        if type(family) is kind and (name == family.name or name in TWO_COLUMN_TYPES):
            fields: dict[str, Any] = asdict(family)  # type: ignore[call-overload]
            return {"name": name} | {key: list(v) if isinstance(v, tuple) else v for key, v in fields.items()}
    raise ValueError(
        f"family {family.name!r} is your own code, which a model file cannot hold; keep the coefficients, or pickle"
    )


def family_from(record: Mapping[str, Any]) -> Family:
    """The family that ``model.json`` names."""
    return FAMILY_TYPES[record["name"]](**{name: value for name, value in record.items() if name != "name"})


def _classes(value: Any, where: str) -> None:
    """Labels of one kind, each once and in order, as a fit finds them."""
    listed(LABEL)(value, where)
    if len(value) < 2:
        raise ValueError("a classifier has two classes or more")
    if len({type(label) for label in value}) > 1:
        raise ValueError(f"{where} has labels of several kinds")
    if any(not a < b for a, b in pairwise(value)):
        raise ValueError(f"{where} must be sorted, each label there once")


def _family(k: int) -> Check:
    """The record of a family of k experts: its name, and the fields of its type."""

    def check(value: Any, where: str) -> None:
        one_of(*FAMILY_TYPES)(value.get("name") if isinstance(value, dict) else None, f"{where}.name")
        of_type(FAMILY_TYPES[value["name"]])({name: item for name, item in value.items() if name != "name"}, where)
        one_of(0, k)(len(value.get("expert_dof", ())), f"the length of {where}.expert_dof")

    return check


def header_check(d: int, k: int, kind: str = "regressor") -> Check:
    """The check of ``model.json`` for a model of k experts over d inputs."""
    settings = SETTINGS if kind == "regressor" else CLASSIFIER_SETTINGS
    more: dict[str, Check] = {"family": _family(k)} if kind == "regressor" else {}
    return record(
        {
            "format": one_of(FORMAT),
            "settings": record(
                {},
                {name: FREE for name in settings}
                | dict.fromkeys(("expert_features", "gate_features"), COLUMNS)
                | {"categorical": CATEGORICAL}
                | ({"activation": one_of(*ACTIVATIONS)} if kind == "regressor" else {}),
            ),
            "numbers": record(NUMBERS),
            "history": _history(d, k),
            "calibration": either(nothing, CALIBRATION),
            "members": listed(whole(1)),
        }
        | ({"kind": one_of(kind), "classes": _classes} if kind == "classifier" else {}),
        {"feature_names": listed(text, d), "columns": listed(text), "origin": listed(number(), d), "kind": one_of(kind)}
        | dict.fromkeys(("profiled", "held"), one_of(True))
        | more,
    )


def _history(d: int, k: int) -> Check:
    """How the search went; what files of earlier formats lack is optional."""
    inputs = record(
        {
            "skewness": ANY_NUMBER,
            "kurtosis": ANY_NUMBER,
            "gaussian": boolean,
            "rank": whole(),
            "columns": whole(),
            "gate_along_experts": ANY_NUMBER,
        },
        {"total": number(above=0.0), "low": listed(number(), d), "high": listed(number(), d)},
    )
    return record(
        {
            "objective": listed(ANY_NUMBER),
            "starts": listed(row(text, ANY_NUMBER, text)),
            "winner": text,
            "agreement": whole(),
            "at_floor": boolean,
            "interrupted": boolean,
            "step": number(0.0),
            "bic": listed(row(whole(1), ANY_NUMBER)),
            "icl": listed(row(whole(1), ANY_NUMBER)),
            "held_out": listed(row(whole(1), ANY_NUMBER, ANY_NUMBER)),
            "penalties": listed(row(number(0.0), ANY_NUMBER)),
            "passes": whole(),
            "spectrum": either(nothing, listed(ANY_NUMBER)),
            "gap": either(nothing, ANY_NUMBER),
            "noise_level": either(nothing, ANY_NUMBER),
            "inputs": inputs,
            "rows": whole(1),
            "searched": whole(1),
        },
        {
            "limited": boolean,
            "relations": listed(RELATION),
            "folds": whole(),
            "fold_rows": whole(),
            "weighted": boolean,
            "regimes": listed(_regime(d, k), k),
            "coverage": listed(row(number(0.0), number(0.0))),
        },
    )


def _regime(d: int, k: int) -> Check:
    condition = {"name": text, "part": ANY_NUMBER, "here": text, "all_rows": text, "direction": boolean}
    return record(
        {
            "share": ANY_NUMBER,
            "conditions": listed(record(condition)),
            "probability": ANY_NUMBER,
            "its_rows": ANY_NUMBER,
            "all_rows": ANY_NUMBER,
            "span": row(ANY_NUMBER, ANY_NUMBER),
            "prediction": ANY_NUMBER,
            "center": listed(ANY_NUMBER, d),
            "spread": listed(ANY_NUMBER, d),
            "like": either(nothing, whole(0, k - 1)),
        }
    )


def arrays_of(header: Mapping[str, Any], always: Mapping[str, ArraySpec] = ARRAYS) -> dict[str, ArraySpec]:
    """Arrays that a file has to hold, by ``model.json``, beside those that every file of its format holds."""
    identified = header["numbers"]["identified_"]
    more = COVARIANCES if identified else {}
    if "profiled" in header:
        more = {**more, **PROFILE}
    if "origin" in header:
        more = {**more, **AT_ORIGIN, **(COVARIANCE_AT_ORIGIN if identified else {})}
    members = MEMBER_ARRAYS if header["members"] else {}
    if not identified and header["numbers"]["n_experts_"] == 1:
        always = {**always, **{name: spec for name, spec in NOT_IDENTIFIED.items() if name in always}}
    if "held" in header:
        more, members = {**more, **HELD}, {**members, **(MEMBER_HELD if members else {})}
    if "classes" in header:
        always = CLASSIFIER_ARRAYS
        if len(header["classes"]) > 2:
            several = {"expert_intercept_at_origin": ArraySpec(("k", "p"), COEFFICIENT)}
            more = {**more, **(several if "origin" in header else {})}
            members = {**members, **(SEVERAL if members else {})}
    return {**always, **more, **members}


def symbols(header: Mapping[str, Any]) -> dict[str, int]:
    """What the symbols stand for, by ``model.json``."""
    k, d = header["numbers"]["n_experts_"], header["numbers"]["n_features_in_"]
    p = len(header["classes"]) - 1 if "classes" in header else 1
    q = k * (p + 1) * (d + 1) + k
    return {"k": k, "d": d, "p": p, "q": q, "m": len(header["members"]), "e": sum(header["members"])}
