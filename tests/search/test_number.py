from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone

import skmoe
from problems import task_of
from skmoe import MoERegressor, make_moe
from skmoe.search.config import SearchConfig
from skmoe.search.number import Tried, _simplest, choose, gain
from skmoe.search.records import OutOfTimeError


def test_number_that_rows_came_from_is_chosen():
    X, y, _ = make_moe(1500, 3, 2, noise_scale=0.2, random_state=1)
    choice = choose(*task_of(X, y)[:1], "auto", 0, np.random.default_rng(0))
    assert [t.k for t in choice.tried] == [1, 2, 3, 4]  # two beyond the best
    assert choice.k == 2
    assert min(choice.tried, key=lambda t: t.bic(1500)).k == 2
    assert min(choice.tried, key=lambda t: t.icl(1500)).k == 2


def test_a_larger_number_must_gain_more_than_a_standard_error():
    """Noise about one line: two experts gain or lose a little, and are not taken."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((200, 2))
        task, generator = task_of(X, X[:, 0] + rng.standard_normal(200))
        choice = choose(task, "auto", 0, generator)
        one, two = choice.tried[:2]
        mean, error = gain(two.held_out, one.held_out, choice.folds.weight)
        assert choice.k == 1 or mean > error
    assert choice.k == 1
    assert choice.penalty == 0  # of one expert


def tried(k, mean, seen, n=400, error=0.002):
    """Held-out log densities of so many experts, whose differences have that standard error, or nearly."""
    noise = np.random.default_rng(k).choice([-1, 1], n) * error * np.sqrt(n / 2)
    return Tried(k, mean + noise - np.mean(noise), np.nan, seen, [], None, 0.0, 0.0, 0)


@pytest.mark.parametrize(("gained", "seen", "k"), [(0.015, 1.0, 3), (0.015, 0.1, 2), (0.03, 0.1, 3), (0.001, 1.0, 2)])
def test_experts_that_no_other_fold_shows_must_gain_more(gained, seen, k):
    numbers = [tried(1, -1.0, 1.0), tried(2, 0.0, 1.0), tried(3, gained, seen)]
    folds = SimpleNamespace(weight=np.ones(400))
    assert _simplest(numbers, folds, SearchConfig()).k == k


def test_smallest_number_within_a_standard_error_of_the_best_is_chosen():
    """Four gain too little over three, and five gain over three what they do not gain over four."""
    numbers = [tried(3, 0.0, 1.0), tried(4, 0.0015, 1.0), tried(5, 0.0025, 1.0)]
    folds = SimpleNamespace(weight=np.ones(400))
    (small, _), (large, error) = (gain(numbers[2].held_out, t.held_out, folds.weight) for t in numbers[1::-1])
    assert small < error < large
    assert _simplest(numbers, folds, SearchConfig().changed("number", unseen_gain=0.0)).k == 4


def test_experts_that_rows_have_are_seen_in_every_fold():
    X, y, _ = make_moe(800, 3, 2, noise_scale=0.2, random_state=1)
    choice = choose(*task_of(X, y)[:1], "auto", 0, np.random.default_rng(0))
    seen = {t.k: t.stability for t in choice.tried}
    assert seen[1] == seen[2] == 1.0
    assert seen[3] < 1.0


def test_criteria_are_those_of_the_model_at_hand():
    X, y, _ = make_moe(800, 3, 2, noise_scale=0.2, random_state=1)
    task, rng = task_of(X, y)
    choice = choose(task, "auto", 0, rng)
    two = next(t for t in choice.tried if t.k == 2)
    parameters = task.map.to_parameters(two.theta, task.spec.family)
    total = np.sum(parameters.log_density(X, y)) + 800 * np.log(task.map.y_scale)
    R = parameters.responsibilities(X, y)
    entropy = -np.sum(R[R > 0] * np.log(R[R > 0]))
    assert two.bic(800) == pytest.approx(two.n_parameters * np.log(800) - 2 * total, rel=1e-9)
    assert two.icl(800) - two.bic(800) == pytest.approx(2 * entropy, rel=1e-9)


@pytest.mark.parametrize(("n", "most"), [(20, 1), (28, 2), (45, 2), (46, 3)])
def test_no_more_experts_are_tried_than_rows_can_carry(rng, n, most):
    """Two rows for each parameter, of gate and noise too: 5, 14 and 23 parameters of one to three experts here."""
    X = rng.standard_normal((n, 3))
    y = np.sign(X[:, 0]) + np.sign(X[:, 1]) + np.where(X[:, 2] > 0, 2.0, -2.0) * X[:, 2]  # as many as can be had
    y = y + 0.01 * rng.standard_normal(n)
    task, generator = task_of(X, y, SearchConfig().changed("number", patience=10))
    choice = choose(task, "auto", 0, generator)
    assert [t.k for t in choice.tried] == list(range(1, most + 1))
    assert [task.problem(k).n_parameters for k in (1, 2, 3)] == [5, 14, 23]


def test_penalty_follows_held_out_rows(rng):
    """Two experts for one line and much noise are drawn together; two clear laws are left alone."""
    X = rng.standard_normal((120, 6))
    line = X @ np.ones(6) + rng.standard_normal(120)
    task, generator = task_of(X, line)
    choice = choose(task, 2, 0, generator)
    told = dict(choice.penalties)
    assert choice.penalty >= task.config.folds.penalties[0]
    assert told[30.0] > max(told[0.3], told[0.03])
    laws = np.where(X[:, 0] > 0, X @ np.ones(6), -3 * X[:, 1]) + 0.01 * rng.standard_normal(120)
    task, generator = task_of(X, laws)
    assert choose(task, 2, 0, generator).penalty <= task.config.folds.penalties[0]


def test_a_penalty_asked_for_is_kept(rng):
    X = rng.standard_normal((120, 2))
    task, generator = task_of(X, np.abs(X[:, 0]) + 0.1 * rng.standard_normal(120), penalty=7.0)
    choice = choose(task, 2, 0, generator)
    assert (choice.penalty, choice.fits.penalty, choice.penalties) == (7.0, 7.0, [])


def test_what_was_tried_in_time_is_chosen_from():
    X, y, _ = make_moe(1500, 3, 3, noise_scale=0.2, random_state=1)
    task, rng = task_of(X, y)

    def late(progress):
        if progress.n_experts == 3:
            raise OutOfTimeError

    choice = choose(replace(task, control=replace(task.control, progress=late)), "auto", 0, rng)
    assert [t.k for t in choice.tried] == [1, 2]
    assert choice.k == 2
    assert choice.stopped_at.A.shape == (2, 4)


def test_largest_number_is_that_of_clones_and_saved_models_too(tmp_path):
    X, y, _ = make_moe(1200, 3, 3, noise_scale=0.05, random_state=0)
    assert MoERegressor("auto", n_init=2, random_state=0).fit(X, y).n_experts_ > 2
    model = MoERegressor("auto", max_experts=2, n_init=2, random_state=0).fit(X, y)
    model.save(tmp_path / "model.skmoe")
    for other in (model, clone(model), clone(skmoe.load(tmp_path / "model.skmoe"))):
        seen = []
        again = other.set_params(random_state=0, verbose=seen.append).fit(X, y)
        assert again.n_experts_ == 2
        assert {p.most_experts for p in seen} == {2}
