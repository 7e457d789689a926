from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from problems import task_of
from skmoe import make_moe
from skmoe.search.ensemble import average, stacked_shares
from skmoe.search.finish import maximise
from skmoe.search.folds import HeldOut, converged, fit_folds, folds_of
from skmoe.search.number import choose
from skmoe.search.optimiser import Point


@pytest.fixture(scope="module")
def table():
    return make_moe(400, 3, 2, noise_scale=0.3, random_state=0)[:2]


@pytest.fixture(scope="module")
def task(table):
    return task_of(*table)[0]


def test_every_row_is_held_out_once(task):
    folds = folds_of(task, 20, np.random.default_rng(0))
    assert np.array_equal(np.sort(np.concatenate([f.held_out for f in folds.parts])), np.arange(400))
    for fold in folds.parts:
        assert fold.train.n + fold.test.n == 400
        rows = {tuple(row) for row in fold.train.X.tolist()}
        assert not rows & {tuple(row) for row in fold.test.X.tolist()}


def test_large_tables_are_sampled(task):
    config = task.config.changed("rows", plenty=5, least_rows=100).changed("folds", most_rows=150)
    few = replace(task, config=config)
    assert folds_of(few, 10, np.random.default_rng(0)).n == 100
    assert folds_of(few, 25, np.random.default_rng(0)).n == 125
    assert folds_of(few, 1000, np.random.default_rng(0)).n == 150


def test_too_few_rows_have_no_folds(rng):
    X = rng.standard_normal((6, 4))
    assert folds_of(task_of(X, X[:, 0])[0], 10, np.random.default_rng(0)) is None


def test_held_out_density_is_that_of_models_that_did_not_see_the_row(task):
    rng = np.random.default_rng(0)
    folds = folds_of(task, 20, rng)
    (fits,) = fit_folds(task, folds, 2, [0.3], 3, rng)
    held_out, best = HeldOut.of(folds, [fits], [1.0]), HeldOut.of(folds, [fits.of_best()], [1.0])
    for f, fold in enumerate(folds.parts):
        family, plain = fits.problems[f].family, fold.test.map
        X = fold.test.X[:, :-1]
        each = []
        for theta in fits.thetas[f]:
            in_z = replace(plain, center=np.zeros(plain.width), transform=None, y_shift=0.0, y_scale=1.0)
            each.append(in_z.to_parameters(theta, family).log_density(X, fold.test.y))
        assert np.allclose(held_out.log_density[fold.held_out], logsumexp(each, axis=0) - np.log(len(each)))
        assert np.allclose(best.log_density[fold.held_out], each[0])


def test_models_of_a_fold_do_not_depend_on_its_rows(task):
    """Outputs of held-out rows may be anything."""

    def fitted(shift):
        rng = np.random.default_rng(0)
        folds = folds_of(task, 20, rng)
        first = folds.parts[0]
        rows = replace(folds.rows, y=folds.rows.y.copy())
        rows.y[first.held_out] += shift
        return fit_folds(task, replace(folds, rows=rows), 2, [0.3], 2, rng)[0].best[0]

    assert np.allclose(fitted(0.0).A, fitted(100.0).A, rtol=0, atol=1e-10)


def test_converged_models_are_optima_and_other_penalties_move_them(task):
    rng = np.random.default_rng(0)
    folds = folds_of(task, 20, rng)
    (fits,) = fit_folds(task, folds, 2, [0.3], 2, rng)
    loose, tight = converged(task, folds, fits, [0.0, 300.0])
    assert [len(thetas) for thetas in loose.thetas] == [1] * 5
    assert (loose.penalty, tight.penalty) == (0.0, 300.0)
    assert {problem.settings.penalty for problem in tight.problems} == {300.0}
    for f in range(5):
        spread = [np.linalg.norm(np.diff(fit.best[f].A, axis=0)) for fit in (loose, tight)]
        assert spread[1] < spread[0]  # experts are drawn together


def test_rounded_outputs_are_spread_over_their_steps(rng):
    X = rng.standard_normal((300, 2))
    task = task_of(X, np.round(2 * X[:, 0] + rng.standard_normal(300)))[0]
    assert task.step * task.map.y_scale == pytest.approx(1.0)
    folds = folds_of(task, 10, np.random.default_rng(0))
    y = np.concatenate([task.map.y_shift + task.map.y_scale * fold.test.y for fold in folds.parts])
    off = np.abs(y - np.round(y))
    assert 0.2 < np.mean(off) < 0.3  # even over half a step
    for fold in folds.parts:  # rows to fit to are as they are
        y = task.map.y_shift + task.map.y_scale * fold.train.y
        assert np.allclose(y, np.round(y))


def test_batch_of_all_folds_is_that_of_each_by_itself(task):
    """Rows that are held out have no weight in the sums of their fold's models."""
    rng = np.random.default_rng(0)
    folds = folds_of(task, 20, rng)
    (fits,) = fit_folds(task, folds, 2, [0.3], 2, rng)
    (fits,) = converged(task, folds, fits, [0.3])
    for problem, theta in zip(fits.problems, fits.best, strict=True):
        alone = maximise(problem, theta)
        # at the optimum of the fold's problem, to within what a run leaves
        assert 0 <= (alone.objective - Point(problem, theta).objective) * problem.total < 0.1


def test_stacked_shares_maximise_the_density_of_the_average(rng):
    densities = rng.standard_normal((3, 500)) + np.array([0.0, 0.3, -2.0])[:, None]
    weight = np.ones(500)
    shares = stacked_shares(densities, weight)
    assert np.sum(shares) == pytest.approx(1.0)

    def level(w):
        return np.mean(logsumexp(densities, axis=0, b=w[:, None]))

    for i in range(3):
        for j in range(3):
            moved = shares.copy()
            step = min(1e-3, shares[i])
            moved[i] -= step
            moved[j] += step
            assert level(moved) <= level(shares) + 1e-7


def test_average_has_as_many_models_as_asked_for(task):
    choice = choose(task, "auto", 12, np.random.default_rng(0))
    members = average(task, choice, 12)
    assert len(members.parameters) == len(members.weights) <= 12
    assert np.sum(members.weights) == pytest.approx(1.0)
    assert np.min(members.weights) > 0
    assert {len(p.A) for p in members.parameters} <= {t.k for t in choice.tried}
    assert members.held_out.log_density.shape == (400,)
