import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from problems import family, standard_problem, sums_of
from skmoe import make_moe, metrics
from skmoe.likelihood import InputMap, MappedRows, Problem, Settings, mean_log_likelihood
from skmoe.model.gaussian import GaussianFamily
from skmoe.search.config import SearchConfig
from skmoe.search.records import Control, StartKind
from skmoe.search.starts import drawn_starts, labelled_batch, labelled_start, random_labels, spectral_start
from skmoe.search.task import ModelSpec, prepare
from skmoe.tables.inputs import RowsToFit

KINDS = [StartKind.RANDOM, StartKind.VORONOI, StartKind.JOINT]


@pytest.mark.parametrize("g", ["linear", "sigmoid", "relu", "tanh", "softplus"])
@pytest.mark.parametrize("kind", KINDS)
def test_drawn_starts_are_no_worse_than_a_constant(g, kind):
    X, y, _ = make_moe(500, 3, 3, activation=g, noise_scale=0.2, random_state=4)
    problem = standard_problem(X, y, 3, g)
    (start,) = drawn_starts(problem, [kind], 0, np.random.default_rng(1), SearchConfig())
    constant = -0.5 * np.log(2 * np.pi * np.e * np.var(y))
    assert mean_log_likelihood(problem, start.theta) > constant - 0.3


@pytest.mark.parametrize("noise", ["shared", "per-expert"])
def test_experts_of_a_labelled_start_are_weighted_least_squares(rng, noise):
    X, y, _ = make_moe(400, 3, 3, noise_scale=0.2, random_state=4)
    problem = standard_problem(X, y, 3, noise=noise)
    labels = rng.integers(3, size=(400, 4))
    batch = labelled_batch(problem, labels, 0.9)
    for s in range(4):
        found = problem.rows.map.to_parameters(batch.picked(s), problem.family)
        squares = np.zeros(3)
        for i in range(3):
            weight = np.where(labels[:, s] == i, 0.9 + 0.1 / 3, 0.1 / 3)
            line = LinearRegression().fit(X, y, weight)
            np.testing.assert_allclose(found.A[i], line.coef_, atol=1e-6)
            squares[i] = weight @ (y - line.predict(X)) ** 2 / (400 if noise == "shared" else weight.sum())
        expected = np.sqrt(np.full(3, squares.sum()) if noise == "shared" else squares)
        np.testing.assert_allclose(found.sigma, expected, rtol=1e-6)


def test_labels_of_the_truth_start_at_the_truth():
    X, _, truth = make_moe(2000, 3, 3, noise_scale=0.1, random_state=4)
    y, labels = truth.sample(X, np.random.default_rng(0))
    problem = standard_problem(X, y, 3)
    start = labelled_start(problem, labels, purity=1.0)
    found = problem.rows.map.to_parameters(start, problem.family)
    np.testing.assert_allclose(found.A, truth.A, atol=0.03)
    assert mean_log_likelihood(problem, start) > np.mean(truth.log_density(X, y)) - 0.5


def test_known_noise_is_kept_by_a_labelled_start(rng):
    X, y, _ = make_moe(300, 3, 2, random_state=4)
    problem = standard_problem(X, y, 2, noise=0.3)
    np.testing.assert_array_equal(labelled_start(problem, random_labels(problem, rng)).sigma, 0.3)


def test_cells_in_the_inputs_give_experts_that_the_gate_tells_apart():
    """A gate one step towards cells of the inputs parts rows more clearly than one towards random labels."""
    X, y, _ = make_moe(2000, 2, 4, random_state=4)
    problem = standard_problem(X, y, 4)
    sharp = {}
    for kind in (StartKind.RANDOM, StartKind.VORONOI):
        (start,) = drawn_starts(problem, [kind], 0, np.random.default_rng(0), SearchConfig())
        sharp[kind] = float(np.linalg.norm(start.theta.W))
    assert sharp[StartKind.VORONOI] > 5 * sharp[StartKind.RANDOM]


@pytest.mark.parametrize("kind", KINDS)
def test_drawn_starts_have_the_number_of_experts_asked_for(kind):
    X, y, _ = make_moe(500, 3, 3, random_state=4)
    problem = standard_problem(X, y, 3)
    starts = [drawn_starts(problem, [kind], 7, np.random.default_rng(seed), SearchConfig())[0] for seed in (0, 0, 1)]
    assert {start.kind for start in starts} == {kind}
    assert {start.theta.k for start in starts} == {3}
    assert starts[0].name.endswith(" 7")
    assert starts[0].theta.distance(starts[1].theta) == 0
    assert starts[0].theta.distance(starts[2].theta) > 1e-3
    assert np.all(sums_of(problem, starts[0].theta).share > 0)


# -- the consistent start ---------------------------------------------------------------------------------------------


def consistent_start(X, y, k, weight=None, **how):
    spec = ModelSpec(family(how.pop("g", "linear")), **{"noise": "shared", "penalty": 1e-5, "intercept": True} | how)
    rng = np.random.default_rng(0)
    task = prepare(RowsToFit(X, y, weight, None), spec, k, rng, Control(), SearchConfig())
    return task, spectral_start(task, task.problem(k, task.searched), rng)


@pytest.mark.parametrize("g", ["linear", "sigmoid", "tanh"])
def test_consistent_start_points_along_the_experts(g):
    X, y, truth = make_moe(5000, 4, 3, activation=g, noise_scale=0.1, random_state=1)
    task, (start, found) = consistent_start(X, y, 3, g=g)
    experts = task.map.to_parameters(start.theta, task.spec.family).A
    assert start.kind is StartKind.SPECTRAL
    assert metrics.regressor_fit(experts, truth.expert_coef) > 0.95
    assert len(found.spectrum) == 4


def test_consistent_start_counts_rows_by_their_weights():
    """Rows of weight zero but one in ten thousand hold other experts: they are hardly drawn."""
    X, y, truth = make_moe(4000, 3, 2, noise_scale=0.1, random_state=1)
    _, misleading, _ = make_moe(4000, 3, 2, noise_scale=0.1, random_state=2)
    weight = np.repeat([1.0, 1e-4], 4000)
    task, (start, _) = consistent_start(np.tile(X, (2, 1)), np.append(y, misleading), 2, weight)
    experts = task.map.to_parameters(start.theta, task.spec.family).A
    assert metrics.regressor_fit(experts, truth.expert_coef) > 0.98


@pytest.mark.parametrize(
    ("k", "how"),
    [
        (1, {}),
        (5, {}),
        (2, {"expert_columns": [0, 1], "gate_columns": [2]}),
        (2, {"g": np.cos}),
    ],
    ids=["one expert", "more experts than columns", "own columns", "even activation"],
)
def test_consistent_start_is_left_out_where_it_cannot_run(k, how):
    X, y, _ = make_moe(500, 4, 2, random_state=1)
    assert consistent_start(X, y, k, **how)[1] is None


def test_cells_are_those_of_the_experts_inputs_where_the_gate_sees_none(rng):
    """Cells of no inputs would be one, and all experts the same."""
    X, y, _ = make_moe(300, 3, 2, random_state=1)
    map = InputMap(np.zeros(3), intercept=True, gate_columns=())
    problem = Problem(MappedRows.of(X, y, map), 2, GaussianFamily.linear(), Settings(), 1.0)
    (start,) = drawn_starts(problem, [StartKind.VORONOI], 0, rng, SearchConfig())
    assert np.max(np.abs(start.theta.A[0] - start.theta.A[1])) > 0.1
    assert start.theta.W.shape == (2, 1)


def test_consistent_start_is_left_out_of_few_rows():
    X, y, _ = make_moe(29, 4, 2, random_state=1)
    assert consistent_start(X, y, 2)[1] is None
