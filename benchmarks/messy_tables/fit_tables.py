"""Real tables as they come, fitted by ``skmoe fit FILE --target NAME [--drop NAME]`` and nothing else.

    python -m benchmarks.messy_tables.fit_tables [--tables NAME ...] [--report]

Of each table a quarter of the rows is held out at random (seed 0) and written to a file of its own. The command line
fits the others and predicts those, with intervals of 90%; gradient boosting with its defaults is fitted to the inputs
that the columns became. ``make bench-tables`` installs the tables apart from the project, and runs this. What is found
is kept in ``benchmarks/results/tables.json``, table by table, and shown in docs/messy_tables.md, which ``--report``
fills alone.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"  # before NumPy is imported: one core, so that times compare

from benchmarks.messy_tables import sources  # noqa: E402
from benchmarks.messy_tables import tables_page as page  # noqa: E402

HELD_OUT = 0.25
LIMIT = 1800  # seconds after which a fit is given up


def skmoe(*words: Any) -> tuple[int, str, str, float]:
    """Run the command line in a process of its own: exit code, what it said, and seconds of processor time."""
    start = cpu_of_children()
    done = subprocess.run(
        [sys.executable, "-m", "skmoe.cli", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr, cpu_of_children() - start


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(source: Any, folder: Path) -> dict[str, Any]:
    """Fit one table, and judge it on the rows held out."""
    import numpy as np

    frame = source.load()
    held = np.random.default_rng(0).random(len(frame)) < HELD_OUT
    train = sources.write(frame[~held], source.form, folder / "train")
    test = sources.write(frame[held], source.form, folder / "test")
    model = folder / "model.skmoe"
    drop = [word for name in source.drop for word in ("--drop", name)]
    code, out, err, seconds = skmoe("fit", train, "--target", source.target, *drop, "--out", model, "--json")
    notes = [line.removeprefix("skmoe: note: ") for line in err.splitlines() if line.startswith("skmoe: note: ")]
    found: dict[str, Any] = {
        "command": f"skmoe fit FILE --target {source.target} {' '.join(drop)}".strip(),
        "form": source.form,
        "troubles": source.troubles,
        "columns": frame.shape[1],
        "code": code,
        "seconds": seconds,
        "notes": notes,
    }
    if code == 2:
        return found | {"rows": len(frame), "error": err.splitlines()[-1], "expected": bool(source.refused)}
    told = json.loads(out)
    found |= {
        "rows": told["rows_in_table"],
        "used": told["rows"],
        "n_experts": told["n_experts"],
        "r2_fitted": told["r2"],
    }
    return found | judge(model, train, test, folder / "predictions.csv")


def judge(model: Path, train: Path, test: Path, out: Path) -> dict[str, Any]:
    """Coverage and error of the rows held out, beside gradient boosting on the same inputs."""
    import numpy as np
    from pyarrow import csv
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import LinearRegression

    import skmoe as package

    code, _, err, seconds = skmoe("predict", model, test, "--interval", 0.9, "--out", out, "--unseen", "empty")
    if code:
        return {"predict_error": err.splitlines()[-1]}
    encoder = package.load(model).encoder_
    (X, y, _), (X_new, y_new, _) = encoder.rows(train), encoder.rows(test, unseen="empty")
    table = csv.read_csv(out)
    predicted = np.column_stack([table[name].to_numpy() for name in ("prediction", "lower", "upper")])
    outputs = _outputs(encoder, test)
    predicted = predicted[~np.isnan(outputs)]
    known = np.isfinite(predicted[:, 0])
    predicted = predicted[known]
    rivals = {"boosting": HistGradientBoostingRegressor(random_state=0), "least squares": LinearRegression()}
    errors = {name: rmse(rival.fit(X.X, y).predict(X_new.X), y_new) for name, rival in rivals.items()}
    return {
        "inputs": X.X.shape[1],
        "held_out": len(y_new),
        "not_predicted": int(np.sum(~known)),
        "predict_seconds": seconds,
        "coverage": float(np.mean((predicted[:, 1] <= y_new) & (y_new <= predicted[:, 2]))),
        "rmse": rmse(predicted[:, 0], y_new),
        "rmse_of": errors,
        "spread": float(np.std(y_new)),
    }


def _outputs(encoder: Any, path: Path) -> Any:
    """The target of each row of a file, NaN where there is none."""
    import numpy as np

    from skmoe.tables import open_table
    from skmoe.tables.columns import as_numbers

    table = open_table(path)
    parts = [as_numbers(b.column(encoder.target), encoder.target, table.decimal) for b in table.cells([encoder.target])]
    return np.concatenate(parts)


def rmse(predicted: Any, y: Any) -> float:
    import numpy as np

    return float(np.sqrt(np.mean((predicted - y) ** 2)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="*", help="names of tables, by default all")
    parser.add_argument("--report", action="store_true", help="only fill the page")
    asked = parser.parse_args()
    results = page.read_results()
    for source in [] if asked.report else sources.TABLES:
        if asked.tables and source.name not in asked.tables:
            continue
        with tempfile.TemporaryDirectory(prefix="skmoe-tables-") as folder:
            results[source.name] = measure(source, Path(folder))
        one = results[source.name]
        told = one.get("error") or one.get("predict_error") or f"k {one['n_experts']}, coverage {one['coverage']:.2f}"
        print(f"{source.name}: {one['seconds']:.1f} s, {told}", flush=True)
        page.write_results(results, [table.name for table in sources.TABLES])
    page.fill_page(results)


if __name__ == "__main__":
    main()
