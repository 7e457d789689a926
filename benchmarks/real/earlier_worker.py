"""One fit by whichever version of skmoe is found first on the path, for ``by_earlier_skmoe.py``.

    python -m benchmarks.real.earlier_worker ROWS ANSWER

Both are npz files. It needs NumPy and skmoe alone.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    parser.add_argument("answer", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    from skmoe import MoERegressor

    with np.load(arguments.rows) as rows:
        X, y, X_new, y_new = (rows[name] for name in ("X", "y", "X_new", "y_new"))
        seed, coverages = int(rows["seed"]), rows["coverages"].tolist()
    few = np.linspace(-1, 1, 60)[:, None]
    MoERegressor(2, random_state=0).fit(few, np.abs(few[:, 0]) + 0.1 * np.sin(99 * few[:, 0]))  # loads code
    begin = time.process_time()
    model = MoERegressor(n_experts="auto", noise="per-expert", random_state=seed).fit(X, y)
    density = getattr(model, "log_density", None) or model.score_samples  # as it was called
    found = {
        "prediction": model.predict(X_new),
        "log_density": density(X_new, y_new),
        "intervals": np.stack([model.predict_interval(X_new, coverage=level) for level in coverages]),
        "n_experts": model.n_experts_,
    }
    np.savez(arguments.answer, **found, seconds=time.process_time() - begin)


if __name__ == "__main__":
    main()
