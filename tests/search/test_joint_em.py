import numpy as np
import pytest

from problems import started
from skmoe import joint_em, make_moe, metrics
from skmoe.likelihood import gradient
from skmoe.search.joint_em import run_em


def test_joint_em_never_lowers_the_likelihood_and_finds_the_truth():
    X, y, truth = make_moe(2000, 5, 2, random_state=0)
    fit = joint_em(X, y, 2, random_state=0)
    assert np.all(np.diff(fit.trace) >= 0)
    assert len(fit.trace) == len(fit.path) == fit.n_iter + 1
    assert fit.converged
    assert metrics.regressor_fit(fit.expert_coef, truth.expert_coef) > 0.99


def test_joint_em_starts_where_it_is_told():
    X, y, truth = make_moe(500, 4, 3, random_state=1)
    fit = joint_em(X, y, 3, init=(truth.A, truth.W), noise_scale=0.1, max_iter=1)
    np.testing.assert_allclose(fit.path[0][0], truth.A)
    assert fit.noise_scale == 0.1


def test_the_problems_own_seed_is_not_a_start_at_its_truth():
    X, y, truth = make_moe(500, 4, 3, random_state=7)
    start = joint_em(X, y, 3, random_state=7).path[0]
    assert metrics.parameter_error(start[0], start[1], truth.expert_coef, truth.gate_coef) > 0.5


def test_joint_em_runs_on_every_array_library(xp):
    X, y, _ = make_moe(300, 3, 2, random_state=0)
    plain, found = (joint_em(*rows, 2, random_state=0) for rows in ((X, y), map(xp.asarray, (X, y))))
    np.testing.assert_allclose(found.expert_coef, plain.expert_coef, atol=1e-9)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"max_iter": 5.0}, "The 'max_iter' parameter of joint_em must be an int in the range"),
        ({"max_iter": 0}, "The 'max_iter' parameter of joint_em must be an int in the range"),
        ({"n_experts": 0}, "The 'n_experts' parameter of joint_em must be an int in the range"),
        ({"tol": 0.0}, "The 'tol' parameter of joint_em must be"),
        ({"noise_scale": -1.0}, "The 'noise_scale' parameter of joint_em must be"),
        ({"activation": "gelu"}, "activation must be one of"),
        ({"init": (np.zeros((2, 3)), np.zeros((2, 2)))}, r"init\[1\] must have shape \(2, 3\)"),
        ({"n_experts": 20}, "100 rows, too few for 20 experts"),
        ({"y": np.ones(100)}, "y is constant"),
    ],
)
def test_bad_settings_are_refused(change, why):
    X, y, _ = make_moe(100, 3, 2, random_state=0)
    with pytest.raises(ValueError, match=why):
        joint_em(**{"X": X, "y": y, "n_experts": 2} | change)


@pytest.mark.parametrize("g", ["linear", "sigmoid", "relu", "tanh", "softplus"])
@pytest.mark.parametrize("noise", ["shared", "per-expert", 0.3])
def test_em_never_lowers_the_objective(g, noise):
    X, y, _ = make_moe(400, 3, 3, activation=g, noise_scale=0.3, random_state=2)
    run = run_em(*started(X, y, 3, g=g, noise=noise), max_iter=15, tol=0)
    problem, _ = started(X, y, 3, g=g, noise=noise)
    values = [gradient(problem, point).objective for point in run.points]  # taken afresh: the trace could hide a fall
    np.testing.assert_allclose(run.log_likelihood, values, atol=1e-12)
    assert np.min(np.diff(values)) > -1e-12
    assert values[-1] > values[0]


def test_linear_experts_step_to_their_weighted_least_squares():
    X, y, _ = make_moe(400, 3, 3, noise_scale=0.2, random_state=1)
    problem, start = started(X, y, 3, noise="per-expert")
    moved = run_em(problem, start, max_iter=1, tol=0).points[-1]
    model = problem.rows.map.to_parameters(start, problem.family)
    X, y = problem.rows.X, problem.rows.y
    design, R = np.column_stack([X, np.ones(len(y))]), model.responsibilities(X, y)
    there = problem.rows.map.to_parameters(moved, problem.family)
    for i in range(3):
        root = np.sqrt(R[:, i])
        coef = np.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0]
        np.testing.assert_allclose(np.append(there.A[i], there.b[i]), coef, atol=1e-9)
        scale = np.sqrt(R[:, i] @ (y - design @ coef) ** 2 / R[:, i].sum())
        assert there.sigma[i] == pytest.approx(scale, rel=1e-9)


@pytest.mark.parametrize("g", ["linear", "tanh"])
def test_em_ends_at_an_optimum(g):
    X, y, _ = make_moe(1000, 3, 2, activation=g, noise_scale=0.2, random_state=4)
    problem, start = started(X, y, 2, g=g)
    run = run_em(problem, start, max_iter=2000, tol=1e-7)
    assert run.converged
    assert len(run.points) == len(run.log_likelihood)
    assert np.all(np.diff(run.log_likelihood) >= 0)
    assert np.max(np.abs(gradient(problem, run.points[-1]).gradient)) < 1e-4


def test_em_says_when_it_was_cut_short():
    X, y, _ = make_moe(500, 3, 2, noise_scale=0.7, random_state=4)
    run = run_em(*started(X, y, 2), max_iter=3, tol=1e-9)
    assert not run.converged
    assert len(run.points) == 4
