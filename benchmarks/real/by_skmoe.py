"""skmoe itself, as a user would call it: raw columns, one fit."""

from __future__ import annotations

import inspect
import warnings
import zlib
from pathlib import Path
from typing import Any

from . import COVERAGES, OURS, Method, Predicted, Rows


def source_version() -> str:
    """The version with a checksum of the source, which tells states of the code apart."""
    import skmoe

    files = sorted(Path(skmoe.__file__).parent.rglob("*.py"))
    return f"{skmoe.__version__}+{zlib.crc32(b''.join(file.read_bytes() for file in files)):08x}"


def run(rows: Rows, seed: int, **how: Any) -> Predicted:
    from skmoe import MoERegressor

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = MoERegressor("auto", random_state=seed, **how).fit(rows.X, rows.y)
    prediction, law = model.predict(rows.X_new), model.predictive(rows.X_new)
    density, crps = law.logpdf(rows.y_new), law.crps(rows.y_new)
    intervals = {level: model.predict_interval(rows.X_new, coverage=level) for level in COVERAGES}
    notes: dict[str, Any] = {"n_experts": int(model.n_experts_)}
    if caught:
        notes["warnings"] = sorted({" ".join(str(w.message).split())[:120] for w in caught})
    return Predicted(prediction, density, intervals, crps, notes=notes)


def run_averaged(rows: Rows, seed: int) -> Predicted:
    return run(rows, seed, averaging=20)


def _averages() -> str | None:
    from skmoe import MoERegressor

    known = "averaging" in inspect.signature(MoERegressor).parameters
    return None if known else "this version of MoERegressor has no parameter averaging"


MODULES = ("skmoe.estimators",)
METHODS = [
    Method(OURS[0], run, '`MoERegressor("auto")`', version=source_version, modules=MODULES),
    Method(
        OURS[1],
        run_averaged,
        '`MoERegressor("auto", averaging=20)`',
        missing=_averages,
        version=source_version,
        modules=MODULES,
    ),
]
