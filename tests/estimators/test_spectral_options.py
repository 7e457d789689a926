"""``MoERegressor(method="spectral", spectral_options=...)``: the paper's choices and ours."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import skmoe
from skmoe import MoERegressor, learn_experts, learn_gate, make_moe, metrics
from skmoe.spectral import SpectralOptions
from skmoe.spectral.decomposition import orth_als

PAPER = {"moments": "plain", "decomposition": "orth-als", "gate_method": "em", "radius": 1.0}


@pytest.fixture(scope="module")
def problem():
    return make_moe(5000, 5, 2, noise_scale=0.1, random_state=0)


def spectral(X, y, options, **settings):
    settings = {"method": "spectral", "input_law": None, "noise": 0.1, "tol": 1e-9, "random_state": 0} | settings
    return MoERegressor(2, spectral_options=options, **settings).fit(X, y)


def by_hand(X, y, *, radius=None, method="em", step_size=None, **how):
    """Algorithm 1, then Algorithm 2, to the end."""
    A = learn_experts(X, y, 2, noise_scale=0.1, random_state=0, **how).coef
    settings = {"method": method, "radius": radius, "step_size": step_size, "max_iter": 500, "tol": 1e-9}
    return A, learn_gate(X, y, A, noise_scale=0.1, random_state=0, **settings).coef


@pytest.mark.parametrize(
    ("options", "how"),
    [
        (None, {}),
        ({}, {}),
        (PAPER, {"moments": "plain", "decomposition": "orth-als", "radius": 1.0}),
        (SpectralOptions.paper(), {"moments": "plain", "decomposition": "orth-als", "radius": 1.0}),
        ({"moments": "plain", "decomposition": "power"}, {"moments": "plain", "decomposition": "power"}),
        (
            {"gate_method": "gradient", "step_size": 2.0, "radius": 0.5},
            {"method": "gradient", "step_size": 2.0, "radius": 0.5},
        ),
        ({"gate_method": "moments"}, {"method": "moments"}),
        ({"decomposition": orth_als}, {"decomposition": "orth-als"}),
    ],
    ids=["none", "empty", "paper", "record", "power", "gradient", "moments of the gate", "own function"],
)
def test_fit_is_the_two_algorithms_with_the_options(problem, options, how):
    X, y, _ = problem
    model = spectral(X, y, options)
    A, W = by_hand(X, y, **how)
    same = metrics.match_experts(A, model.expert_coef_)
    np.testing.assert_allclose(model.expert_coef_, A[same], atol=1e-6)
    np.testing.assert_allclose(model.gate_coef_, W[same] - W[same][-1], atol=1e-6)


def test_papers_choices_are_what_the_paper_ran():
    assert SpectralOptions.paper() == SpectralOptions(**PAPER)


def test_gate_of_the_papers_choices_stays_in_the_unit_ball():
    X, y, truth = make_moe(4000, 4, 2, noise_scale=0.1, random_state=1)
    y = skmoe.model.MoEParameters(truth.A, 4 * truth.W, 0.1).sample(X, np.random.default_rng(0))[0]
    free, ball = (spectral(X, y, options).gate_coef_ for options in ({}, {"radius": 1.0}))
    assert np.linalg.norm(free, axis=1).max() > 2
    assert np.linalg.norm(ball, axis=1).max() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"moment": "plain"}, "spectral_options has no 'moment'; it takes moments, decomposition, gate_method, radius"),
        ({"moments": "median"}, "The 'moments' parameter of spectral_options must be a str among"),
        ({"decomposition": "svd"}, "The 'decomposition' parameter of spectral_options must be a str among"),
        ({"gate_method": "newton"}, "The 'gate_method' parameter of spectral_options must be a str among"),
        ({"radius": -1.0}, "The 'radius' parameter of spectral_options must be a float"),
        ({"step_size": 1.0}, "step_size of spectral_options is for gate_method=\"gradient\"; gate_method is 'em'"),
        (SpectralOptions(radius="big"), "The 'radius' parameter of spectral_options must be"),
        ("paper", "The 'spectral_options' parameter of MoERegressor must be"),
        ({"decomposition": lambda T2, T3, k, rng: T2}, "must return a skmoe.decomposition.Decomposition"),
    ],
    ids=["unknown", "moments", "decomposition", "gate method", "radius", "step size", "record", "name", "own function"],
)
def test_bad_options_are_refused_by_their_name(problem, options, why):
    X, y, _ = problem
    with pytest.raises(ValueError, match=why):
        spectral(X[:200], y[:200], options)


@pytest.mark.parametrize("method", ["auto", "joint-em"])
def test_options_of_another_method_are_refused(problem, method):
    X, y, _ = problem
    with pytest.raises(ValueError, match=f"spectral_options is for method=\"spectral\"; method is '{method}'"):
        spectral(X[:200], y[:200], PAPER, method=method)


@pytest.mark.parametrize("options", [PAPER, SpectralOptions.paper(), None], ids=["mapping", "record", "none"])
def test_options_survive_clone_pickle_and_file(problem, options, tmp_path):
    X, y, _ = problem
    model = spectral(X, y, options)
    assert clone(model).spectral_options == options
    assert model.get_params()["spectral_options"] == options
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    model.save(tmp_path / "m.skmoe")
    loaded = skmoe.load(tmp_path / "m.skmoe")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    refitted = loaded.set_params(input_law=None, random_state=0).fit(X, y)
    np.testing.assert_array_equal(refitted.expert_coef_, model.expert_coef_)


def test_own_decomposition_cannot_be_saved(problem, tmp_path):
    X, y, _ = problem
    model = spectral(X, y, {"decomposition": orth_als})
    with pytest.raises(ValueError, match="decomposition of spectral_options is your own code"):
        model.save(tmp_path / "m.skmoe")
    assert not list(tmp_path.iterdir())


def test_options_can_be_searched(problem):
    X, y, _ = problem
    search = GridSearchCV(
        MoERegressor(2, method="spectral", input_law=None, noise=0.1, random_state=0),
        {"spectral_options": [PAPER, SpectralOptions()]},
        cv=2,
    ).fit(X[:1000], y[:1000])
    assert len(search.cv_results_["mean_test_score"]) == 2


def test_options_are_not_changed(problem):
    X, y, _ = problem
    options = dict(PAPER)
    spectral(X, y, options)
    assert options == PAPER


def test_inputs_far_from_isotropic_are_learned_by_either_way():
    """`input_law="auto"` fits the law; the label transform is that of the index under it."""
    rng = np.random.default_rng(0)
    X, y, truth = make_moe(40_000, 4, 2, noise_scale=0.1, random_state=rng)
    X = X * [0.5, 1.0, 2.0, 3.0]
    y = skmoe.model.MoEParameters(truth.A, truth.W, 0.1, family="sigmoid").sample(X, rng)[0]
    for options in ({}, {"moments": "plain", "decomposition": "power"}):
        model = spectral(X, y, options, input_law="auto", activation="sigmoid")
        assert metrics.regressor_fit(model.expert_coef_, truth.expert_coef) > 0.99
