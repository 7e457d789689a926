"""Finished cells, one line of JSON each: a table, a split, a method, and how well and at what cost it predicted."""

from __future__ import annotations

import importlib
import json
import time
import traceback
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import COVERAGES, Method, Predicted, all_methods
from .held_out_rows import rows_of

__all__ = ["Cell", "append", "figures", "read_cells", "run_cell", "write_cells"]


class Cell(NamedTuple):
    """What a record is found by."""

    table: str
    split: int
    method: str


# -- one cell ---------------------------------------------------------------------------------------------------------


def run_cell(table: str, split: int, name: str, folder: str | None, version: str) -> dict[str, Any]:
    """Fit, predict and judge; whatever a method raises is a record too."""
    cell = Cell(table, split, name)
    method, rows = all_methods()[cell.method], rows_of(cell.table, cell.split, folder)
    record = {**cell._asdict(), "version": version, "fitted": len(rows.y), "rows": len(rows.y_new)}
    try:
        predicted, seconds = _timed(method, rows, cell.split)
        found = figures(predicted, rows.y_new)
        return {**record, **found, "seconds": _short(seconds), "notes": predicted.notes}
    except Exception as error:
        return {**record, "error": "".join(traceback.format_exception_only(error)).strip()[-300:]}


def _timed(method: Method, rows: Any, seed: int) -> tuple[Predicted, float]:
    for module in method.modules:
        importlib.import_module(module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.process_time()
        predicted = method.run(rows, seed)
        seconds = time.process_time() - begin
    return predicted, seconds if predicted.seconds is None else predicted.seconds


def figures(predicted: Predicted, y: np.ndarray) -> dict[str, Any]:
    """Mean log density with its standard error over rows, mean CRPS, error, and the share of rows in each interval."""
    for name in ("prediction", "log_density", "crps"):
        values = getattr(predicted, name)
        if values is not None and not np.isfinite(values).all():
            raise FloatingPointError(f"{name} is not finite on {np.sum(~np.isfinite(values))} rows held out")
    found: dict[str, Any] = {"rmse": _short(np.sqrt(np.mean((y - predicted.prediction) ** 2)))}
    if predicted.log_density is not None:
        density = predicted.log_density
        found["log_density"] = _short(np.mean(density))
        found["log_density_se"] = _short(np.std(density, ddof=1) / np.sqrt(len(y))) if len(y) > 1 else None
    if predicted.crps is not None:
        found["crps"] = _short(np.mean(predicted.crps))
    if predicted.intervals is not None:
        inside = [(low <= y) & (y <= high) for low, high in (predicted.intervals[c].T for c in COVERAGES)]
        found["cover"] = [_short(np.mean(rows)) for rows in inside]
    return found


def _short(value: float) -> float:
    return float(f"{value:.5g}")


# -- files ------------------------------------------------------------------------------------------------------------


def read_cells(paths: Iterable[Path]) -> dict[Cell, dict[str, Any]]:
    """Records of all files; of several of one cell the last."""
    lines = [json.loads(line) for path in paths if path.is_file() for line in path.read_text().splitlines() if line]
    return {Cell(**{name: line[name] for name in Cell._fields}): line for line in lines}


def append(path: Path, record: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(record) + "\n")


def write_cells(path: Path, records: dict[Cell, dict[str, Any]]) -> None:
    """Write each cell once, in order."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(records[cell]) + "\n" for cell in sorted(records)))
