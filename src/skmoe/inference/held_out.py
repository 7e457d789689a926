"""Sentences on a fit by held-out rows and by other models of the same rows."""

from __future__ import annotations

import numpy as np

from skmoe.inference.formatting import experts, fixed, listed, percent
from skmoe.model.fitted import FittedMixture
from skmoe.search.config import SearchConfig

__all__ = [
    "calibration_text",
    "compared_models",
    "coverage_text",
    "ensemble_text",
    "limit_text",
    "near_tie_texts",
    "penalty_text",
    "stability_counts",
    "stability_text",
    "unstable",
]

STABLE = 0.5  # share of other models below which a regime is called unstable
MOST_ROWS = 0.7  # share of the rows from which on fits to part of them can be expected to show all regimes
RIGHT = 0.02  # relative error of the width of predictive distributions that is not reported
SHIFT = 0.05  # shift of predictive distributions, in their standard deviations, that is reported
TAILED = 30.0  # degrees of freedom below which tails are reported


def stability_counts(model: FittedMixture) -> list[str]:
    """Count the other models in which each expert has a match, such as "4 of 5"; empty texts without any."""
    others = len(model.members_) or model.record_.folds
    return ["" if np.isnan(share) else f"{round(share * others)} of {others}" for share in model.stability_]


def compared_models(model: FittedMixture) -> str:
    """Name the models that experts are compared with."""
    return "averaged models" if model.members_ else "fits that left rows out"


def unstable(model: FittedMixture) -> list[int]:
    """Return the experts that have a match in less than half of the other models."""
    if model.n_experts_ == 1:
        return []
    return [i for i, share in enumerate(model.stability_) if share < STABLE]


def stability_text(model: FittedMixture) -> str:
    """Describe regimes that other models do not show, or return an empty text."""
    if not (low := unstable(model)):
        return ""
    counts = stability_counts(model)
    which = f"{compared_models(model)} show {listed([f'expert {i + 1} in {counts[i]}' for i in low])} only"
    rows, seen = model.record_.rows, model.record_.fold_rows
    if seen < MOST_ROWS * rows and not model.members_:
        return f"{which}: they saw {seen:,} of the {rows:,} rows, which may be too few for it"
    if model.members_ and np.median([len(member.A) for member in model.members_]) > model.n_experts_:
        return f"{which}: most of them have more experts, which divide its rows in other ways"
    return (
        f"{which}: such a regime may be one of several ways to divide the rows, or chance; do not read much into its "
        "coefficients, and look at fewer experts"
    )


def near_tie_texts(model: FittedMixture) -> list[str]:
    """Describe numbers of experts that held-out rows hardly distinguish from the one chosen."""
    tried = model.record_.tried
    chosen = next((t.held_out for t in tried if t.n_experts == model.n_experts_), np.nan)
    texts = []
    for t in tried:
        k, gain = t.n_experts, t.held_out - chosen
        if k == model.n_experts_ or not abs(gain) <= t.error:
            continue
        verb = ("gain" if gain > 0 else "lose") + ("s" if k == 1 else "")
        kept = "so the smaller number was kept" if k > model.n_experts_ else "and simpler"
        amount = f"{fixed(abs(gain), 3)} ± {fixed(t.error, 3)} of log density per row"
        texts.append(f"{experts(k)} {verb} {amount}: within a standard error, {kept}")
    return texts


def limit_text(model: FittedMixture) -> str:
    """Describe a choice of the largest number of experts that was tried, or return an empty text."""
    record = model.record_
    if not record.tried or model.n_experts != "auto" or record.search.interrupted:
        return ""
    if record.tried[-1].n_experts > model.n_experts_:
        return ""
    are = "is" if model.n_experts_ == 1 else "are"
    if any(model.n_experts_ < k <= model.max_experts for k in SearchConfig().number.numbers):
        return f"{experts(model.n_experts_)} {are} the most that so many rows support"
    return f"{experts(model.n_experts_)} {are} the most that may be chosen: a higher limit may predict better"


def penalty_text(model: FittedMixture) -> str:
    """Describe the strength of the penalty, or return an empty text for a single regression."""
    if model.n_experts_ == 1 or model.method != "auto":
        return ""
    strength = "no penalty" if model.penalty_ == 0 else f"a penalty of strength {model.penalty_:g}"
    compared = [tau for tau, _ in model.record_.penalties]
    if model.penalty != "auto":
        return f"The likelihood was maximised with {strength}, as asked for."
    if not compared:
        return f"The likelihood was maximised with {strength}, the default; with so many rows it matters little."
    others = listed([f"{tau:g}" for tau in compared])
    return f"The likelihood was maximised with {strength}, chosen by held-out rows among strengths of {others}."


def calibration_text(model: FittedMixture) -> str:
    """Describe how held-out rows corrected predictive distributions, or return an empty text."""
    if (found := model.calibration_) is None:
        return ""
    parts = []
    if abs(found.scale - 1) > RIGHT:
        wrong, mended = ("narrow", "widened") if found.scale > 1 else ("wide", "narrowed")
        parts.append(f"{mended} by {percent(abs(found.scale - 1))} (they were too {wrong})")
    if abs(found.shift) > SHIFT:
        parts.append(f"moved {'up' if found.shift > 0 else 'down'} by {fixed(abs(found.shift), 2)} standard deviations")
    if found.dof < TAILED:
        parts.append(f"given heavier tails (Student's t with {found.dof:.1f} degrees of freedom)")
    if not parts:
        return "By rows held out, predictive distributions were about right, and were hardly corrected."
    return f"By rows held out, predictive distributions were {listed(parts)}."


def coverage_text(model: FittedMixture) -> str:
    """Describe the coverage of intervals on held-out rows, or return an empty text."""
    if not model.record_.coverage:
        return ""
    parts = zip(*model.record_.coverage, strict=True)
    asked, held = (listed([f"{100 * share:.0f}%" for share in shares]) for shares in parts)
    return f"On rows left out of fits, intervals of {asked} held {held} of the outputs."


def ensemble_text(model: FittedMixture) -> str:
    """Describe the models that are averaged, or return an empty text."""
    if not model.members_:
        return ""
    numbers = np.array([len(member.A) for member in model.members_])
    weights = {int(k): float(np.sum(model.member_weights_[numbers == k])) for k in np.unique(numbers)}
    groups = [f"{np.sum(numbers == k)} with {experts(k)} (weight {percent(w)})" for k, w in weights.items()]
    return (
        f"Predictions are averages of {len(numbers)} models: {listed(groups)}. Coefficients are those of the best "
        f"single model, with {experts(model.n_experts_)}."
    )
