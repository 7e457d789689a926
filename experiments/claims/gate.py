"""Claims about the gate: theorems 2, 3 and 5, and lemma 3."""

from __future__ import annotations

import numpy as np

from .. import tables
from ..theory.draws import ACTIVATIONS, GATES
from ..wording import listed, span
from .records import CONFIRMED, CORRECTED, NOT, Reading, Results, claim, judged

NUMBERS = (2, 3, 4)
REFERENCE_NOISE = 0.1  # to which the rate at the least noise is compared
NOISE = 5.0  # standard errors, of the largest of up to 15 entries, that may be chance in a median of ten draws


def rates(results: Results, k: int, g: str, gate: str) -> np.ndarray:
    """Contraction of the gate's EM by trial and noise."""
    return results["theory"].values(f"contraction, k = {k}", f"{g}, {gate}")


def largest_rate(results: Results) -> float:
    """The largest contraction of all trials."""
    return float(max(rates(results, k, g, gate).max() for k in NUMBERS for g in ACTIVATIONS for gate in GATES))


@claim("remark 1, lemma 3", "the true gate is a fixed point, M(w*) = w*")
def self_consistency(results: Results) -> Reading:
    """Confirmed where the step away from it falls with a slope within 0.1 of -1/2 and E[(p - P) x] is noise."""
    found, slopes, scores, ends = results["theory"], [], [], []
    for k in NUMBERS:
        name = f"self-consistency, k = {k}"
        sizes = found.settings[name]["sizes"]
        for g in ACTIVATIONS:
            slopes.append(tables.slope(sizes, found.values(name, g)))
            scores.append(float(np.median(found.values(name, f"score, {g}"))))
            ends.append(float(np.mean(found.values(name, g)[:, -1])))
    text = (
        f"k = 2, 3, 4, three activations, free gate: |M(w*) - w*| falls with slopes of {span(slopes)} in logs, to "
        f"{span(ends, '.4f')} at {sizes[-1]} rows; E[(p - P) x] there is {span(scores, '.1f')} standard errors"
    )
    return Reading(text, judged([*(abs(s + 0.5) < 0.1 for s in slopes), *(z < NOISE for z in scores)]))


@claim("theorem 2, lemma 3", "EM contracts, k = 2, 3, 4, linear, sigmoid and ReLU")
def contraction(results: Results) -> Reading:
    """Confirmed where the largest ratio of successive distances is below 1 in every trial."""
    cases = [(k, g, gate) for k in NUMBERS for g in ACTIVATIONS for gate in GATES]
    held = [bool(rates(results, *case).max() < 1) for case in cases]
    means = {case: rates(results, *case).mean(axis=0) for case in cases}
    gap = max(np.max(np.abs(means[k, g, "free gate"] - means[k, g, "orthogonal gate"])) for k, g, _ in cases)
    cells = [f"k = {k}: " + "; ".join(f"{g} {listed(means[k, g, 'free gate'])}" for g in ACTIVATIONS) for k in NUMBERS]
    sigmas = listed(results["theory"].settings["contraction, k = 2"]["sigmas"], "g")
    text = (
        f"largest ratio of successive distances from a random start, mean over trials, free gate, at sigma = {sigmas}: "
        f"{'. '.join(cells)}. With an orthogonal gate means differ by at most {gap:.2f}. Largest of all trials "
        f"{largest_rate(results):.3f}"
    )
    return Reading(text, judged(held))


@claim("theorem 2", "whatever the dimension")
def any_dimension(results: Results) -> Reading:
    """Confirmed where the mean rates in 6 and 20 dimensions differ by at most 0.1 at each noise."""
    found = results["theory"]
    at = {s: i for i, s in enumerate(found.settings["contraction, k = 2"]["sigmas"])}
    sigmas = found.settings["contraction, d = 20"]["sigmas"]
    low = rates(results, 2, "linear", "free gate").mean(axis=0)[[at[s] for s in sigmas]]
    high = found.values("contraction, d = 20", "linear, free gate").mean(axis=0)
    text = f"two linear experts, free gate, sigma = {listed(sigmas, 'g')}: d = 6 {listed(low)}; d = 20 {listed(high)}"
    return Reading(text, judged([bool(np.max(np.abs(low - high)) <= 0.1)]))


def vanishing(results: Results) -> dict[str, float]:
    """Largest over k and gates of the mean rate at the least noise over that at 0.1, by activation."""
    sigmas = results["theory"].settings["contraction, k = 2"]["sigmas"]
    place = sigmas.index(REFERENCE_NOISE)
    found = {}
    for g in ACTIVATIONS:
        means = [rates(results, k, g, gate).mean(axis=0) for k in NUMBERS for gate in GATES]
        found[g] = float(max(mean[0] / mean[place] for mean in means))
    return found


@claim("theorem 2", "kappa_sigma vanishes with the noise, for linear, sigmoid and ReLU")
def vanishing_rate(results: Results) -> Reading:
    """Confirmed for an activation where the rate at the least noise is below half of that at sigma = 0.1."""
    found, ratios = results["theory"], vanishing(results)
    gamma = [found.values(f"stability, k = {k}", "relu").mean(axis=0)[0] for k in NUMBERS]
    least = found.settings["contraction, k = 2"]["sigmas"][0]
    text = (
        f"rate at sigma = {least:g} over that at 0.1, largest over k and gates: "
        f"{', '.join(f'{g} {r:.2f}' for g, r in ratios.items())}; gamma_sigma of ReLU at {least:g}: {listed(gamma)} "
        "for k = 2, 3, "
        "4. Where both indices are negative two ReLU experts agree, and no output tells them apart however small "
        "the noise"
    )
    return Reading(text, judged([ratio < 0.5 for ratio in ratios.values()]))


@claim("theorem 2", "from any start")
def any_start(results: Results) -> Reading:
    """Confirmed where ends from random starts differ by less than 0.01 in every trial."""
    found, cells, held = results["theory"], [], []
    for name in (s for s, v in found.settings.items() if v["kind"] == "global start"):
        spread = found.values(name, "spread").max(axis=0)
        held += list(spread < 0.01)
        cells.append(f"{name.removeprefix('global start, ')} {listed(spread, '.1e')}")
    sigmas = listed(found.settings["global start, k = 2, linear"]["sigmas"], "g")
    text = f"largest distance between ends from random starts in the unit ball, at sigma = {sigmas}: {'; '.join(cells)}"
    return Reading(text, judged(held))


def covered(results: Results) -> str:
    """Noise at which the corrected rate of theorem 5 with the paper's gamma_sigma is below one, in words."""
    found = results["theory"]
    sigmas = np.array(found.settings["gradient EM"]["sigmas"])
    below = sigmas[found.values("gradient EM", "corrected, gamma_sigma").mean(axis=0) < 1]
    return (
        f"up to sigma = {below.max():g} of {listed(sigmas, 'g')}" if len(below) else f"at none of {listed(sigmas, 'g')}"
    )


@claim("theorem 5", "gradient EM's rate is 1 - (2 lambda + 2 gamma_sigma) / (mu + lambda)")
def gradient_em(results: Results) -> Reading:
    """Corrected where the measured rate is above the printed one at every noise; the sign before gamma is wrong."""
    found = results["theory"]
    shown = [
        "rate",
        *(f"{which}, {gamma}" for gamma in ("gamma_sigma", "local gamma") for which in ("corrected", "printed")),
    ]
    means = {what: found.values("gradient EM", what).mean(axis=0) for what in shown}
    cells = "; ".join(f"{'measured' if what == 'rate' else what} {listed(values)}" for what, values in means.items())
    sigmas = found.settings["gradient EM"]["sigmas"]
    text = (
        f"at sigma = {listed(sigmas, 'g')}: {cells}. With the right sign and the paper's gamma_sigma the bound is "
        f"below 1 {covered(results)}; the "
        "local gamma, the largest eigenvalue of E[p (1 - p) x x'] at the true gate, is no bound from afar"
    )
    wrong = np.all(means["rate"] > means["printed, gamma_sigma"])
    right = np.all(means["rate"] <= means["corrected, gamma_sigma"])
    return Reading(text, CORRECTED if wrong and right else CONFIRMED if not wrong else NOT)


def moment_slopes(results: Results) -> dict[str, float]:
    """Slope of the sine of the angle of the moment gate against rows, by kind of gate."""
    found = results["theory"]
    sizes = found.settings["moment gate"]["sizes"]
    return {gate: tables.slope(sizes, found.values("moment gate", f"sine, {gate}")) for gate in GATES}


@claim("theorem 3", "one moment gives the gate's direction")
def moment_gate(results: Results) -> Reading:
    """Confirmed where the sine falls with a slope within 0.1 of -1/2, gate orthogonal as in the proof."""
    found, slopes = results["theory"], moment_slopes(results)
    ends = {gate: found.values("moment gate", f"sine, {gate}")[:, -1].mean() for gate in GATES}
    cells = "; ".join(f"{gate} {slopes[gate]:.2f}, {ends[gate]:.4f}" for gate in GATES)
    text = (
        f"slope in logs of the angle's sine against rows, and its mean at the most rows: {cells}. The proof assumes "
        "an orthogonal gate"
    )
    return Reading(text, judged([abs(slopes["orthogonal gate"] + 0.5) < 0.1]))


@claim("theorem 3", "the normalised moment is w")
def moment_sign(results: Results) -> Reading:
    """Corrected where alpha, by the theorem's own formula, is negative and the moment points along -w."""
    found = results["theory"]
    cosine, multiple, alpha = (
        found.values("moment gate", f"{what}, orthogonal gate").mean() for what in ("cosine", "multiple", "alpha")
    )
    text = (
        f"alpha = {alpha:.4f} by the theorem's formula, {multiple:.4f} measured; cosine of the moment with w "
        f"{cosine:.4f}: it is {'-w' if cosine < 0 else 'w'}"
    )
    return Reading(text, CORRECTED if alpha < 0 and cosine < -0.9 else CONFIRMED if cosine > 0.9 else NOT)
