"""Intervals by the profile likelihood."""

import numpy as np
import pytest
from scipy import optimize

import skmoe
from skmoe import MoEClassifier, MoERegressor
from skmoe.estimators import fitting
from skmoe.inference import profile_intervals
from skmoe.inference.covariance import callers_slopes
from skmoe.likelihood import gradient
from skmoe.report.text import experts_in_words


def table(n=400, seed=0, shift=0.0):
    """Outputs 0 and 1 of two experts."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    odds = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * X[:, 1])), 2 * X[:, 0] + 0.5, -2 * X[:, 0])
    return X + shift, (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(float)


@pytest.fixture(scope="module")
def found():
    """A model, and the optimum its intervals were sought from."""
    seen = []

    def kept(optimum, p):
        seen.append(optimum)
        return profile_intervals(optimum, p)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "profile_intervals", kept)
        model = MoERegressor(2, family="binomial", calibration=None, random_state=0).fit(*table())
    return model, seen[0]


def test_ends_are_the_extremes_at_their_height_by_scipy(found):
    model, optimum = found
    problem, fit, J = optimum.problem, optimum.fit, callers_slopes(optimum)
    best, n = problem.pack(fit.theta), problem.total
    at = lambda v: gradient(problem, problem.unpack(v, fit.theta))  # noqa: E731
    height = {
        "type": "ineq",
        "fun": lambda v: n * (at(v).objective - fit.curvature.objective) + 1.959964**2 / 2,
        "jac": lambda v: n * at(v).gradient,
    }
    middle = np.concatenate([model.expert_coef_.ravel(), model.expert_intercept_, model.gate_coef_.ravel()])
    for row in (0, 1, 4, 6):  # coefficients of an expert, an intercept, one of the gate
        error = np.sqrt(model.covariance_[row, row])
        for side, sign in enumerate((-1, 1)):
            # the slopes of a line, scaled as the constraint is
            j = sign * J[row] / error
            there = optimize.minimize(lambda v, j=j: -j @ v, best, jac=lambda v, j=j: -j, constraints=[height])
            assert there.success
            end = middle[row] + J[row] @ (there.x - best)
            assert model.profile_intervals_[row, side] == pytest.approx(end, abs=0.02 * error)
    # they are not those of standard errors, which lie as far below as above
    below, above = np.abs(model.profile_intervals_[:8] - middle[:8, None]).T
    assert np.max(np.abs(np.log(above / below))) > 0.2


def test_intervals_move_with_the_inputs(found):
    model, _ = found
    far = MoERegressor(2, family="binomial", calibration=None, random_state=0).fit(*table(shift=100.0))
    slopes = np.r_[0:4, 6:8]
    errors = np.sqrt(np.diag(model.covariance_))[slopes, None]
    np.testing.assert_allclose(
        far.profile_intervals_[slopes] / errors, model.profile_intervals_[slopes] / errors, atol=0.05
    )
    assert np.all(far.profile_intervals_[4:6, 0] < far.expert_intercept_)
    # intercepts at inputs of zero lie far outside the rows, and are uncertain there
    assert np.all(np.diff(far.profile_intervals_[4:6]) > 20 * np.diff(model.profile_intervals_[4:6]))


def test_tables_words_pictures_and_files_tell_them(found, tmp_path):
    model, _ = found
    summary = model.summary()
    told = {(row[0], row[1]): row[6:8] for row in summary.rows}
    share = f"expert 1 ({100 * model.shares_[0]:.0f}%)"
    np.testing.assert_array_equal(told[share, "x0"], model.profile_intervals_[0])
    np.testing.assert_array_equal(told["gate 1 against 2", "intercept"], model.profile_intervals_[10])
    assert "intervals from the profile likelihood" in str(summary)
    robust = {(row[0], row[1]): row for row in model.summary(robust=True).rows}[share, "x0"]
    assert robust[7] - robust[6] == pytest.approx(2 * 1.959964 * robust[3])
    low, high = np.exp(model.profile_intervals_[0])
    assert f"({low:.3g} to {high:.3g})" in experts_in_words(model)[0].replace("−", "-")
    pytest.importorskip("matplotlib")
    from skmoe.plots import CoefficientsDisplay

    drawn = CoefficientsDisplay.from_estimator(model, features=[0, 1], draw=False)
    np.testing.assert_array_equal(drawn.lower.ravel(), model.profile_intervals_[:4, 0])
    model.save(tmp_path / "model.skmoe")
    loaded = skmoe.load(tmp_path / "model.skmoe")
    np.testing.assert_array_equal(loaded.profile_intervals_, model.profile_intervals_)
    assert str(loaded.summary()) == str(summary)


@pytest.mark.parametrize(
    ("k", "family", "penalty"), [(1, "binomial", "auto"), (2, "binomial", 0), (2, "poisson", "auto")]
)
def test_others_go_by_standard_errors(k, family, penalty):
    X, y = table()
    model = MoERegressor(k, family=family, penalty=penalty, calibration=None, random_state=0).fit(X, y)
    assert model.profile_intervals_ is None
    _, _, value, error, _, _, low, high, *_ = model.summary().rows[0]
    assert (high - value) / error == pytest.approx((value - low) / error)
    assert "profile" not in str(model.summary())


def test_three_classes_have_them_for_each():
    X, y = table(600)
    y = np.where(X[:, 1] > 1, 2, y)
    model = MoEClassifier(2, random_state=0).fit(X, y)
    low, high = model.profile_intervals_.T
    errors = np.sqrt(np.diag(model.covariance_))
    moves = errors > 0
    assert np.sum(moves) == 2 * 2 * 3 + 3
    assert np.all((high - low)[moves] > errors[moves])
    np.testing.assert_array_equal(low[~moves], high[~moves])
