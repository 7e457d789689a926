import warnings

import numpy as np
import pytest

from skmoe import label_transform, learn_experts, make_moe, metrics, scores
from skmoe.spectral.decomposition import RankWarning, orth_als

PLAIN_LAW = {"moments": "plain", "input_law": "gaussian"}
CHOICES = [
    {},
    {"decomposition": "power"},
    {"decomposition": "orth-als"},
    {"moments": "plain"},
    {"moments": "plain", "decomposition": "power"},
    {"moments": "plain", "decomposition": "orth-als"},
    {"decomposition": "orth-als-t2"},
    {"moments": "plain", "decomposition": "orth-als-t2"},
]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_every_combination_finds_two_linear_experts(choice):
    X, y, truth = make_moe(20_000, 6, 2, noise_scale=0.1, random_state=0)
    experts = learn_experts(X, y, 2, noise_scale=0.1, random_state=0, **choice)
    assert metrics.regressor_fit(experts.coef, truth.expert_coef) > 0.985
    np.testing.assert_allclose(np.linalg.norm(experts.coef, axis=1), 1)
    np.testing.assert_allclose(experts.weights, [0.5, 0.5], atol=0.15)
    # T3 fixes the sign of an expert
    order = metrics.match_experts(experts.coef, truth.expert_coef)
    assert np.all(np.sum(experts.coef[order] * truth.expert_coef, axis=1) > 0.9)


@pytest.mark.filterwarnings("ignore::skmoe.spectral.decomposition.RankWarning")  # one draw's third expert is weak
@pytest.mark.parametrize(
    ("activation", "k", "least"), [("sigmoid", 3, 0.97), ("relu", 3, 0.95), ("tanh", 3, 0.98), ("softplus", 3, 0.98)]
)
def test_nonlinear_experts_are_found(activation, k, least):
    fits = []
    for seed in range(3):
        X, y, truth = make_moe(20_000, 5, k, noise_scale=0.1, activation=activation, random_state=seed)
        experts = learn_experts(X, y, k, noise_scale=0.1, activation=activation, random_state=seed)
        fits.append(metrics.regressor_fit(experts.coef, truth.expert_coef))
    assert np.mean(fits) > least


def test_a_users_own_activation_is_found():
    def own(z):
        return np.arctan(z) + 0.3 * z

    X, y, truth = make_moe(20_000, 4, 2, noise_scale=0.1, activation=own, random_state=0)
    experts = learn_experts(X, y, 2, noise_scale=0.1, activation=own, random_state=0)
    assert metrics.regressor_fit(experts.coef, truth.expert_coef) > 0.98


def test_default_is_far_better_than_the_plain_power_method():
    ours, plain = [], []
    for seed in range(4):
        X, y, truth = make_moe(20_000, 10, 6, random_state=seed)
        for fits, choice in ((ours, {}), (plain, {"moments": "plain", "decomposition": "power"})):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RankWarning)
                experts = learn_experts(X, y, 6, noise_scale=0.1, random_state=seed, **choice)
            fits.append(metrics.regressor_fit(experts.coef, truth.expert_coef))
    assert np.mean(ours) > 0.97
    assert np.mean(ours) > np.mean(plain) + 0.05


@pytest.mark.parametrize("choice", [{}, {"moments": "plain"}], ids=str)
@pytest.mark.parametrize(
    "law",
    [
        scores.GaussianMixture([0.4, 0.6], np.vstack([np.full(4, 0.3), np.zeros(4)])),
        scores.GaussianMixture([0.4, 0.6], np.zeros((2, 4)), [2 * np.eye(4), np.eye(4)]),
        scores.Gaussian(np.full(4, 0.3), np.diag([0.5, 1.0, 2.0, 3.0])),
    ],
    ids=["mixture", "spreads", "covariance"],
)
def test_every_library_gives_the_same_experts(xp, law, choice):
    X, y, _ = make_moe(3000, 4, 2, input_law=law, random_state=0)
    expected = learn_experts(X, y, 2, noise_scale=0.1, input_law=law, random_state=0, **choice)
    found = learn_experts(xp.asarray(X), xp.asarray(y), 2, noise_scale=0.1, input_law=law, random_state=0, **choice)
    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-9)


@pytest.mark.parametrize("choice", [{}, {"moments": "plain"}], ids=str)
@pytest.mark.parametrize(("activation", "sigma"), [("linear", 0.5), ("sigmoid", 0.3), ("relu", 0.4)])
def test_unknown_noise_is_estimated(activation, sigma, choice):
    X, y, truth = make_moe(50_000, 5, 2, noise_scale=sigma, activation=activation, orthogonal_gate=True, random_state=1)
    experts = learn_experts(X, y, 2, activation=activation, random_state=0, **choice)
    known = learn_experts(X, y, 2, activation=activation, noise_scale=sigma, random_state=0, **choice)
    assert experts.noise_scale == pytest.approx(sigma, rel=0.1)
    assert known.noise_scale == sigma
    if not choice:
        assert metrics.regressor_fit(experts.coef, truth.expert_coef) > 0.97


@pytest.mark.parametrize("kind", ["gaussian", "mixture"])
def test_input_law_is_fitted(kind):
    rng = np.random.default_rng(0)
    L = np.eye(6) + 0.3 * np.tril(rng.standard_normal((6, 6)), -1)
    law = scores.Gaussian(np.zeros(6), L @ L.T)
    X, y, truth = make_moe(20_000, 6, 2, input_law=law, random_state=rng)
    experts = learn_experts(X, y, 2, noise_scale=0.1, input_law=kind, random_state=0)
    assert metrics.regressor_fit(experts.coef, truth.expert_coef) > 0.98


def test_automatic_law_is_that_of_the_inputs():
    """Inputs far from the standard Gaussian are told from it, and a mixture from a Gaussian."""
    L = np.array([[2.0, 0, 0, 0], [0.5, 2, 0, 0], [0, 0, 1, 0], [0, 0.3, 0, 0.5]])
    for law in (
        scores.Gaussian(np.full(4, 0.5), L @ L.T),
        scores.GaussianMixture([0.5, 0.5], [[2.0, 0, 0, 0], [-2.0, 0, 0, 0]]),
    ):
        X, y, truth = make_moe(20_000, 4, 2, input_law=law, random_state=1)
        fits = {
            choice: metrics.regressor_fit(
                learn_experts(X, y, 2, noise_scale=0.1, input_law=choice, random_state=0).coef, truth.expert_coef
            )
            for choice in ("auto", law)
        }
        assert fits["auto"] > fits[law] - 0.01
        assert fits["auto"] > 0.98


@pytest.mark.parametrize(
    "choice", [{}, {"moments": "plain"}, {"input_law": "gaussian"}, {"n_experts": 1}, PLAIN_LAW], ids=str
)
def test_integer_weights_are_repeated_rows(xp, choice):
    X, y, _ = make_moe(1500, 4, 2, random_state=0)
    weight = np.random.default_rng(1).integers(0, 4, 1500)
    rows = np.repeat(np.arange(1500), weight)
    how = {"n_experts": 2, "random_state": 0} | choice
    repeated = learn_experts(X[rows], y[rows], **how)
    weighted = learn_experts(*map(xp.asarray, (X, y)), sample_weight=xp.asarray(weight.astype(float)), **how)
    np.testing.assert_allclose(weighted.coef, repeated.coef, atol=1e-6)
    np.testing.assert_allclose(weighted.weights, repeated.weights, atol=1e-6)
    assert weighted.noise_scale == pytest.approx(repeated.noise_scale, rel=1e-9)
    assert weighted.noise_level == pytest.approx(repeated.noise_level, rel=1e-6)


@pytest.mark.parametrize("size", [1 / 2000, 1e-300, 1e300])
def test_size_of_fractional_weights_does_not_matter(size):
    X, y, _ = make_moe(2000, 4, 2, random_state=0)
    plain, weighted = (learn_experts(X, y, 2, random_state=0, sample_weight=w) for w in (None, np.full(2000, size)))
    np.testing.assert_allclose(weighted.coef, plain.coef, atol=1e-12)
    assert weighted.noise_level == pytest.approx(plain.noise_level)


def test_many_columns_go_through_a_leading_space():
    X, y, truth = make_moe(20_000, 40, 3, noise_scale=0.2, random_state=0)
    experts = learn_experts(X, y, 3, noise_scale=0.2, random_state=0)
    assert metrics.regressor_fit(experts.coef, truth.expert_coef) > 0.97
    assert len(experts.spectrum) == 40
    assert experts.rank == 3
    assert experts.gap > 0.5


def test_spectrum_tells_how_many_experts_there_are():
    X, y, _ = make_moe(20_000, 8, 3, random_state=0)
    experts = learn_experts(X, y, 3, noise_scale=0.1, random_state=0)
    assert experts.spectrum.shape == (8,)
    assert np.all(np.diff(experts.spectrum) <= 0)
    assert experts.rank == 3
    assert experts.gap > 0.5
    # the noise level is what the eigenvalues beyond the experts show
    assert abs(experts.spectrum[3:]).max() < 2 * experts.noise_level


def test_rank_the_data_do_not_carry_is_reported():
    X, y, _ = make_moe(5000, 6, 1, noise_scale=0.3, random_state=0)
    with pytest.warns(RankWarning, match="fewer than the 3 experts"):
        experts = learn_experts(X, y, 3, noise_scale=0.3, random_state=0)
    assert experts.rank == 1


def test_one_expert_is_a_regression():
    X, y, truth = make_moe(3000, 4, 1, random_state=0)
    experts = learn_experts(X, y, 1, noise_scale=0.1, random_state=0)
    np.testing.assert_allclose(experts.coef, truth.expert_coef, atol=0.02)
    np.testing.assert_allclose(experts.weights, 1, atol=1e-3)


def test_same_seed_same_experts_and_nothing_is_changed():
    X, y, _ = make_moe(2000, 5, 2, random_state=0)
    X_before, y_before = X.copy(), y.copy()
    first, again = (learn_experts(X, y, 2, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first.coef, again.coef)
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(y, y_before)


def test_rotated_inputs_give_rotated_experts():
    X, y, _ = make_moe(5000, 5, 2, random_state=0)
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((5, 5)))[0]
    plain, turned = (learn_experts(Z, y, 2, noise_scale=0.1, random_state=0).coef for Z in (X, X @ Q))
    order = metrics.match_experts(turned, plain @ Q)
    np.testing.assert_allclose(turned[order], plain @ Q, atol=1e-4)


def test_rows_in_any_order_give_the_same_experts():
    X, y, _ = make_moe(3000, 5, 2, random_state=0)
    rows = np.random.default_rng(0).permutation(3000)
    plain, shuffled = (
        learn_experts(*data, 2, noise_scale=0.1, random_state=0) for data in ((X, y), (X[rows], y[rows]))
    )
    np.testing.assert_allclose(shuffled.coef, plain.coef, atol=1e-6)


def test_float32_rows_are_summed_in_float64():
    X, y, _ = make_moe(3000, 5, 2, random_state=0)
    plain = learn_experts(X, y, 2, noise_scale=0.1, random_state=0)
    single = learn_experts(X.astype(np.float32), y.astype(np.float32), 2, noise_scale=0.1, random_state=0)
    np.testing.assert_allclose(single.coef, plain.coef, atol=1e-5)


@pytest.mark.parametrize("moments", ["regression", "plain"])
def test_own_decomposition_gives_what_its_name_gives(moments):
    X, y, _ = make_moe(2000, 4, 2, random_state=0)
    by_name, by_function = (
        learn_experts(X, y, 2, noise_scale=0.1, moments=moments, decomposition=d, random_state=0)
        for d in ("orth-als", lambda T2, T3, k, rng: orth_als(T2, T3, k, rng))
    )
    assert np.array_equal(by_name.coef, by_function.coef)


@pytest.mark.parametrize(
    ("change", "error", "why"),
    [
        ({"n_experts": 0}, ValueError, "The 'n_experts' parameter of learn_experts must be an int"),
        ({"n_experts": 1.5}, ValueError, "The 'n_experts' parameter of learn_experts must be an int"),
        ({"n_experts": 5}, ValueError, "more than the 4 columns of X.*fit by likelihood"),
        ({"noise_scale": -0.1}, ValueError, "The 'noise_scale' parameter of learn_experts must be"),
        ({"noise_scale": "big"}, ValueError, "The 'noise_scale' parameter of learn_experts must be"),
        ({"decomposition": "svd"}, ValueError, "The 'decomposition' parameter of learn_experts must be"),
        (
            {"decomposition": lambda T2, T3, k, rng: T2},
            ValueError,
            r"must return a skmoe\.decomposition\.Decomposition",
        ),
        ({"moments": "median"}, ValueError, "The 'moments' parameter of learn_experts must be"),
        ({"input_law": "uniform"}, ValueError, "input_law must be"),
        ({"input_law": 3}, TypeError, "input_law must be"),
        ({"input_law": scores.Gaussian(np.zeros(3))}, ValueError, "input_law is over 3 inputs, but X has 4"),
        ({"activation": np.cos}, ValueError, "Condition 1"),
        ({"y": np.ones(200)}, ValueError, "y is constant"),
        ({"y": np.ones(199)}, ValueError, "200 rows and y has 199"),
        ({"y": np.full(200, np.nan)}, ValueError, "y contains NaN"),
        ({"y": np.ones((200, 2))}, ValueError, "y must be one value a row"),
        ({"X": np.ones(200)}, ValueError, "X must be a table"),
        ({"X": np.full((200, 4), np.inf)}, ValueError, "X contains NaN or infinity"),
        ({"X": [["a"] * 4] * 200}, ValueError, "X holds text"),
        ({"X": np.ones((200, 4)) * 1j}, ValueError, "X holds complex numbers"),
        ({"X": np.ones((200, 4)), "input_law": "gaussian"}, ValueError, "singular"),
        ({"X": np.ones((0, 4)), "y": np.ones(0)}, ValueError, "at least one row"),
        ({"X": np.eye(4), "y": np.arange(4.0)}, ValueError, "4 rows, too few"),
        ({"sample_weight": np.full(200, np.nan)}, ValueError, "sample_weight contains NaN"),
        ({"sample_weight": np.full(200, -1.0)}, ValueError, "sample_weight has 200 negative values"),
        ({"sample_weight": np.eye(1, 200)[0]}, ValueError, "there are 1 rows with weight"),
        ({"sample_weight": np.ones(10)}, ValueError, "200 rows and sample_weight has 10"),
        ({"random_state": "seed"}, ValueError, "The 'random_state' parameter of learn_experts must be"),
    ],
)
def test_bad_input_is_refused(change, error, why):
    X, y, _ = make_moe(200, 4, 2, random_state=0)
    arguments = {"X": X, "y": y, "n_experts": 2, "noise_scale": 0.1} | change
    with pytest.raises(error, match=why):
        learn_experts(**arguments)


def test_lists_and_integers_are_accepted():
    X, y, _ = make_moe(400, 3, 2, noise_scale=0.1, random_state=0)
    from_lists = learn_experts(X.tolist(), y.tolist(), 2, noise_scale=0.1, random_state=0)
    np.testing.assert_array_equal(from_lists.coef, learn_experts(X, y, 2, noise_scale=0.1, random_state=0).coef)
    learn_experts(np.round(10 * X).astype(int), y, 2, noise_scale=0.1, input_law="gaussian", random_state=0)


def test_t3_too_large_to_be_held_is_refused_with_the_way_out():
    X, y, _ = make_moe(600, 251, 2, random_state=0)
    how = {"noise_scale": 0.1, "moments": "plain", "random_state": 0}
    with pytest.raises(ValueError, match=r"'orth-als' takes T3 in full.*251 columns.*\"orth-als-t2\""):
        learn_experts(X, y, 2, decomposition="orth-als", **how)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        assert learn_experts(X, y, 2, decomposition="orth-als-t2", **how).coef.shape == (2, 251)


def test_sparse_rows_are_refused_with_the_way_out():
    from scipy import sparse

    with pytest.raises(TypeError, match=r"toarray\(\)"):
        learn_experts(sparse.eye(10).tocsr(), np.arange(10.0), 2)


def test_transform_of_the_default_meets_the_conditions_under_its_reference():
    """The default's label transform is that of the activation as seen by the narrower reference."""
    t = label_transform(lambda z: np.maximum(0.8 * z, 0), 0.1)
    assert abs(t.hermite[2, 1]) < 1e-9
    assert abs(t.hermite[2, 2]) < 1e-9
    assert abs(t.hermite[1, 1]) < 1e-9
