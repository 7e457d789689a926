import numpy as np
import pytest

from skmoe import make_moe
from skmoe.model.activations import get_activation
from skmoe.likelihood.joint import JointLikelihood, Settings, Theta
from skmoe.search.moves import prune, removal_losses, remove_and_split, union
from skmoe.search.refine import maximise
from skmoe.search.starts import Search, labelled_start, random_labels, voronoi_labels
from skmoe.search.whitening import whitening_map


def likelihood_of(X, y, k, g="linear", intercept=True, **settings):
    center, transform = whitening_map(X, centered=intercept)
    return JointLikelihood(
        X,
        y,
        get_activation(g),
        k,
        intercept=intercept,
        center=center,
        transform=transform,
        settings=Settings(**settings),
    )


@pytest.mark.parametrize(
    ("g", "k", "sigma"), [("linear", 2, 0.1), ("linear", 6, 0.1), ("sigmoid", 2, 0.05), ("relu", 3, 0.2)]
)
def test_search_reaches_the_fit_started_at_the_truth(g, k, sigma):
    X, y, truth = make_moe(2000, 4, k, activation=g, noise_scale=sigma, random_state=11)
    likelihood = likelihood_of(X, y, k, g)
    fit = Search(likelihood, np.random.default_rng(0)).run()
    from_truth = maximise(likelihood, likelihood.from_parameters(truth))
    assert fit.log_likelihood > from_truth.log_likelihood - 1e-4
    assert fit.admissible


def test_same_seed_same_answer():
    X, y, _ = make_moe(1500, 3, 3, random_state=1)
    one, two = (Search(likelihood_of(X, y, 3), np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(one.run().theta.A, two.run().theta.A)
    assert one.records == two.records


def test_records_tell_every_start_and_the_winner_reached_all_rows():
    X, y, truth = make_moe(1500, 3, 2, random_state=1)
    likelihood = likelihood_of(X, y, 2)
    search = Search(likelihood, np.random.default_rng(0), starts=[("truth", likelihood.from_parameters(truth))])
    fit = search.run()
    names = {record.name for record in search.records}
    assert {"truth", "overfull 0", "voronoi 1"} <= names
    assert fit.log_likelihood == max(r.log_likelihood for r in search.records if r.stage == "all rows")
    assert search.agreement >= 2


def test_a_start_of_the_callers_can_win():
    X, y, truth = make_moe(600, 3, 4, noise_scale=0.02, random_state=3)
    likelihood = likelihood_of(X, y, 4)
    start = likelihood.from_parameters(truth)
    search = Search(likelihood, np.random.default_rng(0), starts=[("spectral", start)], quick=True)
    assert search.run().log_likelihood > maximise(likelihood, start).log_likelihood - 1e-6


@pytest.mark.parametrize("after", [1, 40, 400])
def test_interrupt_leaves_the_best_point_so_far(after):
    X, y, _ = make_moe(1500, 3, 3, noise_scale=0.5, random_state=2)
    calls = []

    def interrupt(search):
        calls.append(search.theta)
        if len(calls) == after:
            raise KeyboardInterrupt

    likelihood = likelihood_of(X, y, 3)
    search = Search(likelihood, np.random.default_rng(0), callback=interrupt, quick=True)
    try:
        search.run()
    except KeyboardInterrupt:
        assert len(calls) == after
    single = likelihood.with_experts(1)
    level = maximise(single, labelled_start(single, np.zeros(1500, dtype=int))).log_likelihood
    assert search.theta is not None
    assert likelihood.value(search.theta) > level - 0.05


@pytest.mark.parametrize("g", ["linear", "sigmoid", "relu", "tanh", "softplus"])
@pytest.mark.parametrize("draw", [random_labels, voronoi_labels])
def test_labelled_starts_are_no_worse_than_a_constant(rng, g, draw):
    X, y, _ = make_moe(500, 3, 3, activation=g, noise_scale=0.2, random_state=4)
    likelihood = likelihood_of(X, y, 3, g)
    labels = draw(likelihood, rng)
    assert labels.shape == (500,)
    assert set(labels) <= {0, 1, 2}
    theta = labelled_start(likelihood, labels)
    constant = -0.5 * np.log(2 * np.pi * np.e * np.var(y))
    assert likelihood.value(theta) > constant - 0.3


def test_removal_loss_is_that_of_the_model_without_the_expert():
    X, y, truth = make_moe(300, 3, 4, noise_scale=0.3, random_state=5)
    likelihood = likelihood_of(X, y, 4, intercept=False)
    theta = likelihood.from_parameters(truth)
    W = np.vstack([theta.W, np.zeros((1, 3))])
    for i, loss in enumerate(removal_losses(likelihood, theta)):
        kept = [j for j in range(4) if j != i]
        V = (W[kept] - W[kept[-1]])[:-1]
        rest = likelihood.with_experts(3).value(Theta(theta.A[kept], V, theta.sigma[kept]))
        assert loss == pytest.approx(likelihood.value(theta) - rest, rel=1e-9)


@pytest.mark.parametrize("slope", [2.0, -2.0])
def test_remove_and_split_finds_a_bend_fitted_as_one_line(rng, slope):
    X = rng.standard_normal((2000, 2))
    side = X[:, 0] > 0
    y = slope * np.abs(X[:, 0]) + 0.1 * rng.standard_normal(2000)
    likelihood = likelihood_of(X, y, 2)
    A = np.array([[0.0, 0.0, np.mean(y)], [0.0, 0.0, 9.0]])  # one expert does all, the other nothing
    start = Theta(A, np.array([[0.0, 0.0, 6.0]]), np.full(2, np.std(y)))
    share = likelihood.em_sums(start).share
    moved = dict(remove_and_split(likelihood, start, share))["drop 1, split 0 bend"]
    best = maximise(likelihood, labelled_start(likelihood, side.astype(int))).log_likelihood
    assert likelihood.em_sums(moved).square.sum() < 0.1 * np.var(y)  # the right halves on the right sides at once
    assert maximise(likelihood, moved).log_likelihood == pytest.approx(best, abs=1e-3)


def test_remove_and_split_finds_two_laws_that_cross(rng):
    X = rng.standard_normal((2000, 2))
    y = np.where(rng.random(2000) < 0.5, 2.0, -2.0) * X[:, 1] + 0.1 * rng.standard_normal(2000)
    likelihood = likelihood_of(X, y, 2)
    A = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 9.0]])
    start = Theta(A, np.array([[0.0, 0.0, 6.0]]), np.full(2, np.std(y)))
    moved = dict(remove_and_split(likelihood, start, likelihood.em_sums(start).share))["drop 1, split 0 crossing"]
    parameters = likelihood.to_parameters(maximise(likelihood, moved).theta)
    np.testing.assert_allclose(np.sort(parameters.A[:, 1]), [-2.0, 2.0], atol=0.02)


def test_prune_keeps_the_experts_that_matter(rng):
    X, y, truth = make_moe(1000, 3, 3, noise_scale=0.1, random_state=8)
    likelihood = likelihood_of(X, y, 3)
    best = maximise(likelihood, likelihood.from_parameters(truth))
    poor = labelled_start(likelihood, random_labels(likelihood, rng))
    pooled = union(poor, best.theta)
    assert pooled.A.shape[0] == 6
    kept = prune(likelihood, pooled)
    assert likelihood.value(kept) > best.log_likelihood - 0.01


def test_union_leaves_each_model_its_own_gate(rng):
    one, other = (Theta(rng.standard_normal((3, 2)), rng.standard_normal((2, 2)), np.ones(3)) for _ in range(2))
    W = np.vstack([union(one, other).W, np.zeros((1, 2))])
    np.testing.assert_allclose((W[:3] - W[2])[:-1], one.W)
    np.testing.assert_allclose((W[3:] - W[5])[:-1], other.W)


def test_weak_signal_is_searched_on_more_rows():
    X, y, _ = make_moe(6000, 3, 2, activation="sigmoid", noise_scale=0.5, random_state=6)
    search = Search(likelihood_of(X, y, 2, "sigmoid"), np.random.default_rng(0), quick=True)
    before = search.rows
    search.run()
    assert search.rows > before
    strong = Search(likelihood_of(*make_moe(6000, 3, 2, random_state=6)[:2], 2), np.random.default_rng(0), quick=True)
    strong.run()
    assert strong.rows == before


@pytest.mark.parametrize("noise", ["shared", "per-expert"])
def test_search_on_awkward_tables_is_sound(rng, noise):
    X = np.round(rng.standard_normal((300, 2)), 0)  # few distinct rows, each many times
    X = np.column_stack([X, np.full(300, 2.0), X[:, 0]])
    y = X[:, 0] + 0.2 * rng.standard_normal(300)
    y[:30] = 1.0
    likelihood = likelihood_of(X, y, 3, noise=noise)
    fit = Search(likelihood, np.random.default_rng(0), quick=True).run()
    single = likelihood.with_experts(1)
    level = maximise(single, labelled_start(single, np.zeros(300, dtype=int))).log_likelihood
    assert np.isfinite(fit.log_likelihood)
    assert fit.log_likelihood > level
    assert np.min(fit.share) > 0
    assert np.min(fit.theta.sigma) >= likelihood.noise_floor


def test_one_expert_needs_no_search():
    X, y, _ = make_moe(200, 3, 2, random_state=0)
    search = Search(likelihood_of(X, y, 1), np.random.default_rng(0))
    assert search.run().converged
    assert [record.stage for record in search.records] == ["all rows"]


def test_search_runs_on_every_array_library(xp):
    X, y, truth = make_moe(400, 2, 2, random_state=0)
    likelihood = likelihood_of(xp.asarray(X), xp.asarray(y), 2, noise="per-expert")
    fit = Search(likelihood, np.random.default_rng(0), quick=True).run()
    assert fit.log_likelihood > np.mean(truth.log_density(X, y))
