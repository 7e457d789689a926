"""Displays show the model's own numbers, and refuse what they cannot show."""

import copy
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skmoe
from skmoe import MoERegressor, plots

NUMBERS = {"draw": False}  # numbers only


@pytest.mark.parametrize("robust", [False, True])
def test_coefficients_are_those_of_the_summary(model, robust):
    display = plots.CoefficientsDisplay.from_estimator(model, features=[2, 0], robust=robust, **NUMBERS)
    rows = {(row[0][:8], row[1]): row for row in model.summary(robust=robust).rows}
    for i in range(2):
        for place, name in enumerate(("x2", "x0")):
            row = rows[f"expert {i + 1}", name]
            shown = display.coefficients[i, place], display.lower[i, place], display.upper[i, place]
            np.testing.assert_allclose(shown, (row[2], row[6], row[7]), rtol=1e-12)
    assert display.names == ["x2", "x0"]


def test_coefficients_scale_multiplies_estimates_and_intervals(problem, model):
    scale = problem[0].std(axis=0)
    plain, scaled = (
        plots.CoefficientsDisplay.from_estimator(model, features=range(4), scale=s, **NUMBERS) for s in (None, scale)
    )
    for name in ("coefficients", "lower", "upper"):
        np.testing.assert_allclose(getattr(scaled, name), getattr(plain, name) * scale)


def test_coefficients_shown_are_the_15_largest(rng):
    X = rng.standard_normal((200, 20))
    coef = rng.permutation(20) + 1.0
    model = MoERegressor(1).fit(X, X @ coef + 0.01 * rng.standard_normal(200))
    display = plots.CoefficientsDisplay.from_estimator(model, **NUMBERS)
    np.testing.assert_array_equal(display.features, np.argsort(-coef)[:15])


def test_coefficients_leave_out_columns_that_experts_do_not_see(problem):
    X, y = problem
    model = MoERegressor(2, expert_features=[0, 1], random_state=0).fit(X, y)
    display = plots.CoefficientsDisplay.from_estimator(model, **NUMBERS)
    assert set(display.features) == {0, 1}


def test_coefficients_without_standard_errors_are_points(spectral):
    display = plots.CoefficientsDisplay.from_estimator(spectral)
    assert np.all(np.isnan(display.lower))
    assert np.all(np.isfinite(display.coefficients))
    assert "no standard errors" in display.ax_.get_xlabel()


def test_gate_of_one_column_is_gate_proba(problem, model):
    X, _ = problem
    display = plots.GateDisplay.from_estimator(model, X, 1, grid_resolution=30, **NUMBERS)
    at = np.tile(display.typical, (30, 1))
    at[:, 1] = np.linspace(X[:, 1].min(), X[:, 1].max(), 30)
    np.testing.assert_allclose(display.probabilities, model.gate_proba(at), rtol=1e-12)
    np.testing.assert_array_equal(display.typical[:3], np.median(X[:, :3], axis=0))
    assert display.typical[3] == 0.0


def test_gate_of_two_columns_is_gate_proba(problem, model):
    X, _ = problem
    display = plots.GateDisplay.from_estimator(model, X, [3, 0], grid_resolution=7, **NUMBERS)
    assert display.probabilities.shape == (2, 7, 2)  # a column of two values has no values between
    for i, a in enumerate(display.grid[0]):
        for j, b in enumerate(display.grid[1]):
            at = display.typical.copy()
            at[[3, 0]] = a, b
            np.testing.assert_allclose(display.probabilities[i, j], model.gate_proba(at[None])[0], rtol=1e-12)


@pytest.mark.parametrize("features", [0, [0, 1]])
def test_gate_of_one_expert_is_one(problem, features):
    X, y = problem
    model = MoERegressor(1).fit(X, y)
    assert np.all(plots.GateDisplay.from_estimator(model, X, features, grid_resolution=5).probabilities == 1)


def test_responsibilities_and_blends_are_the_models(problem, model):
    X, y = problem
    display = plots.ResponsibilityDisplay.from_estimator(model, X, y, 2, max_points=50, random_state=3, **NUMBERS)
    assert len(np.unique(display.rows)) == 50
    R = model.responsibilities(X[display.rows], y[display.rows])
    np.testing.assert_allclose(display.responsibilities, R, rtol=1e-12)
    np.testing.assert_array_equal(display.x, X[display.rows, 2])
    np.testing.assert_array_equal(display.y, y[display.rows])
    blue, vermillion = np.array([0, 0x72, 0xB2]) / 255, np.array([0xD5, 0x5E, 0]) / 255
    np.testing.assert_allclose(display.colors, R[:, :1] * blue + R[:, 1:] * vermillion, atol=1e-12)
    again = plots.ResponsibilityDisplay.from_estimator(model, X, y, 2, max_points=50, random_state=3, **NUMBERS)
    np.testing.assert_array_equal(again.rows, display.rows)


def test_bands_are_predict_interval(problem, model):
    X, y = problem
    display = plots.BandDisplay.from_estimator(model, X, 0, y=y, coverages=(0.8, 0.3), grid_resolution=9, **NUMBERS)
    at = np.tile(display.typical, (9, 1))
    at[:, 0] = display.grid
    assert list(display.bands) == [0.3, 0.8]
    for coverage, band in display.bands.items():
        np.testing.assert_allclose(band, model.predict_interval(at, coverage=coverage), rtol=1e-9)
    np.testing.assert_allclose(display.mean, model.predict(at), rtol=1e-12)
    np.testing.assert_allclose(display.experts, model.expert_predict(at), rtol=1e-12)
    np.testing.assert_array_equal(display.y, y)


def test_band_scale_ignores_experts_that_run_off(problem, model):
    far = copy.deepcopy(plots.BandDisplay.from_estimator(model, problem[0], 0, **NUMBERS))
    far.experts[:, 1] = 1e6
    low, high = far.plot().ax_.get_ylim()
    assert high - low < 100


def test_pit_is_uniform_for_data_of_the_model(problem, model):
    X = np.repeat(problem[0], 5, axis=0)
    y = model.sample(X, random_state=1)
    display = plots.CalibrationDisplay.from_estimator(model, X, y, bins=10, **NUMBERS)
    assert stats.kstest(display.pit, "uniform").statistic < 1.63 / np.sqrt(len(y))
    error = np.sqrt(display.nominal * (1 - display.nominal) / len(y))
    assert np.max(np.abs(display.observed - display.nominal) / error) < 3.5
    assert np.sum(display.density) / 10 == pytest.approx(1)
    wrong = plots.CalibrationDisplay.from_estimator(model, X, y + 0.1, **NUMBERS)
    assert stats.kstest(wrong.pit, "uniform").statistic > 1.63 / np.sqrt(len(y))


def test_observed_coverage_counts_rows_in_their_intervals(problem, model):
    X, y = problem
    display = plots.CalibrationDisplay.from_estimator(model, X, y, **NUMBERS)
    for i in (3, 17):
        low, high = model.predict_interval(X, coverage=display.nominal[i]).T
        assert display.observed[i] == pytest.approx(np.mean((low <= y) & (y <= high)))


def test_loaded_model_gives_the_same_pictures(problem, model, auto, all_displays, tmp_path):
    loaded = []
    for each in (model, auto):
        each.save(tmp_path / "m.skmoe")
        loaded.append(skmoe.load(tmp_path / "m.skmoe"))
    before, after = (all_displays(m, *problem, a, **NUMBERS) for m, a in ((model, auto), loaded))
    for one, other in zip(before, after, strict=True):
        assert plots.to_svg(one) == plots.to_svg(other)


def test_frames_are_addressed_by_name(problem):
    pd = pytest.importorskip("pandas")
    X, y = problem
    frame = pd.DataFrame(X, columns=["speed", "age", "mass", "wet"])
    model = MoERegressor(2, random_state=0).fit(frame, y)
    gate = plots.GateDisplay.from_estimator(model, frame, "age", **NUMBERS)
    assert gate.inputs[0].columns == (1,)
    assert gate.names == ["age"]
    at = pd.DataFrame(np.tile(gate.typical, (100, 1)), columns=frame.columns).assign(age=gate.grid[0])
    np.testing.assert_allclose(gate.probabilities, model.gate_proba(at), rtol=1e-12)
    assert plots.CoefficientsDisplay.from_estimator(model, features=["wet"], **NUMBERS).names == ["wet"]
    with pytest.raises(ValueError, match="feature names"):
        plots.GateDisplay.from_estimator(model, frame[["age", "speed", "mass", "wet"]], "age", **NUMBERS)
    with pytest.raises(ValueError, match="'height', which X does not have"):
        plots.BandDisplay.from_estimator(model, frame, "height", **NUMBERS)


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "rest"),
    [
        ("Coefficients", 0),
        ("Gate", ([[0.0]], 0)),
        ("Responsibility", ([[0.0]], [0.0], 0)),
        ("Band", ([[0.0]], 0)),
        ("Calibration", ([[0.0]], [0.0])),
        ("Range", ([[0.0]], 0)),
        ("Expert", ([[0.0]], [0.0], 0)),
        ("Prediction", ([[0.0]], [0.0])),
        ("Trace", 0),
        ("Choice", 0),
        ("Spectrum", 0),
    ],
)
def test_unfitted_model_is_refused(kind, rest):
    make = getattr(plots, f"{kind}Display").from_estimator
    with pytest.raises(NotFittedError):
        make(MoERegressor(), *(rest or ()))


def test_pipeline_is_refused_with_advice(problem):
    X, y = problem
    pipeline = make_pipeline(StandardScaler(), MoERegressor(1)).fit(X, y)
    with pytest.raises(TypeError, match="of a pipeline pass the last step"):
        plots.CoefficientsDisplay.from_estimator(pipeline)


def test_bad_columns_are_refused(problem, model):
    X, y = problem
    with pytest.raises(ValueError, match="one or two columns; got 3"):
        plots.GateDisplay.from_estimator(model, X, [0, 1, 2])
    with pytest.raises(ValueError, match="names a column twice"):
        plots.GateDisplay.from_estimator(model, X, [1, -3])
    with pytest.raises(ValueError, match="indices below 4; got 4"):
        plots.ResponsibilityDisplay.from_estimator(model, X, y, 4)
    with pytest.raises(ValueError, match="has no column names"):
        plots.CoefficientsDisplay.from_estimator(model, features=["age"])
    X = X.copy()
    X[:, 0] = 1.0
    with pytest.raises(ValueError, match="'x0' is constant"):
        plots.BandDisplay.from_estimator(model, X, 0)


def test_bad_settings_are_refused(problem, model):
    X, y = problem
    with pytest.raises(ValueError, match="each of the 4 columns"):
        plots.CoefficientsDisplay.from_estimator(model, scale=[1.0, 2.0])
    with pytest.raises(ValueError, match="grid_resolution must be a whole number of at least 2"):
        plots.GateDisplay.from_estimator(model, X, 0, grid_resolution=1)
    with pytest.raises(ValueError, match="max_points"):
        plots.ResponsibilityDisplay.from_estimator(model, X, y, 0, max_points=0)
    with pytest.raises(ValueError, match=r"coverages must be between 0 and 1; got 90"):
        plots.BandDisplay.from_estimator(model, X, 0, coverages=[90])
    with pytest.raises(ValueError, match="bins"):
        plots.CalibrationDisplay.from_estimator(model, X, y, bins=2.5)


def test_missing_histories_are_refused_with_advice(problem, model):
    with pytest.raises(ValueError, match='fit with n_experts="auto"'):
        plots.ChoiceDisplay.from_estimator(model)
    with pytest.raises(ValueError, match="consistent start was not used"):
        plots.SpectrumDisplay.from_estimator(MoERegressor(1).fit(*problem))


def test_without_matplotlib_numbers_come_and_drawing_says_what_to_install(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    display = plots.CoefficientsDisplay.from_estimator(model, **NUMBERS)
    for draw in (display.plot, lambda: plots.to_svg(display)):
        with pytest.raises(ImportError, match=r"skmoe\[plot\]"):
            draw()


def test_import_leaves_matplotlib_alone():
    code = "import sys, skmoe; skmoe.plots.GateDisplay; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
