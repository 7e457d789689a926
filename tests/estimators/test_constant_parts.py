"""A gate of constants (a plain mixture of regressions), and experts that are constants."""

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats
from scipy.special import logsumexp
from sklearn.mixture import GaussianMixture

import skmoe
from skmoe import MoEClassifier, MoERegressor, report

PARTS = ({"gate_features": []}, {"expert_features": []}, {"gate_features": [], "expert_features": []})
FEW = {"n_experts": 2, "random_state": 0}


def maximum_likelihood(**how):
    return MoERegressor(**FEW | {"penalty": 0, "calibration": None} | how)


@pytest.fixture(scope="module")
def curves():
    """Two curves crossing, as flexmix's NPreg has them: x and its square, outputs with noise, and counts."""
    rng, odd = np.random.default_rng(5), np.arange(200) % 2 == 0
    x = 10 * rng.random(200)
    y = np.where(odd, 5 * x, 40 - (x - 5) ** 2) + 3 * rng.standard_normal(200)
    counts = rng.poisson(np.exp(np.where(odd, 2 - 0.2 * x, 0.1 * x + 0.3)))
    return np.column_stack([x, x**2]), y, counts


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X, mixed = rng.standard_normal((240, 3)), rng.integers(2, size=240)
    y = 2 * np.where(mixed, X[:, 0], 3 - X[:, 0]) + 0.3 * rng.standard_normal(240)
    kind = np.where(rng.random(240) < 0.5, "u", "v")
    return pd.DataFrame(X, columns=list("abc")).assign(kind=kind), y


def test_likelihood_is_that_of_flexmix(curves):
    """flexmix 2.3.18: best of eight flexmix(y ~ x + x2, k = 2, FLXMRglm(family = ...)), minprior 0, tolerance 1e-14."""
    X, y, counts = curves
    poisson = maximum_likelihood(family="poisson", gate_features=[]).fit(X, counts)
    assert poisson.log_likelihood_ == pytest.approx(-378.995921251, abs=1e-6)
    assert poisson.aic(X, counts) == pytest.approx(771.991842503, abs=1e-6)
    assert poisson.bic(X, counts) == pytest.approx(795.080064069, abs=1e-6)
    np.testing.assert_allclose(poisson.shares_, [0.620324, 0.379676], atol=1e-5)
    normal = maximum_likelihood(gate_features=[]).fit(X, y)
    # flexmix inflates its noise by n / (n - p), and so ends below the maximum
    assert 0 < normal.log_likelihood_ - -614.928542691 < 0.02


def test_gate_of_constants_is_a_plain_mixture_of_regressions(curves):
    X, y, _ = curves
    U, R = np.column_stack([X, np.ones(200)]), np.eye(2)[np.arange(200) % 2]
    for _ in range(3000):  # EM from the truth
        share = R.mean(axis=0)
        A = [np.linalg.lstsq(U * np.sqrt(r)[:, None], y * np.sqrt(r), rcond=None)[0] for r in R.T]
        sigma = [np.sqrt(r @ (y - U @ a) ** 2 / r.sum()) for a, r in zip(A, R.T, strict=True)]
        joint = np.log(share) + stats.norm.logpdf(y[:, None], U @ np.transpose(A), sigma)
        R = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    model = maximum_likelihood(gate_features=[]).fit(X, y)
    assert model.log_likelihood_ == pytest.approx(logsumexp(joint, axis=1).sum(), abs=1e-6)
    np.testing.assert_allclose(model.shares_, np.sort(share)[::-1], atol=1e-6)
    assert model.n_parameters_ == 2 * 3 + 1 + 2
    assert model.aic(X, y) == pytest.approx(2 * 9 - 2 * model.log_likelihood_)


def test_experts_of_constants_are_the_maximum_of_their_likelihood():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 3))
    first = rng.random(300) < 1 / (1 + np.exp(-2 * X[:, 0]))
    y = np.where(first, 3 + rng.standard_normal(300), 0.5 * rng.standard_normal(300))
    model = maximum_likelihood(expert_features=[]).fit(X, y)

    def loss(p):
        logit = p[0] + X @ p[1:4]
        log_p = -np.logaddexp(0, np.stack([-logit, logit], axis=1))
        return -logsumexp(log_p + stats.norm.logpdf(y[:, None], p[4:6], np.exp(p[6:8])), axis=1).sum()

    gate = np.append(model.gate_intercept_[0] - model.gate_intercept_[1], model.gate_coef_[0] - model.gate_coef_[1])
    near = np.concatenate([gate, model.expert_intercept_, np.log(model.parameters_.sigma)])
    found = optimize.minimize(loss, near + 0.05, method="BFGS", options={"gtol": 1e-7})
    assert model.log_likelihood_ == pytest.approx(-found.fun, abs=1e-6)
    assert model.n_parameters_ == 2 + 4 + 2
    assert not np.any(model.expert_coef_)
    assert np.ptp(model.expert_predict(X), axis=0) == pytest.approx([0, 0])


def test_all_constant_is_a_mixture_of_distributions():
    rng = np.random.default_rng(3)
    y = np.concatenate([rng.normal(0, 1, 150), rng.normal(5, 0.5, 250)])
    model = maximum_likelihood(**PARTS[2]).fit(rng.standard_normal((400, 2)), y)
    theirs = GaussianMixture(2, tol=1e-12, max_iter=10_000, reg_covar=0, random_state=0).fit(y[:, None])
    assert model.log_likelihood_ == pytest.approx(400 * theirs.score(y[:, None]), abs=1e-6)
    assert model.n_parameters_ == 5
    np.testing.assert_allclose(np.sort(model.expert_intercept_), np.sort(theirs.means_[:, 0]), atol=1e-5)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"penalty": 0.0, "noise": "shared"},
        {"n_experts": "auto", "averaging": 3},
        {"method": "joint-em", "n_init": 3},
        {"activation": "relu", "noise": 0.5},
        {"family": "student"},
        {"family": "gamma"},
        {"family": "negative-binomial"},
    ],
    ids=str,
)
def test_constants_are_what_a_column_of_zeros_gives(table, part, settings):
    X, y = table[0][["a", "b", "c"]].to_numpy(), table[1]
    if "family" in settings and settings["family"] != "student":
        y = np.ceil(np.exp(0.4 * y - 0.5))
    every = {"gate_features": [0, 1, 2], "expert_features": [0, 1, 2]}
    zeros = MoERegressor(**FEW | settings | every | {name: [3] for name in part}).fit(np.column_stack([X, 0 * y]), y)
    model = MoERegressor(**FEW | settings | part).fit(X, y)
    assert model.n_parameters_ == zeros.n_parameters_
    assert model.log_likelihood_ == pytest.approx(zeros.log_likelihood_, abs=0.02)
    for name in ("gate_coef_", "gate_coef_se_", "expert_coef_", "expert_coef_se_"):
        assert getattr(model, name).shape == (model.n_experts_, 3)
        if f"{name.partition('_')[0]}_features" in part:
            assert not np.any(getattr(model, name)), name
    if "gate_features" in part:
        np.testing.assert_allclose(model.gate_proba(X) - model.gate_proba(X[:1]), 0, atol=1e-12)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("classes", [2, 3])
def test_models_of_frames_are_read_saved_and_reported(table, part, classes, tmp_path):
    frame, y = table
    label = np.digitize(y, [0.0, 4.0][: classes - 1])
    for model, output in ((MoERegressor(**FEW), y), (MoEClassifier(**FEW), label)):
        model.set_params(**part).fit(frame, output)
        terms = [(row[0].split()[0], row[1]) for row in model.summary().rows]
        for name in ("gate", "expert"):
            seen = {term for where, term in terms if where == name}
            assert (seen == {"intercept"}) == (f"{name}_features" in part)
        asked = [row[0] for row in model.diagnose(frame, output).rows]
        assert "gate orthogonal to experts" not in asked
        assert ("input law" in asked) == (len(part) == 1 and output is y)
        page = report.html(model, frame, output, folds=0)
        assert ("is the same for all rows" in page) == ("gate_features" in part)
        assert ("own constant prediction" in page) == ("expert_features" in part)
        model.save(tmp_path / "m.skmoe")
        again = skmoe.load(tmp_path / "m.skmoe")
        np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
        assert str(again.summary()) == str(model.summary())


def test_input_law_is_that_of_the_experts_inputs_without_a_gate(table):
    frame, y = table
    skewed = np.exp(frame[["a", "b"]])
    model = MoERegressor(**FEW, gate_features=[]).fit(skewed, y)
    assert model.history_["inputs"]["skewness"] > 1


@pytest.mark.parametrize("part", PARTS)
def test_other_holders_of_rows_give_the_same(table, part, xp):
    X, y = table[0][["a", "b", "c"]].to_numpy(copy=True), np.array(table[1])
    reference, rows = MoERegressor(**FEW, penalty=0.3, **part).fit(X, y), xp.asarray(X)
    model = MoERegressor(**FEW, penalty=0.3, **part).fit(rows, xp.asarray(y))
    assert model.log_likelihood_ == pytest.approx(reference.log_likelihood_, abs=1e-6)
    np.testing.assert_allclose(np.asarray(model.gate_proba(rows)), reference.gate_proba(X), atol=1e-6)


@pytest.mark.parametrize("part", PARTS)
def test_rows_of_a_cluster_give_the_same(table, part):
    array = pytest.importorskip("dask.array")
    X, y = table[0][["a", "b", "c"]].to_numpy(), table[1]
    reference = MoERegressor(**FEW, penalty=0.3, **part).fit(X, y)
    model = MoERegressor(**FEW, penalty=0.3, **part).fit(
        array.from_array(X, chunks=(60, 3)), array.from_array(y, chunks=60)
    )
    assert model.log_likelihood_ == pytest.approx(reference.log_likelihood_, abs=1e-6)


@pytest.mark.filterwarnings("ignore:the fit stopped")
def test_classes_that_constants_of_the_gate_leave_certain_are_fitted(table):
    """Experts without a penalty grow without bound here, and their curvature vanishes."""
    rng = np.random.default_rng(0)
    X, mixed = rng.standard_normal((240, 3)), rng.integers(2, size=240)
    kind = rng.random(240) < 0.5
    model = MoEClassifier(2, penalty=0.0, gate_features=[], random_state=0)
    model.fit(np.column_stack([X, kind]), np.where(mixed, X[:, 0], 1 - X[:, 0]) > 0)
    assert np.isfinite(model.log_likelihood_)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"fit_intercept": False, "gate_features": []}, "the gate sees are none, or zero .* use fit_intercept=True"),
        ({"fit_intercept": False, "expert_features": []}, "experts see are none, or zero .* use fit_intercept=True"),
        ({"method": "spectral", "gate_features": []}, "takes no expert_features or gate_features"),
    ],
)
def test_what_leaves_nothing_to_learn_is_refused(table, settings, said):
    with pytest.raises(ValueError, match=said):
        MoERegressor(**FEW, **settings).fit(table[0][["a", "b"]], table[1])
