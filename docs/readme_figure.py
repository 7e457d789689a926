"""Draw the README's picture, docs/figures/concrete.svg, on white paper so that it reads in light and in dark.

python docs/readme_figure.py
"""

from pathlib import Path

import matplotlib as mpl
from matplotlib import patheffects
from matplotlib import pyplot as plt

from skmoe import MoERegressor
from skmoe.datasets import load_concrete
from skmoe.plots import ExpertDisplay, GateDisplay, ResponsibilityDisplay


def draw_lines(model, X, y, ax) -> None:
    """Draw what each expert predicts where it has its rows, other inputs at their means over those rows."""
    outline = [patheffects.Stroke(linewidth=5, foreground="white"), patheffects.Normal()]
    for i in range(model.n_experts_):
        expert = ExpertDisplay.from_estimator(model, X, y, i, feature="age_days", draw=False)
        ax.plot(expert.grid, expert.line, color=expert.color, linewidth=3, path_effects=outline, gid=f"line-{i + 1}")


def main() -> None:
    """Fit the README's model and draw its rows and its gate against age."""
    mpl.use("agg")
    X, y = load_concrete(return_X_y=True, as_frame=True)
    model = MoERegressor(n_experts=2, random_state=0).fit(X, y)
    style = {"svg.hashsalt": "skmoe", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
    with mpl.rc_context(style):
        figure, (left, right) = plt.subplots(
            1, 2, figsize=(9.6, 3.4), width_ratios=(3, 2), facecolor="white", layout="constrained"
        )
        ResponsibilityDisplay.from_estimator(model, X, y, "age_days", ax=left)
        for dots in left.collections:
            dots.set_alpha(0.35)
        draw_lines(model, X, y, left)
        left.set_ylabel("strength (MPa)")
        GateDisplay.from_estimator(model, X, "age_days", grid_resolution=1000, ax=right)
        for ax in (left, right):  # days, on an even axis: there the experts are lines
            ax.set_xlabel("age (days)")
            ax.set_xticks([3, 28, 90, 180, 270, 365])
        figure.savefig(Path(__file__).parent / "figures" / "concrete.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
