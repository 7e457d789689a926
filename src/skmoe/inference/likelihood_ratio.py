r"""A test of k experts against k + 1: the likelihood ratio beside those of tables simulated with k experts.

With one expert too many its parameters are not identified, and the ratio is not chi-squared. Its distribution is
simulated instead: outputs are drawn from the fitted model with k experts at the inputs of the rows, and both numbers of
experts are fitted to each such table. The tables share their inputs, so that all starts of many tables are one batch
of models, with outputs (n, S) of their own.

A ratio depends on how well both fits are searched for. The rows themselves are therefore treated as the simulated
tables are: the same kinds and numbers of starts, the same stop.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from skmoe.arrays.namespaces import Array, array_namespace
from skmoe.arrays.table_moments import table_moments
from skmoe.inference.formatting import experts
from skmoe.inference.summary import Summary, feature_names
from skmoe.likelihood import MappedRows, Problem, Theta
from skmoe.model.fitted import FittedMixture
from skmoe.search.config import SearchConfig
from skmoe.search.records import Control, Start, StartKind
from skmoe.search.results import RunResult, ranked, run_all
from skmoe.search.splits import grown_starts
from skmoe.search.standardise import standardised
from skmoe.search.starts import drawn_starts
from skmoe.search.task import ModelSpec, Task, most_experts
from skmoe.tables.chosen import chosen_inputs

__all__ = ["ExpertsTest", "likelihood_ratio_test"]

LEAST_PENALTY = 1e-5  # keeps gates finite on separable rows; fits are of maximum likelihood otherwise
FRESH = (StartKind.JOINT, StartKind.VORONOI)  # random starts of each fit
SPLITS = 4  # of the fit with k experts that the one with k + 1 starts from
TABLES = 20  # in a batch: one at a time takes three times as long, all of 99 a little longer
MOST_DOUBLES = 2**24  # outputs of a batch, 128 MiB: with many rows it takes fewer tables


@dataclass(frozen=True)
class ExpertsTest:
    """Result of a test of k experts against k + 1; prints itself as a table.

    Attributes
    ----------
    n_experts : int
        The number k that is tested.
    ratio : float
        Twice the gain in total log-likelihood by one expert more.
    bootstrap_ratios : (n_bootstrap,) array
        The same of the tables simulated with k experts.
    """

    n_experts: int
    ratio: float
    bootstrap_ratios: np.ndarray

    @property
    def p_value(self) -> float:
        """Share of tables, with the rows themselves, whose ratio is at least that of the rows."""
        return float(1 + np.sum(self.bootstrap_ratios >= self.ratio)) / (1 + len(self.bootstrap_ratios))

    def summary(self) -> Summary:
        """Return a table of the test.

        Returns
        -------
        Summary
            The table, which prints itself.
        """
        k, B, p = self.n_experts, len(self.bootstrap_ratios), self.p_value
        table = Summary(
            f"{experts(k)} against {k + 1}: likelihood ratio, parametric bootstrap", ("", "value", "in words")
        )
        middle, high = np.quantile(self.bootstrap_ratios, [0.5, 0.95])
        verdict = (
            f"{experts(k)} would hardly give such a ratio: the rows ask for more"
            if p <= 0.05
            else f"{experts(k)} give such ratios as well: the rows do not ask for more"
        )
        table.rows += [
            ("likelihood ratio", float(self.ratio), f"twice the log-likelihood gained by {k + 1} over {k}"),
            ("simulated, median", float(middle), f"the same of {B} tables drawn from the fit with {experts(k)}"),
            ("simulated, 95%", float(high), "a larger ratio than this is rare among them"),
            ("p value", p, verdict),
        ]
        table.notes += [
            f"standard error of the p value {np.sqrt(p * (1 - p) / B):.2g}, by the number of tables drawn",
            "other noise than the model's, skewed or with heavy tails, asks for more experts as well",
        ]
        return table

    def __str__(self) -> str:
        return str(self.summary())

    __repr__ = __str__


def likelihood_ratio_test(
    model: FittedMixture, X: Array, y: Array, n_bootstrap: int, rng: np.random.Generator, config: SearchConfig
) -> ExpertsTest:
    """Test the number of experts of a fitted `MoERegressor` on rows in memory.

    Fits are of maximum likelihood, whatever the model's own method and penalty; tables are drawn from the fit with k
    experts that starts from the model's parameters.
    """
    problem = _problem(model, X, y, config)
    xp, scale = array_namespace(problem.rows.y), problem.rows.map
    # a generator for each table, so that results do not depend on how tables are put into batches
    first, *others = map(np.random.default_rng, rng.integers(2**63, size=n_bootstrap + 1))
    ratios, fits = _ratios(problem, problem.rows.y[:, None], scale.from_parameters(model.parameters_), [first], config)
    theta, drawn = fits[0].start.theta, list[np.ndarray]()
    null = scale.to_parameters(theta, model.parameters_.family.any_experts)
    # of two results at one optimum rounding decides which is the best: what is drawn must not depend on their order
    null = null.permuted(np.lexsort(null.A.reshape(problem.k, -1).T[::-1]))
    for batch in _batches(others, problem.n):
        tables = xp.stack([scale.outputs(null.sample(X, table)[0]) for table in batch], axis=1)
        drawn.append(_ratios(problem, tables, theta, batch, config)[0])
    return ExpertsTest(problem.k, float(ratios[0]), np.concatenate(drawn))


def _batches(tables: list[np.random.Generator], n: int) -> list[list[np.random.Generator]]:
    """Divide tables into batches of about equal size that n rows allow."""
    most = min(TABLES, max(1, MOST_DOUBLES // (n * (SPLITS + len(FRESH)))))
    bounds = np.linspace(0, len(tables), -(-len(tables) // most) + 1).round().astype(int)
    return [tables[start:stop] for start, stop in pairwise(bounds)]


def _problem(model: FittedMixture, X: Array, y: Array, config: SearchConfig) -> Problem:
    """Return the problem of maximum likelihood with the model's number of experts, on the standardised scale."""
    names, (n, d) = feature_names(model), X.shape
    columns: dict[str, Any] = {
        "expert_columns": chosen_inputs(model, "expert"),
        "gate_columns": chosen_inputs(model, "gate"),
    }
    family, intercept, k = model.parameters_.family.any_experts, bool(model.fit_intercept), int(model.n_experts_)
    spec = ModelSpec(family, model.noise, LEAST_PENALTY, intercept, **columns)
    transform_response = None if family.base is family else family.transform_response
    moments = table_moments(X, y, None, names, transform_response)
    moments = moments if intercept else moments.from_zero(names, "fit_intercept=False")
    most = most_experts(spec, moments, config)
    if most < k + 1:
        raise ValueError(
            f"a test of {k} against {k + 1} experts needs two rows per coefficient of an expert; {n} rows of {d} "
            f"columns support {most}: use more rows, or a model with fewer experts"
        )
    scale = standardised(
        moments,
        intercept=intercept,
        outputs=family.base.location_scale,
        **columns,
        transform_response=transform_response,
    )
    rows = MappedRows.of(X, y, scale).subset()
    return Task(spec, moments, rows, rows, moments.rows, Control(), config).problem(k)


def _ratios(
    problem: Problem, tables: Array, near: Theta, rngs: list[np.random.Generator], config: SearchConfig
) -> tuple[np.ndarray, list[RunResult]]:
    """Return likelihood ratios (T,) of tables (n, T) of outputs, and the fits with k experts, started near `near`."""
    bigger = problem.with_experts(problem.k + 1)
    begin = Start("fitted", StartKind.CHOSEN, near)
    fresh = _fresh(problem, tables, rngs, config)
    small = _best(problem, tables, [[begin, *random] for random in fresh], config)
    fits = [result.start.theta for result in small]
    grown = grown_starts(bigger.on(replace(problem.rows, y=tables)), fits, config, rngs[0], SPLITS)
    each = len(grown) // len(fits)
    fresh = _fresh(bigger, tables, rngs, config)
    starts = [[*grown[t * each : (t + 1) * each], *random] for t, random in enumerate(fresh)]
    large = _best(bigger, tables, starts, config)
    gains = [b.log_likelihood - a.log_likelihood if b.admissible else 0.0 for a, b in zip(small, large, strict=True)]
    return 2 * problem.total * np.maximum(gains, 0.0), small  # k + 1 experts can do what k can


def _fresh(problem: Problem, tables: Array, rngs: list[np.random.Generator], config: SearchConfig) -> list[list[Start]]:
    """Draw random starts for each table; a single regression needs none."""
    if problem.k == 1:
        return [[] for _ in rngs]
    each = (problem.on(replace(problem.rows, y=tables[:, t])) for t in range(len(rngs)))
    return [drawn_starts(one, FRESH, 0, rng, config) for one, rng in zip(each, rngs, strict=True)]


def _best(problem: Problem, tables: Array, starts: list[list[Start]], config: SearchConfig) -> list[RunResult]:
    """Return the best result of each table, admissible ones first; the starts of all tables are run as one batch."""
    groups = np.repeat(np.arange(len(starts)), [len(of_table) for of_table in starts])
    rows = replace(problem.rows, y=tables).for_models(groups)
    every = [start for of_table in starts for start in of_table]
    results = run_all(problem.on(rows), every, config, groups=groups.tolist())
    # a run that was stopped early counts too where the others are not admissible
    return [ranked(result for result in results if result.group == t)[0] for t in range(len(starts))]
