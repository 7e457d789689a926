"""What rows held out, and models beside the fitted one, say of it, in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe.inference.formatting import experts, fixed, listed, percent
from skmoe.search.config import SearchConfig

__all__ = [
    "calibration_in_words",
    "coverage_in_words",
    "limit_in_words",
    "members_in_words",
    "near_ties",
    "penalty_in_words",
    "seen_counts",
    "seen_where",
    "stability_in_words",
    "unstable",
]

STABLE = 0.5  # share of other models below which a regime is called unstable
MOST_ROWS = 0.7  # share of the rows from which on fits to part of them can be expected to show all regimes
RIGHT = 0.02  # relative error of the width of predictive laws that is not worth a word
SHIFT = 0.05  # shift of predictive laws, in their standard deviations, that is
TAILED = 30.0  # degrees of freedom below which tails are


def seen_counts(model: Any) -> list[str]:
    """In how many other models each expert is seen, such as "4 of 5"; empty texts where there are none."""
    others = len(model.members_) or int(model.history_.get("folds", 0))
    return ["" if np.isnan(share) else f"{round(share * others)} of {others}" for share in model.stability_]


def seen_where(model: Any) -> str:
    """What the other models are."""
    return "averaged models" if model.members_ else "fits that left rows out"


def unstable(model: Any) -> list[int]:
    """Experts seen in less than half of the other models."""
    if model.n_experts_ == 1:
        return []
    return [i for i, share in enumerate(model.stability_) if share < STABLE]


def stability_in_words(model: Any) -> str:
    """A sentence on regimes that other models do not show, or nothing."""
    if not (low := unstable(model)):
        return ""
    counts = seen_counts(model)
    which = f"{seen_where(model)} show {listed([f'expert {i + 1} in {counts[i]}' for i in low])} only"
    rows, seen = model.history_["rows"], model.history_.get("fold_rows", 0)
    if seen < MOST_ROWS * rows and not model.members_:
        return f"{which}: they saw {seen:,} of the {rows:,} rows, which may be too few for it"
    if model.members_ and np.median([len(member.A) for member in model.members_]) > model.n_experts_:
        return f"{which}: most of them have more experts, which divide its rows in other ways"
    return (
        f"{which}: such a regime may be one of several ways to divide the rows, or chance; do not read much into its "
        "coefficients, and look at fewer experts"
    )


def near_ties(model: Any) -> list[str]:
    """Sentences on numbers of experts that held-out rows hardly tell from the one chosen."""
    tried = model.history_.get("held_out", [])
    level = next((held for k, held, _ in tried if k == model.n_experts_), np.nan)
    said = []
    for k, held, error in tried:
        gain = held - level
        if k == model.n_experts_ or not abs(gain) <= error:
            continue
        verb = ("gain" if gain > 0 else "lose") + ("s" if k == 1 else "")
        kept = "so the smaller number was kept" if k > model.n_experts_ else "and simpler"
        amount = f"{fixed(abs(gain), 3)} ± {fixed(error, 3)} of log density per row"
        said.append(f"{experts(k)} {verb} {amount}: within a standard error, {kept}")
    return said


def limit_in_words(model: Any) -> str:
    """A sentence where the number of experts chosen is the largest that was tried, or nothing."""
    tried = model.history_.get("held_out", [])
    if not tried or tried[-1][0] > model.n_experts_ or model.n_experts != "auto" or model.history_["interrupted"]:
        return ""
    are = "is" if model.n_experts_ == 1 else "are"
    if any(model.n_experts_ < k <= model.max_experts for k in SearchConfig().number.numbers):
        return f"{experts(model.n_experts_)} {are} the most that so many rows support"
    return f"{experts(model.n_experts_)} {are} the most that may be chosen: a higher limit may predict better"


def penalty_in_words(model: Any) -> str:
    """A sentence on the strength of the penalty, or nothing for a single regression."""
    if model.n_experts_ == 1 or model.method != "auto":
        return ""
    strength = "no penalty" if model.penalty_ == 0 else f"a penalty of strength {model.penalty_:g}"
    compared = [tau for tau, _ in model.history_.get("penalties", [])]
    if model.penalty != "auto":
        return f"The likelihood was maximised with {strength}, as asked for."
    if not compared:
        return f"The likelihood was maximised with {strength}, the default; with so many rows it matters little."
    others = listed([f"{tau:g}" for tau in compared])
    return f"The likelihood was maximised with {strength}, chosen by held-out rows among strengths of {others}."


def calibration_in_words(model: Any) -> str:
    """A sentence on how held-out rows corrected predictive laws, or nothing."""
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


def coverage_in_words(model: Any) -> str:
    """A sentence on how many outputs intervals held on rows that were left out, or nothing."""
    found = model.history_.get("coverage", [])
    if not found:
        return ""
    asked, held = (listed([f"{100 * share:.0f}%" for share in shares]) for shares in zip(*found, strict=True))
    return f"On rows left out of fits, intervals of {asked} held {held} of the outputs."


def members_in_words(model: Any) -> str:
    """A sentence on the models that are averaged, or nothing."""
    if not model.members_:
        return ""
    numbers = np.array([len(member.A) for member in model.members_])
    weights = {int(k): float(np.sum(model.member_weights_[numbers == k])) for k in np.unique(numbers)}
    groups = [f"{np.sum(numbers == k)} with {experts(k)} (weight {percent(w)})" for k, w in weights.items()]
    return (
        f"Predictions are averages of {len(numbers)} models: {listed(groups)}. Coefficients are those of the best "
        f"single model, with {experts(model.n_experts_)}."
    )
