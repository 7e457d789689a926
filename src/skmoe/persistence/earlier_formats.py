"""Files of earlier formats as today's: what has another name, and what they do not say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skmoe.persistence.archive import ArraySpec
from skmoe.persistence.model_schema import ARRAYS, FORMAT
from skmoe.persistence.plain import number

__all__ = ["CHECKSUMS_SINCE", "EARLIER", "arrays_always", "header_of", "more_arrays", "table_of"]

EARLIER = (1, 2, 3, 4)
"""Format 1 is the first edition's; 3 has held-out rows, averaged models and calibration; 4 brings checksums; since 5
the log-likelihood is the total over rows."""
CHECKSUMS_SINCE = 4
FIELDS = {
    "flag": "missing_indicator",
    "pool": "infrequent_as",
    "pooled": "infrequent",
    "gaps": "n_missing",
    "beside": "auxiliary",
}
"""Earlier names of fields of the encoder, and today's."""
SINCE_3 = ("dof_", "stability_", "plug_in_scale", "member_weights")


def header_of(header: Mapping[str, Any]) -> dict[str, Any]:
    """What ``model.json`` of an earlier format says, as today's would."""
    version, new = header["format"], {**header, "format": FORMAT}
    if version == 1:
        settings, history = dict(header["settings"]), dict(header["history"])
        settings["penalty"] = settings.pop("gate_penalty")
        history["objective"] = history.pop("log_likelihood")
        new |= {"settings": settings, "history": history}
    if version < 3:  # a model of one member, without calibration
        new["settings"] = {**new["settings"], "calibration": None}
        new["history"] = {**new["history"], "icl": [], "held_out": [], "penalties": [], "step": 0.0}
        new["numbers"] = {**new["numbers"], "penalty_": 0.0, "gate_uncertain_": False}
        new |= {"calibration": None, "members": []}
    mean, rows = header["numbers"]["log_likelihood_"], _counted_rows(header["history"])
    number()(mean, "numbers.log_likelihood_")
    new["numbers"] = {**new["numbers"], "log_likelihood_": mean * rows}
    return new


def table_of(value: Any) -> Any:
    """Return the content of ``table.json`` with today's names of fields."""
    if isinstance(value, list):
        return [table_of(item) for item in value]
    return {FIELDS.get(k, k): table_of(v) for k, v in value.items()} if isinstance(value, dict) else value


def _counted_rows(history: Mapping[str, Any]) -> float:
    """Return the total weight of the rows of a fit; a file that does not hold it holds the number of rows."""
    total = history["inputs"].get("total", history["rows"])
    number(above=0.0)(total, "history.inputs.total")
    return float(total)


def arrays_always(version: int) -> dict[str, ArraySpec]:
    """Arrays that every file of a format holds."""
    return {name: spec for name, spec in ARRAYS.items() if version >= 3 or name not in SINCE_3}


def more_arrays(version: int, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Arrays that a file of an earlier format does not hold; its noise scales are those of maximum likelihood."""
    if version >= 3:
        return {}
    sigma = arrays["noise_scale_"]
    return {
        "dof_": np.full(len(sigma), np.inf),
        "stability_": np.full(len(sigma), np.nan),
        "plug_in_scale": sigma,
        "member_weights": np.zeros(0),
    }
