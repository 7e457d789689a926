"""Claims about the constants of theorem 2: kappa, lambda and mu, gamma_sigma, sigma_0."""

from __future__ import annotations

import numpy as np

from ..theory.draws import ACTIVATIONS, GATES
from ..wording import listed
from .gate import NUMBERS, largest_rate
from .records import CORRECTED, Reading, Results, claim, judged

LEAST_NOISE = 1e-4  # at which sigma_0 is looked for


def robustness_ratios(results: Results, what: str) -> dict[int, float]:
    """Largest error of the gate over epsilon and over kappa, by number of experts."""
    found = results["theory"]
    return {
        k: max(
            float(found.values(f"robustness, k = {k}", f"{what}, {g}, {gate}").max())
            for g in ACTIVATIONS
            for gate in GATES
        )
        / float(found.values(f"robustness, k = {k}", "kappa")[0])
        for k in NUMBERS
    }


def looseness(results: Results) -> list[float]:
    """The bound of theorem 2 over the largest error of the gate's end, by number of experts."""
    return [1 / ratio for ratio in robustness_ratios(results, "end").values()]


@claim("theorem 2, lemma 4", "wrong experts move the gate by at most kappa epsilon")
def robustness(results: Results) -> Reading:
    """Confirmed where the largest movement of a step, and of EM's end, is below kappa epsilon."""
    step, end = robustness_ratios(results, "one step"), robustness_ratios(results, "end")
    kappas = [results["theory"].values(f"robustness, k = {k}", "kappa")[0] for k in NUMBERS]
    text = (
        "three activations, both gates; largest movement over kappa epsilon for k = 2, 3, 4 (kappa = "
        f"{listed(kappas)}): one "
        f"step {listed(step.values(), '.3f')}, EM's end {listed(end.values(), '.3f')}"
    )
    return Reading(text, judged([ratio < 1 for ratio in (*step.values(), *end.values())]))


@claim("lemma 4", "the bound is kappa epsilon")
def lemma_4(results: Results) -> Reading:
    """Corrected: lemma 5, by which it is proved, gives L / lambda, and L = kappa epsilon. Read, lambda measured."""
    values = [results["theory"].values(f"robustness, k = {k}", "lambda")[0] for k in NUMBERS]
    factors = [1 / value for value in values]
    text = (
        f"the proof gives kappa epsilon / lambda, with lambda = {listed(values, '.4f')} for k = 2, 3, 4: "
        f"{listed(factors, '.0f')} "
        "times as much. What is measured is below either"
    )
    below = max(*robustness_ratios(results, "one step").values()) < 1
    return Reading(
        text if below else text.replace("What is measured is below either", "Measured: see above"), CORRECTED
    )


@claim("appendices F, G", "lambda = 0.1442, mu = 0.25")
def concavity(results: Results) -> Reading:
    """Confirmed where both agree to four digits."""
    trial = results["theory"].trials["stability, k = 2"][0]
    text = f"by quadrature, two experts: {trial['lambda']:.4f}, {trial['mu']:.4f}"
    return Reading(text, judged([abs(trial["lambda"] - 0.1442) < 1e-4, abs(trial["mu"] - 0.25) < 1e-4]))


def order_of_gamma(results: Results) -> tuple[float, float]:
    """Slopes of gamma_sigma and of its local counterpart against the noise up to 0.1, in logs, two linear experts."""
    found = results["theory"]
    sigmas = np.array(found.settings["stability, k = 2"]["sigmas"])
    small = sigmas <= 0.1
    slopes = []
    for what in ("linear", "local"):
        means = found.values("stability, k = 2", what).mean(axis=0)
        slopes.append(float(np.polyfit(np.log(sigmas[small]), np.log(means[small]), 1)[0]))
    return slopes[0], slopes[1]


@claim("appendix F, equation 51", "gamma_sigma = O((sigma / |a1 - a2|)^(1/4))")
def gamma_order(results: Results) -> Reading:
    """Confirmed where gamma_sigma falls at least as fast as the fourth root, and is below the bound of equation 49."""
    found = results["theory"]
    sigmas = found.settings["stability, k = 2"]["sigmas"]
    whole, local = order_of_gamma(results)
    values, bound = (found.values("stability, k = 2", what).mean(axis=0) for what in ("linear", "bound"))
    text = (
        f"two linear experts, sigma = {listed(sigmas, 'g')}: gamma_sigma {listed(values)}, the bound of equation 49 "
        f"{listed(bound, '.1f')}; "
        f"slope in logs up to 0.1: {whole:.2f}; of the local eigenvalue at the true gate, by which EM contracts in "
        f"the end, {local:.2f}"
    )
    return Reading(text, judged([whole >= 0.25, bool(np.all(values <= bound))]))


@claim("theorem 2", "there is a sigma_0 below which the proof holds")
def noise_threshold(results: Results) -> Reading:
    """Confirmed where there is one above 0.0001, in the median, for each k and activation."""
    found, cells, held = results["theory"], [], []
    for k in NUMBERS:
        values = [float(np.median(found.values(f"stability, k = {k}", f"sigma_0, {g}"))) for g in ACTIVATIONS]
        held += [value > LEAST_NOISE for value in values]
        cells.append(
            f"k = {k}: " + ", ".join(f"{value:.2g}" if value > LEAST_NOISE else "none above 0.0001" for value in values)
        )
    most = max(found.settings["contraction, k = 2"]["sigmas"])
    text = (
        f"median noise at which gamma_sigma reaches lambda, for linear, sigmoid, ReLU: {'; '.join(cells)}; the "
        f"largest ratio of EM's distances at sigma up to {most:g}: {largest_rate(results):.3f}"
    )
    return Reading(text, judged(held))
