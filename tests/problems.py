"""What the tests of likelihood and search share: a problem over standardised inputs, and a start in it."""

from dataclasses import replace

import numpy as np

from skmoe.arrays.table_moments import table_moments
from skmoe.likelihood import InputMap, MappedRows, Problem, Settings, Theta
from skmoe.likelihood.batch import BatchSums, batch_sums
from skmoe.model import GaussianFamily
from skmoe.model.activations import get_activation
from skmoe.model.gate import with_zero_row
from skmoe.search.config import SearchConfig
from skmoe.search.records import Control
from skmoe.search.standardise import standardised
from skmoe.search.starts import labelled_start, pooled_regression
from skmoe.search.task import ModelSpec, prepare
from skmoe.tables.inputs import RowsToFit


def family(g):
    return GaussianFamily(get_activation(g))


def standard_problem(X, y, k, g="linear", *, intercept=True, weight=None, **settings):
    """A problem over inputs of unit covariance, outputs as they are."""
    moments = table_moments(X, y, weight)
    rows = MappedRows.of(X, y, standardised(moments, intercept=intercept, outputs=False), weight)
    return Problem(rows, k, family(g), Settings(**settings), moments.y_std)


def started(X, y, k, seed=0, g="linear", **settings):
    """Such a problem, and a start from random labels."""
    problem = standard_problem(X, y, k, g, **settings)
    return problem, labelled_start(problem, np.random.default_rng(seed).integers(k, size=len(y)))


def random_problem(rng, n=80, d=3, k=3, noise="shared", g="linear", xp=np, weighted=True, settings=None, **how):
    """A problem over random rows with weights, how they are seen given by `how`, and a random point of it."""
    X, y = rng.standard_normal((n, d)), rng.standard_normal(n)
    weight = rng.integers(1, 4, n).astype(float) if weighted else None
    map = InputMap(how.pop("center", np.zeros(d)), **how)
    rows = MappedRows.of(xp.asarray(X), xp.asarray(y), map, None if weight is None else xp.asarray(weight))
    problem = Problem(rows, k, family(g), settings or Settings(noise=noise, penalty=0.3), rows.y_std())
    sigma = rng.uniform(0.5, 1.5, k) if noise == "per-expert" else np.full(k, 0.7)
    A, W = rng.standard_normal((k, map.De)), with_zero_row(rng.standard_normal((k - 1, map.Dg)))
    return problem, Theta(A, W, sigma)


def sums_of(problem, theta):
    """The sums of an EM step of one model."""
    sums = batch_sums(problem, Theta.stacked([theta]))
    return BatchSums(*(part[0] for part in vars(sums).values()))


def task_of(X, y, config=None, penalty="auto"):
    """A table prepared for a fit of linear experts, penalty and all, and the generator that prepared it."""
    spec = ModelSpec(family("linear"), "per-expert", penalty, True)
    rng = np.random.default_rng(0)
    task = prepare(RowsToFit(X, y, None, None), spec, "auto", rng, Control(), config or SearchConfig())
    strength = task.config.folds.penalties[0] if penalty == "auto" else penalty
    return replace(task, penalty=strength, pooled=pooled_regression(task.problem(1)).A[0]), rng
