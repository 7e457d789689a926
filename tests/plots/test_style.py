"""Drawing: on the caller's axes or its own, nothing cut off, colours that can be told apart."""

import numpy as np
import pytest

from skmoe import plots

NUMBERS = {"draw": False}  # numbers only


def test_every_display_draws_itself(problem, model, auto, all_displays):
    for display in all_displays(model, *problem, auto):
        assert len(display.axes_) == display.panels
        assert display.ax_ is display.axes_[0]
        assert display.figure_ is display.ax_.figure
        assert all(ax.has_data() for ax in display.axes_)
        display.figure_.canvas.draw()


def test_labels_and_legends_are_not_cut_off(problem, model, auto, all_displays):
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"font.size": 9}):
        for display in all_displays(model, *problem, auto, **NUMBERS):
            figure = Figure(figsize=(6.4, 4.0), layout="constrained")
            display.plot(figure.subplots(1, display.panels, squeeze=False)[0])
            figure.draw_without_rendering()
            for ax in display.axes_:
                labels = [text for text in (ax.xaxis.label, ax.yaxis.label) if text.get_text()]
                for part in [*labels, *([ax.get_legend()] if ax.get_legend() else [])]:
                    box = part.get_window_extent()
                    assert min(box.x0, box.y0, figure.bbox.x1 - box.x1, figure.bbox.y1 - box.y1) >= 0


def test_display_draws_on_given_axes(problem, model):
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots(1, 3)
    gate = plots.GateDisplay.from_estimator(model, problem[0], 0, ax=axes[0])
    assert gate.ax_ is axes[0]
    assert gate.figure_ is figure
    trace = plots.TraceDisplay.from_estimator(model, ax=axes[1:])
    assert trace.axes_ == list(axes[1:])
    divided = trace.plot(Figure().subplots())
    assert len(divided.axes_) == 2
    assert all(ax.has_data() for ax in divided.axes_)
    with pytest.raises(ValueError, match="draws on 2 axes; got 3"):
        trace.plot(axes)


def test_many_experts_look_different():
    styles = plots.expert_styles(28)
    assert len({tuple(style.values()) for style in styles}) == 28
    assert len(set(plots.expert_colors(7))) == 7
    assert len(plots.expert_colors(40)) == 40


@pytest.mark.parametrize("page", ["#ffffff", "#14181d"])
def test_colors_stand_out_from_light_and_dark(page):
    def luminance(color):
        c = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    for color in plots.expert_colors(7):
        low, high = sorted([luminance(color), luminance(page)])
        assert (high + 0.05) / (low + 0.05) > 2
