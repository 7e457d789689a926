"""Claims of the paper's section 4 and appendix H about figures 3 to 6."""

from __future__ import annotations

from collections import Counter

import numpy as np

from .. import tables
from ..tables import Found
from ..wording import against, listed, paired_difference
from .records import CONFIRMED, NOT, Reading, Results, claim, judged
from .recovery import SHORT

WITHIN = 0.05  # of its end, at which an error is said to have arrived
OFTEN = 0.9  # a share below this is "often stuck"


@claim("figure 3a", "the gate converges in under 5 iterations", "figure3")
def gate_alone(results: Results) -> Reading:
    """Confirmed where every trial stays within 0.01 of its end after fewer than 5 iterations, partly where most do."""
    found, held, cells = results["figure3"], [], []
    for method in ("paper", "default"):
        counts = tables.iterations_to_end(found, method)
        held += [counts.max() < 5, np.median(counts) < 5]
        cells.append(f"{SHORT[method]} {np.mean(counts):.1f} on average, {counts.max()} at most")
    return Reading(f"iterations until GatingFit stays within 0.01 of its end: {'; '.join(cells)}", judged(held))


def compared(found: Found) -> list[str]:
    """Settings in which methods are compared."""
    return [setting for setting in found.settings if setting != "a"]


def stage_methods(found: Found, setting: str) -> list[str]:
    """The variants of the two stages that ran, without refinement."""
    return [m for m in found.methods(setting) if m.endswith("two stages")]


def ends(found: Found, method: str) -> list[float]:
    """Median errors at the end, by setting."""
    return [float(np.median(found.values(s, method, "final"))) for s in compared(found)]


def optimum(found: Found, method: str) -> list[float]:
    """Shares of trials at the optimum, by setting."""
    return [float(tables.at_optimum(found, s)[method].mean()) for s in compared(found)]


def curves(results: Results, name: str) -> Reading:
    """Confirmed where in every setting some variant of the two stages has the smaller error, by a paired t-test."""
    found = results[name]
    first = compared(found)[0]
    shown = [*stage_methods(found, first), "our two stages, refined", "joint EM"]
    errors = "; ".join(f"{m} {' / '.join(f'{e:.2f}' for e in ends(found, m))}" for m in shown)
    shares = "; ".join(
        f"{m} {' / '.join(f'{s:.0%}' for s in optimum(found, m))}" for m in ("our two stages, refined", "joint EM")
    )
    held = []
    for setting in compared(found):
        rival = found.values(setting, "joint EM", "final")
        better = [
            paired_difference(found.values(setting, m, "final"), rival)[0] < 0 for m in stage_methods(found, first)
        ]
        held.append(any(better))
    refined = [
        against(found.values(s, "our two stages, refined", "final"), found.values(s, "joint EM", "final"))
        for s in compared(found)
    ]
    text = (
        f"median error at the end: {errors}; at the optimum: {shares}; the two stages alone have the smaller error in "
        f"{sum(held)} of {len(held)} settings, refined they have an error {' / '.join(refined)} joint EM's (paired "
        "t-tests)"
    )
    return Reading(text, judged(held))


@claim("figures 3b, 3c", "much smaller error than joint EM, which often gets stuck", "figure3")
def figure_3(results: Results) -> Reading:
    """See `curves`."""
    return curves(results, "figure3")


def arrivals(found: Found, setting: str, method: str) -> np.ndarray:
    """Iterations after which each trial's E(A, W) stays within 5% of where it ends."""
    counts = []
    for trial in found.trials[setting]:
        path, last = np.array(trial[method]["error"]), trial[method]["final"]
        away = np.flatnonzero(np.abs(path - last) > WITHIN * last)
        counts.append((int(away[-1]) + 1 if len(away) else 0) * trial[method]["every"])
    return np.array(counts)


@claim("section 4.3", "learned in often less than 10 iterations", "figure3")
def few_iterations(results: Results) -> Reading:
    """Confirmed where the medians of the two stages, the paper's and ours, are below 10 for both k."""
    found = results["figure3"]
    counts = {
        m: [float(np.median(arrivals(found, s, m))) for s in compared(found)]
        for m in stage_methods(found, compared(found)[0])
    }
    cells = ", ".join(f"{m} {listed(values, 'g')}" for m, values in counts.items())
    text = f"median iterations until E(A, W) stays within 5% of its end, k = 3, 4: {cells}"
    return Reading(text, judged([count < 10 for values in counts.values() for count in values]))


@claim("figures 3b, 3c", "and in fewer iterations than joint EM", "figure3")
def fewer_than_joint_em(results: Results) -> Reading:
    """Confirmed where the two stages need fewer iterations for both k, by a paired t-test."""
    found, held, parts = results["figure3"], [], []
    for setting in compared(found):
        rival = arrivals(found, setting, "joint EM")
        ours = (arrivals(found, setting, method) for method in stage_methods(found, setting))
        held += [paired_difference(counts, rival)[0] < 0 for counts in ours]
        parts.append(f"{np.median(rival):g} ({setting.split(', ')[1]})")
    return Reading(f"joint EM by the same rule: {', '.join(parts)}", judged(held))


@claim("figure 4", "the same for n = 1000, 5000, 10000", "figure4")
def figure_4(results: Results) -> Reading:
    """See `curves`."""
    return curves(results, "figure4")


@claim("figure 5", "the same for sigmoid and ReLU (sigma 0.5, 0.1)", "figure5")
def figure_5(results: Results) -> Reading:
    """See `curves`."""
    return curves(results, "figure5")


@claim("sections 1, 2, 4.3", "joint EM is prone to bad local optima", "scaling-panel")
def spurious_optima(results: Results) -> Reading:
    """Confirmed where one random start misses the optimum in more than a tenth of the runs in some setting."""
    found = results["scaling-panel"]
    named = [s for s in found.settings if s.startswith("k = ")]
    rows = []
    for method in tables.scaling_methods(found):
        shares = (f"{tables.at_optimum(found, s)[method].mean():.0%}" for s in named)
        rows.append(f"{method} {', '.join(shares)}")
    lowest = min(tables.at_optimum(found, s)["joint EM, one start"].mean() for s in named)
    first, last = named[0], named[-1].removeprefix("k = ")
    return Reading(
        f"share at the optimum for {first} to {last}: " + "; ".join(rows), CONFIRMED if lowest < OFTEN else NOT
    )


@claim("figure 6", "smaller test error than joint EM on three real tables", "figure6")
def real_tables(results: Results) -> Reading:
    """Confirmed where on each table some variant of the two stages, experts of unit length, has the smaller error."""
    found, parts, held = results["figure6"], [], []
    for table in found.settings:
        rival = found.values(table, "joint EM, the paper's choice", "mse")
        stages = stage_methods(found, table)
        shown = [
            *stages,
            "our two stages, refined",
            "joint EM, the paper's choice",
            "joint EM, its best",
            "default fit",
        ]
        cells = ", ".join(f"{m} {found.values(table, m, 'mse').mean():.3f}" for m in shown)
        reference = found.values(table, "variance of the test outputs", "mse").mean()
        parts.append(f"{table}: {cells}, variance {reference:.3f}")
        held.append(any(paired_difference(found.values(table, m, "mse"), rival)[0] < 0 for m in stages))
    return Reading("; ".join(parts), judged(held))


def choices(found: Found, table: str) -> list[Counter]:
    """How often the search took each k, sigma and g."""
    picks = [trial["joint EM, its best"]["chosen"] for trial in found.trials[table]]
    return [Counter(pick[place] for pick in picks) for place in range(3)]


@claim("appendix H.2", "joint EM is best at k = 3; sigma 0.1, 0.4, 0.1; linear, sigmoid, linear", "figure6")
def hyper_parameters(results: Results) -> Reading:
    """Confirmed where on each table the value taken most often is the paper's, for k, sigma and g alike."""
    found, parts, held = results["figure6"], [], []
    for table, setting in found.settings.items():
        cells = []
        for counts, key in zip(choices(found, table), ("k", "sigma", "g"), strict=True):
            value, times = counts.most_common(1)[0]
            held.append(value == setting[key])
            cells.append(f"{key} = {value} ({times} of {counts.total()})")
        parts.append(f"{table}: {', '.join(cells)}")
    text = f"taken most often, {'; '.join(parts)}; the paper's in {sum(held)} of {len(held)} cases"
    return Reading(text, judged(held))


@claim("section 4", "codes are available", "")
def code_available(results: Results) -> Reading:
    """Read, not measured."""
    return Reading("the repository named there holds none", NOT)
