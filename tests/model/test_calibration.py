import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

from skmoe.model import calibration, student
from skmoe.model.calibration import Calibration

LAWS = {
    "identity": Calibration(),
    "wider": Calibration(0.2, 1.5),
    "tails": Calibration(-0.3, 0.8, 4.0),
    "heavy": Calibration(0.1, 1.1, 2.1),
}


@pytest.fixture(params=list(LAWS))
def law(request):
    return LAWS[request.param]


def test_no_calibration_changes_nothing():
    z = np.linspace(-9, 9, 31)
    np.testing.assert_allclose(Calibration().levels(z), special.ndtr(z), rtol=1e-13)
    np.testing.assert_allclose(Calibration().log_slope(z), 0, atol=1e-13)


def test_density_factor_is_the_slope_of_levels(law):
    level = np.linspace(0.02, 0.98, 25)
    z, h = special.ndtri(level), 1e-5
    slope = (law.levels(special.ndtri(level + h)) - law.levels(special.ndtri(level - h))) / (2 * h)
    np.testing.assert_allclose(np.exp(law.log_slope(z)), slope, rtol=1e-5)


def test_corrected_density_integrates_to_one(law):
    total, _ = integrate.quad(
        lambda z: np.exp(law.log_slope(np.array(z)) + stats.norm.logpdf(z)), -np.inf, np.inf, limit=200
    )
    assert total == pytest.approx(1, abs=1e-6)


def test_quantiles_invert_levels_far_into_the_lower_tail(law):
    level = np.array([1e-40, 1e-12, 0.01, 0.5, 0.99])
    np.testing.assert_allclose(law.levels(law.normal(student.quantile(level, law.dof))), level, rtol=1e-10)


def test_far_scores_stay_finite(law):
    z = np.array([-1e4, -500.0, -40.0, 40.0, 500.0, 1e4])
    assert np.all(np.isfinite(law.log_slope(z)))
    assert np.all(np.isfinite(law.levels(z)))


def test_right_scores_leave_the_law_alone(rng):
    found = Calibration.fit(rng.standard_normal(2000))
    assert abs(found.shift) < 0.06
    assert found.scale == pytest.approx(1, abs=0.06)
    assert found.dof > 15


def test_wide_scores_give_their_scale(rng):
    found = Calibration.fit(0.4 + 1.5 * rng.standard_normal(2000))
    assert found.shift == pytest.approx(0.4, abs=0.1)
    assert found.scale == pytest.approx(1.5, abs=0.08)
    assert found.dof > 15


def test_heavy_tails_give_their_degrees_of_freedom(rng):
    found = Calibration.fit(stats.t.rvs(4, size=2000, random_state=rng))
    assert found.scale == pytest.approx(1, abs=0.08)
    assert 3 < found.dof < 6


def test_few_scores_move_the_law_little():
    found = [Calibration.fit(np.random.default_rng(seed).standard_normal(15)) for seed in range(100)]
    # half of what the mean of 15 scores moves by, and less than their own log standard deviation does
    assert np.sqrt(np.mean([f.shift**2 for f in found])) < 0.13
    assert np.sqrt(np.mean([np.log(f.scale) ** 2 for f in found])) < 0.17
    assert np.median([1 / f.dof for f in found]) < 0.05


def test_no_scores_leave_the_law_alone():
    found = Calibration.fit(np.empty(0))
    assert (found.shift, found.scale, found.dof) == pytest.approx((0, 1, np.inf), abs=1e-6)


def test_fit_is_the_best_of_many_starts(rng):
    z = 0.3 + 1.4 * stats.t.rvs(5, size=300, random_state=rng)
    found = Calibration.fit(z)

    def loss(theta):
        dof = 1 / max(theta[2], 1e-9)
        terms = stats.t.logpdf(z, dof, theta[0], np.exp(theta[1]))
        prior = stats.norm.logpdf(theta[0], 0, 0.2) + stats.norm.logpdf(theta[1], 0, 0.3) - theta[2] / 0.1
        return -np.sum(terms) - prior

    best = min(
        optimize.minimize(loss, start, method="Nelder-Mead", bounds=[(-9, 9), (-5, 5), (0, 1 / 2.1)]).fun
        for start in ([0, 0, 0.01], [0.5, 0.5, 0.4], [-0.5, 0, 0.1])
    )
    assert loss([found.shift, np.log(found.scale), 1 / found.dof]) == pytest.approx(best, abs=1e-3)


@pytest.mark.parametrize("u", [0.0, 1e-6, 0.005, 0.02, 0.3])
def test_gradient_of_the_loss_is_its_difference(rng, u):
    z, w = 2 * rng.standard_normal(50), rng.random(50)
    theta = np.array([0.2, 0.3, u])
    _, gradient = calibration._loss(theta, z, w, 25.0)
    step = np.array([1e-5, 1e-5, min(1e-5, u / 2) or 1e-5])
    for i, h in enumerate(step):
        up, down = theta.copy(), theta.copy()
        up[i] += h
        down[i] -= h if u or i < 2 else 0
        difference = (calibration._loss(up, z, w, 25.0)[0] - calibration._loss(down, z, w, 25.0)[0]) / (up - down)[i]
        assert gradient[i] == pytest.approx(difference, rel=1e-4, abs=1e-4)


def test_weights_count_repeated_rows(rng):
    z, count = 1.3 * rng.standard_normal(60), rng.integers(1, 4, 60)
    one, other = Calibration.fit(z, count), Calibration.fit(np.repeat(z, count))
    assert (one.shift, one.scale, one.dof) == pytest.approx((other.shift, other.scale, other.dof), rel=1e-3)


def test_extreme_and_undefined_scores_give_a_finite_law(rng):
    z = np.concatenate([rng.standard_normal(30), [40.0, -40.0, np.inf, -np.inf, np.nan, 300.0]])
    found = Calibration.fit(z)
    assert np.isfinite([found.shift, found.scale]).all()
    assert found.dof >= calibration.LEAST_DOF - 1e-9
    assert np.isfinite(Calibration.fit(np.full(50, 40.0)).scale)


@pytest.mark.parametrize("dof", [2.1, 7.0, 99.0, 101.0, 1e5])
def test_student_law_is_scipys(dof):
    s = np.linspace(-30, 30, 41)
    np.testing.assert_allclose(student.log_density(s, dof), stats.t.logpdf(s, dof), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(student.cdf(s, dof), stats.t.cdf(s, dof), rtol=1e-9)
    level = np.array([1e-9, 0.2, 0.7])
    np.testing.assert_allclose(student.quantile(level, dof), stats.t.ppf(level, dof), rtol=1e-8)


def test_student_law_of_infinite_dof_is_gaussian():
    s, dof = np.array([-3.0, 0.5, 40.0]), np.array([np.inf, 5.0, np.inf])
    for name in ("log_density", "cdf", "log_cdf"):
        function = getattr(student, name)
        np.testing.assert_allclose(function(s, dof)[[0, 2]], function(s)[[0, 2]], rtol=1e-12)


@pytest.mark.parametrize("dof", [8.0, 60.0, 2000.0])
def test_log_probability_goes_on_beyond_doubles(dof):
    # where the tail leaves the range of doubles, both forms agree and the log goes on smoothly
    far = -np.geomspace(1, 1e60 if dof < 20 else 1e12, 4000)
    values = student.log_cdf(far, dof)
    assert np.all(np.isfinite(values))
    assert np.all(np.diff(values) < 0)
    slope = np.diff(values) / np.diff(np.log(-far))
    assert np.all(np.diff(slope) < 0.02)  # the tail of a Student law is log-concave in the log of the distance
