"""Degrees of freedom of Student t experts, each with its own."""

import numpy as np
import pytest
from scipy import optimize, stats

import skmoe
from skmoe import MoERegressor
from skmoe.model.families import StudentFamily
from skmoe.model.parameters import MoEParameters

EACH = StudentFamily(learned=True, per_expert=True, least_dof=1.0)
DOF = (2.0, 15.0)


@pytest.fixture(scope="module")
def rows():
    A, W = np.array([[1.0, 0.5], [-1.0, 0.5]]), np.array([[2.0, 0.0], [0.0, 0.0]])
    truth = MoEParameters(A, W, [0.3, 0.5], b=[1.0, -1.0], family=StudentFamily(expert_dof=DOF))
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2500, 2))
    return X, truth.sample(X, rng)[0]


@pytest.fixture(scope="module")
def model(rows):
    return MoERegressor(2, family=EACH, penalty=0, calibration=None, random_state=0).fit(*rows)


def loss(p, X, y):
    """Negative log-likelihood of two experts from SciPy's density: lines, gate, log scales, log degrees of freedom."""
    A, b, w, scale, dof = p[:4].reshape(2, 2), p[4:6], p[6:9], np.exp(p[9:11]), np.exp(p[11:13])
    logit = X @ w[:2] + w[2]
    gates = -np.logaddexp(0, -logit), -np.logaddexp(0, logit)
    return -np.sum(np.logaddexp(*(gates[i] + stats.t.logpdf(y, dof[i], X @ A[i] + b[i], scale[i]) for i in range(2))))


def test_optimum_and_standard_errors_are_scipys(rows, model):
    p = model.parameters_
    parts = p.A, p.b, p.W[0], p.c[:1], np.log(p.sigma), np.log(p.family.expert_dof)
    here = np.concatenate([np.ravel(part) for part in parts])
    assert loss(here, *rows) == pytest.approx(-model.log_likelihood_, rel=1e-10)
    best = optimize.minimize(loss, here, args=rows, method="BFGS")
    assert best.fun > loss(here, *rows) - 1e-4
    step = 1e-3 * np.eye(len(here))
    H = [
        [sum(s * t * loss(here + s * a + t * b, *rows) for s in (-1, 1) for t in (-1, 1)) / 4e-6 for b in step]
        for a in step
    ]
    errors = np.sqrt(np.diag(np.linalg.inv(H)))
    np.testing.assert_allclose(model.expert_coef_se_.ravel(), errors[:4], rtol=1e-3)
    np.testing.assert_allclose(model.gate_coef_se_[0], errors[6:8], rtol=1e-3)


def test_degrees_of_freedom_of_each_are_found_and_raise_the_likelihood(rows, model):
    shared = MoERegressor(2, family="student", penalty=0, calibration=None, random_state=0).fit(*rows)
    assert model.log_likelihood_ > shared.log_likelihood_ + 10
    assert model.n_parameters_ == shared.n_parameters_ + 1
    low, high = sorted(model.family_.expert_dof)
    assert 1.6 < low < 2.5
    assert high > 8
    tails = np.argsort(np.abs(model.expert_coef_[:, 0] - 1.0))  # in the order of the experts that have them
    assert model.family_.expert_dof[tails[0]] == low
    assert "degrees of freedom, learned, one for each expert in turn" in str(model.summary())


def test_predictions_have_the_tails_of_each_expert(rows, model):
    X = rows[0][:50]
    law, P, centers = model.predictive(X), model.gate_proba(X), model.expert_predict(X)
    y = centers[:, 0] + 3.0
    p = model.parameters_
    each = [stats.t.cdf(y, p.family.expert_dof[i], centers[:, i], p.sigma[i]) for i in range(2)]
    np.testing.assert_allclose(law.cdf(y), P[:, 0] * each[0] + P[:, 1] * each[1], atol=1e-10)


def test_model_file_keeps_them(rows, tmp_path):
    X, y = rows[0][:600], rows[1][:600]
    model = MoERegressor(2, family=EACH, averaging=2, random_state=0).fit(X, y)
    model.save(tmp_path / "model.skmoe")
    loaded = skmoe.load(tmp_path / "model.skmoe")
    assert loaded.family_ == model.family_
    assert loaded.get_params()["family"] == EACH
    np.testing.assert_array_equal(loaded.predict_interval(X), model.predict_interval(X))
    np.testing.assert_array_equal(loaded.log_density(X, y), model.log_density(X, y))
    assert 0 < model.test_n_experts(X, y, n_bootstrap=5, random_state=0).p_value <= 1


def test_unfit_degrees_of_freedom_are_refused():
    with pytest.raises(ValueError, match="set learned=True too"):
        StudentFamily(per_expert=True)
    with pytest.raises(ValueError, match=r"expert_dof must be numbers of 0\.01 or more"):
        StudentFamily(expert_dof=(3.0, -1.0))
    with pytest.raises(ValueError, match=r"least_dof must be a number of 0\.01 or more, below 100"):
        StudentFamily(learned=True, least_dof=0.0)
    with pytest.raises(ValueError, match="not of as many experts"):
        StudentFamily(expert_dof=DOF).at(np.zeros(5), np.zeros((3, 5)), np.ones((3, 1)))


@pytest.fixture(scope="module")
def spoilt():
    """Two experts that are nearly the same, and ten rows of 500 with gross errors."""
    rng, n = np.random.default_rng(17), 500
    A, b, w = np.array([[-0.5, 0.0, 0.8], [-0.7, 0.2, 0.7]]), np.array([0.5, 0.5]), np.array([-0.8, 2.0, 0.7])
    X = rng.standard_normal((n, 3))
    first = rng.random(n) < 1 / (1 + np.exp(-X @ w))
    y = np.where(first, X @ A[0] + b[0], X @ A[1] + b[1]) + 0.3 * rng.standard_normal(n)
    y[:10] += rng.choice([-1, 1], 10) * rng.uniform(10, 40, 10)
    return X, y, A


@pytest.mark.parametrize("family", ["student", StudentFamily(learned=True, per_expert=True)])
def test_gross_errors_get_no_expert_and_few_degrees_of_freedom_are_not_learned(spoilt, family):
    X, y, A = spoilt
    model = MoERegressor(2, family=family, penalty=0, calibration=None, random_state=0).fit(X, y)
    order = np.argsort(-model.expert_coef_[:, 0])
    assert np.max(np.abs(model.expert_coef_[order] - A)) < 0.15
    assert np.max(model.noise_scale_) < 3 * np.min(model.noise_scale_)
    assert model.family_.dof == pytest.approx(3.0)
    assert min(model.family_.expert_dof, default=3.0) > 2.999


def test_degrees_of_freedom_at_their_least_count_as_given(spoilt):
    X, y, _ = spoilt
    how = {"penalty": 0, "calibration": None, "random_state": 0}
    at_least = MoERegressor(1, family=StudentFamily(learned=True, least_dof=4.0), **how).fit(X, y)
    given = MoERegressor(1, family=StudentFamily(4.0), **how).fit(X, y)
    np.testing.assert_allclose(at_least.expert_coef_se_, given.expert_coef_se_, rtol=1e-6)
    fewer = MoERegressor(1, family=StudentFamily(learned=True, least_dof=1.0), **how).fit(X, y)
    assert 1.0 < fewer.family_.dof < 3.0


# -- given ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def given(rows):
    family = StudentFamily(expert_dof=DOF)
    return MoERegressor(2, family=family, penalty=0, calibration=None, random_state=0).fit(*rows)


def test_given_degrees_of_freedom_go_to_the_experts_that_suit_them(rows, given, model):
    X, y = rows
    assert sorted(given.family_.expert_dof) == sorted(DOF)
    heavy = int(np.argmax(given.expert_coef_[:, 0]))  # the first expert of the truth, with the first of DOF
    assert given.family_.expert_dof[heavy] == DOF[0]
    assert given.n_parameters_ == model.n_parameters_ - 2
    assert given.log_likelihood_ < model.log_likelihood_  # by no more than chance: these are the true ones
    assert given.log_likelihood_ > model.log_likelihood_ - 6
    p = given.parameters_
    parts = p.A, p.b, p.W[0], p.c[:1], np.log(p.sigma), np.log(p.family.expert_dof)
    here = np.concatenate([np.ravel(part) for part in parts])
    assert loss(here, X, y) == pytest.approx(-given.log_likelihood_, rel=1e-10)

    def fixed(free):
        return loss(np.concatenate([free, here[11:]]), X, y)

    assert optimize.minimize(fixed, here[:11], method="BFGS").fun > fixed(here[:11]) - 1e-4
    swapped = np.concatenate([here[:11], here[:10:-1]])
    best = optimize.minimize(lambda free: loss(np.concatenate([free, swapped[11:]]), X, y), here[:11], method="BFGS")
    assert best.fun > fixed(here[:11]) + 10
    assert "2, 15 degrees of freedom, given" in str(given.summary()) or "15, 2 degrees" in str(given.summary())


def test_given_degrees_of_freedom_have_no_order_and_survive_a_file(rows, given, tmp_path):
    X, y = rows
    turned = MoERegressor(2, family=StudentFamily(expert_dof=DOF[::-1]), penalty=0, calibration=None, random_state=0)
    np.testing.assert_array_equal(turned.fit(X, y).expert_coef_, given.expert_coef_)
    assert turned.family_ == given.family_
    given.save(tmp_path / "m.skmoe")
    loaded = skmoe.load(tmp_path / "m.skmoe")
    assert loaded.family_ == given.family_
    assert sorted(loaded.get_params()["family"].expert_dof) == sorted(DOF)
    np.testing.assert_array_equal(loaded.log_density(X, y), given.log_density(X, y))
    again = skmoe.load(tmp_path / "m.skmoe").fit(X, y)  # what was asked for can be asked for again
    assert sorted(again.family_.expert_dof) == sorted(DOF)


def test_given_degrees_of_freedom_are_assigned_among_four_experts():
    rng = np.random.default_rng(0)
    X = rng.uniform(-4, 4, (3000, 1))
    z = np.digitize(X[:, 0], [-2, 0, 2])
    dof = np.array([30.0, 1.5, 30.0, 3.0])
    y = 6.0 * z + np.where(z % 2, 1.0, -1.0) * X[:, 0] + 0.3 * rng.standard_t(dof[z])
    family = StudentFamily(expert_dof=(1.5, 30.0, 3.0, 30.0))
    model = MoERegressor(4, family=family, penalty=0.3, calibration=None, random_state=0).fit(X, y)
    middle = [int(np.argmax(model.gate_proba([[m]]))) for m in (-3.0, -1.0, 1.0, 3.0)]
    assert [model.family_.expert_dof[i] for i in middle] == dof.tolist()
    one = MoERegressor(4, family=StudentFamily(expert_dof=(5.0,) * 4), penalty=0.3, calibration=None, random_state=0)
    shared = MoERegressor(4, family=StudentFamily(5.0), penalty=0.3, calibration=None, random_state=0)
    assert one.fit(X, y).log_likelihood_ == pytest.approx(shared.fit(X, y).log_likelihood_, abs=len(y) * 1e-9)


def test_given_degrees_of_freedom_that_do_not_go_with_the_rest_are_refused(rows):
    X, y = rows
    for settings, words in (
        ({"n_experts": 3}, "expert_dof has 2 degrees of freedom, one for each expert; n_experts is 3: set n_experts=2"),
        ({"n_experts": "auto"}, "n_experts is 'auto'"),
        ({"n_experts": 2, "method": "joint-em"}, 'expert_dof is for method="auto"'),
    ):
        with pytest.raises(ValueError, match=words):
            MoERegressor(family=StudentFamily(expert_dof=DOF), **settings).fit(X, y)
    with pytest.raises(ValueError, match="leave out one of them"):
        MoERegressor(2, family=StudentFamily(learned=True, expert_dof=DOF)).fit(X, y)
