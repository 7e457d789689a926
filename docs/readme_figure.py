"""Draw the README's picture, docs/figures/concrete.svg, on white paper so that it reads in light and in dark.

python docs/readme_figure.py
"""

from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt

from skmoe import MoERegressor
from skmoe.datasets import load_concrete
from skmoe.plots import GateDisplay, ResponsibilityDisplay


def main() -> None:
    """Fit the README's model and draw its rows and its gate against age."""
    mpl.use("agg")
    X, y = load_concrete(return_X_y=True, as_frame=True)
    model = MoERegressor(n_experts=2, random_state=0).fit(X, y)
    style = {"svg.hashsalt": "skmoe", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
    with mpl.rc_context(style):
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.4), facecolor="white", layout="constrained")
        ResponsibilityDisplay.from_estimator(model, X, y, "age_days", ax=left)
        left.set_ylabel("strength (MPa)")
        GateDisplay.from_estimator(model, X, "age_days", grid_resolution=1000, ax=right)
        for ax in (left, right):  # ages are those at which one tests concrete: days, weeks, months, a year
            ax.set_xscale("log")
            ax.set_xlabel("age (days)")
            ax.set_xticks([1, 3, 7, 14, 28, 90, 365], ["1", "3", "7", "14", "28", "90", "365"])
            ax.minorticks_off()
        figure.savefig(Path(__file__).parent / "figures" / "concrete.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
