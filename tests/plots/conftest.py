"""A fitted model of each kind that pictures are drawn of, and a canvas without a window."""

import numpy as np
import pytest

from skmoe import MoERegressor, make_moe, plots
from skmoe.model.parameters import MoEParameters


@pytest.fixture(scope="session", autouse=True)
def canvas():
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    before = matplotlib.get_backend()
    matplotlib.use("Agg")
    yield
    matplotlib.use(before)


@pytest.fixture(autouse=True)
def closed(canvas):
    from matplotlib import pyplot as plt

    yield
    plt.close("all")


@pytest.fixture(scope="session")
def problem():
    """Two regimes, intercepts, a column of zeros and ones, most of them zero."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((700, 4)) * [1.0, 2.0, 1.0, 1.0] + [0.0, 5.0, 0.0, 0.0]
    X[:, 3] = rng.random(700) < 0.3
    truth = MoEParameters(
        [[2.0, 0.0, 1.0, 1.0], [-1.0, 1.0, 0.0, -1.0]], [[1.0, 1.0, 0.0, 1.0], [0] * 4], [0.5, 0.3], b=[1, 0], c=[-5, 0]
    )
    return X, truth.sample(X, rng)[0]


@pytest.fixture(scope="session")
def model(problem):
    return MoERegressor(2, random_state=0).fit(*problem)


@pytest.fixture(scope="session")
def auto(problem):
    return MoERegressor("auto", random_state=0).fit(*problem)


@pytest.fixture(scope="session")
def spectral():
    """The paper's own fit: one start, no standard errors."""
    X, y, _ = make_moe(1000, 3, 2, random_state=0)
    return MoERegressor(2, method="spectral", random_state=0).fit(X, y)


@pytest.fixture(scope="session")
def all_displays():
    """One of each kind, and the gate over two columns."""

    def displays(model, X, y, auto, **how):
        return [
            plots.CoefficientsDisplay.from_estimator(model, **how),
            plots.GateDisplay.from_estimator(model, X, 0, **how),
            plots.GateDisplay.from_estimator(model, X, [0, 1], grid_resolution=20, **how),
            plots.ResponsibilityDisplay.from_estimator(model, X, y, 0, **how),
            plots.BandDisplay.from_estimator(model, X, 0, y=y, **how),
            plots.CalibrationDisplay.from_estimator(model, X, y, **how),
            plots.RangeDisplay.from_estimator(model, X, 0, **how),
            plots.ExpertDisplay.from_estimator(model, X, y, 1, **how),
            plots.PredictionDisplay.from_estimator(model, X, y, **how),
            plots.TraceDisplay.from_estimator(model, **how),
            plots.ChoiceDisplay.from_estimator(auto, **how),
            plots.SpectrumDisplay.from_estimator(model, **how),
        ]

    return displays
