"""The comparison with peers: what it computes itself, none of the peers needed."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture

from benchmarks import peers
from benchmarks.peers import measure, problems
from benchmarks.peers import peers_page as page
from benchmarks.peers import run as command
from benchmarks.peers.with_scikit_learn import conditional
from skmoe.model.parameters import MoEParameters

ROOT = Path(__file__).parents[2]

PROBLEMS = problems.PROBLEMS

FIRST = next(iter(PROBLEMS))


@pytest.fixture
def mixture(rng):
    rows = rng.standard_normal((400, 4)) * [1, 2, 0.5, 1]
    rows[:, -1] += np.where(rows[:, 0] > 0, rows[:, 1], -3 * rows[:, 2])
    return GaussianMixture(3, random_state=0).fit(rows), rows


def test_conditional_density_is_joint_over_marginal(mixture):
    model, rows = mixture
    fitted = conditional(model)
    parts = [
        np.log(w) + multivariate_normal(m[:-1], C[:-1, :-1]).logpdf(rows[:, :-1])
        for w, m, C in zip(model.weights_, model.means_, model.covariances_, strict=True)
    ]
    expected = model.score_samples(rows) - logsumexp(parts, axis=0)
    np.testing.assert_allclose(fitted.log_density(rows[:, :-1], rows[:, -1]), expected, rtol=0, atol=1e-9)


def test_conditional_prediction_is_the_mean_of_its_density(mixture):
    model, rows = mixture
    fitted = conditional(model)
    grid = np.linspace(-60, 60, 60_001)
    for x in rows[:3, :-1]:
        density = np.exp(fitted.log_density(np.tile(x, (len(grid), 1)), grid))
        assert np.sum(density) * (grid[1] - grid[0]) == pytest.approx(1, abs=1e-6)
        assert np.sum(density * grid) * (grid[1] - grid[0]) == pytest.approx(fitted.predict(x[None])[0], abs=1e-6)


def test_coefficient_error_ignores_order_and_units_of_columns(rng):
    truth, spread = rng.standard_normal((3, 4)), np.array([1e-3, 1.0, 50.0, 1e4])
    away = truth + 0.01 * rng.standard_normal((3, 4))
    plain = np.linalg.norm(away - truth) / np.linalg.norm(truth)
    assert problems.coefficient_error(away[[2, 0, 1]] / spread, truth / spread, spread) == pytest.approx(plain)


def test_judge_gives_the_same_figures_in_raw_and_in_standard_units(rng):
    raw = PROBLEMS["n=2000, d=5, k=3, sigma 0.1, intercepts and units"](0)
    p = raw.truth
    mean, spread, center, scale = raw.X.mean(axis=0), raw.X.std(axis=0), raw.y.mean(), raw.y.std()
    b, c = (p.b + p.A @ mean - center) / scale, p.c + p.W @ mean
    standard = MoEParameters(p.A * spread / scale, p.W * spread, p.sigma / scale, b=b, c=c)

    def judged(q, own_units):
        found = measure.judge(peers.Fitted(q.predict, q.log_density, q.A), raw, own_units=own_units)
        return [found[key] for key in ("rmse", "log_density", "fitted_log_density", "coefficient_error")]

    np.testing.assert_allclose(judged(standard, False), judged(p, True), rtol=1e-9, atol=1e-9)


def test_judge_calls_a_density_that_is_not_finite_an_error(rng):
    X, y = rng.standard_normal((20, 2)), rng.standard_normal(20)
    fitted = peers.Fitted(lambda X: X[:, 0], lambda X, y: np.full(len(y), -np.inf))
    assert "not finite" in measure.judge(fitted, problems.Problem(X, y, X, y, 2), own_units=True)["error"]


def test_problem_in_units_has_wild_columns_and_rows_for_every_expert():
    for seed in range(5):
        problem = PROBLEMS["n=2000, d=5, k=3, sigma 0.1, intercepts and units"](seed)
        spread = problem.X.std(axis=0)
        assert spread.max() > 10 * spread.min()
        assert np.max(np.abs(problem.X.mean(axis=0)) / spread) > 5
        # intercepts that did not follow the shift of the columns would leave rows to one expert alone
        assert np.min(problem.truth.gate_proba(problem.X).mean(axis=0)) > 0.05
        assert 10 < problem.y.std() < 100


def test_a_peer_that_is_not_installed_says_how_to_get_it():
    assert "pip install no-such-peer" in peers.packaged("no-such-peer", {}, "no_such_peer.part").missing()
    assert peers.packaged("skmoe", {}, "skmoe.estimators.regressor").missing() is None


def test_every_peer_can_be_listed_without_its_library():
    listed = peers.all_peers()
    assert len(listed) == len(peers.PLUGINS)
    assert sum(len(peer.methods) for peer in listed) == len(peers.all_methods())


def test_plan_leaves_out_what_is_missing_slow_or_only_for_tables():
    tables = [name for name in PROBLEMS if not name.startswith("n=")]
    made = {method for _, _, method in command.plan([FIRST], [0], None, {})}
    real = {method for _, _, method in command.plan(tables, [0], None, {"cgmm": "not installed"})}
    assert command.TRUTH in made
    assert "GaussianMixture, tuned" not in made
    assert "GaussianMixture, tuned" in real
    assert not any("cgmm" in method for method in real)
    assert "SMT MOE, Kriging" not in real
    assert command.plan(tables[:1], [3], ["SMT MOE, Kriging"], {}) == [(tables[0], 3, "SMT MOE, Kriging")]


def test_measure_fits_in_a_fresh_process_and_stops_at_the_limit():
    found = measure.measure("GaussianMixture", FIRST, 0, 100)
    assert "error" not in found
    assert found["cpu_seconds"] > 0
    assert found["log_density"] < measure.truth_record(FIRST, 0)["log_density"]
    assert "limit" in measure.measure("GaussianMixture", FIRST, 0, 0.001)["error"]


def _results():
    def record(seed, method, **found):
        return {"problem": "p", "seed": seed, "method": method, **found}

    good = {"rmse": 0.5, "log_density": -1.0, "fitted_log_density": -0.9, "coefficient_error": None, "memory_mib": None}
    records = [
        record(0, "skmoe", cpu_seconds=1.0, wall_seconds=1.0, **good),
        record(0, "peer", cpu_seconds=4.0, wall_seconds=4.0, **good),
        record(1, "skmoe", cpu_seconds=2.0, wall_seconds=2.0, **good),
        record(1, "peer", error="it broke"),
    ]
    return {
        "records": records,
        "commands": ["c"],
        "seeds": [0, 1],
        "limit": 9,
        "versions": {},
        "skipped": {},
        "methods": {},
    }


def test_table_counts_failures_and_takes_ratios_on_the_same_seed():
    row = page.problem_table(_results()["records"], "p").splitlines()[-1].split(" | ")
    assert row[0] == "| peer"
    assert row[-1] == "1 of 2 |"
    assert row[page.HEADS.index("times skmoe")] == "4.0"


def test_update_fills_the_markers_and_refuses_a_page_without_them(tmp_path):
    file = tmp_path / "page.md"
    names = list(page.blocks(_results()))
    file.write_text("".join(f"before\n<!-- results: {name} -->\nold\n<!-- end -->\n" for name in names))
    page.update(_results(), file)
    text = file.read_text()
    assert "old" not in text
    assert "peer on p, seed 1: it broke" in text
    assert "**p** (seeds 0, 1)" in text
    file.write_text("no markers")
    with pytest.raises(ValueError, match="one block named"):
        page.update(_results(), file)


def test_page_shows_the_results_that_are_kept(tmp_path):
    shown = command.PAGE
    copy = tmp_path / "peers.md"
    copy.write_text(shown.read_text())
    page.update(json.loads(command.RESULTS.read_text()), copy)
    assert copy.read_text() == shown.read_text()


@pytest.mark.parametrize(("rows", "place"), [("5000", "n=5000, d=5, k=3"), ("40000", "the same at n=40,000")])
def test_times_of_flexmix_on_the_page_are_those_recorded(rows, place):
    found = json.loads((ROOT / "benchmarks/results/fits.json").read_text())[rows]
    times = [(fit["successful"] + fit["refit"]) / fit["ours"] for fit in found]
    line = next(line for line in (ROOT / "docs/peers.md").read_text().splitlines() if place in line)
    spread = f" ({min(times):.0f} to {max(times):.0f} over" if len(times) > 1 else " (one problem)"
    assert f"| 1 | {np.median(times):.0f}{spread}" in line
