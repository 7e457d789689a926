"""Claims about the experts: theorem 1, equations 3 and 4, the label transforms, orthogonality, dimension."""

from __future__ import annotations

import numpy as np

from .. import tables
from ..theory.draws import ACTIVATIONS, GATES
from ..wording import listed, number, span
from .records import CONFIRMED, CORRECTED, NOT, PARTLY, Reading, Results, claim, judged

NOISE = (
    5.0  # a largest deviation in standard errors, over up to 56 entries, that may be chance in a median of ten draws
)
FLAT = 0.5  # a median error that shrinks by less than this factor from the fewest to the most rows does not vanish
NUMBERS = (2, 3, 4)


def median(results: Results, setting: str, what: str) -> np.ndarray:
    """Median over trials of an entry of the checks of the theory."""
    return np.median(results["theory"].values(setting, what), axis=0)


def bias(results: Results, k: int, g: str, gate: str) -> float:
    """Median over trials of the larger deviation of T2 and T3, in standard errors."""
    found = results["theory"]
    deviations = [found.values(f"tensor bias, k = {k}", f"T{order}, {g}, {gate}") for order in (2, 3)]
    return float(np.median(np.max(deviations, axis=0)))


@claim("theorem 1", "T2 and T3 hold the experts alone")
def theorem_1(results: Results) -> Reading:
    """Confirmed where slopes are within 0.1 of -1/2 and no median deviation is beyond noise, gate orthogonal."""
    found = results["theory"]
    slopes = {
        g: tables.slope(found.settings[n]["sizes"], found.values(n, "error"))
        for g in ACTIVATIONS
        for n in [f"tensor error, {g}"]
    }
    cells = ", ".join(f"{g} {s:.2f}" for g, s in slopes.items())
    worst = {k: max(bias(results, k, g, "orthogonal gate") for g in ACTIVATIONS) for k in NUMBERS}
    rows = found.settings["tensor bias, k = 2"]["rows"]
    text = (
        f"slope of the error of T3 against rows, in logs: {cells}; deviation of T2 and T3 at {rows} rows, orthogonal "
        f"gate, in standard errors: {', '.join(f'{z:.1f} (k = {k})' for k, z in worst.items())}"
    )
    return Reading(text, judged([*(abs(s + 0.5) < 0.1 for s in slopes.values()), *(z < NOISE for z in worst.values())]))


def parity(results: Results) -> tuple[list[float], list[float]]:
    """Deviations with a free gate where theorem 1 holds by parity, k = 2 and g odd up to a constant, and elsewhere."""
    odd = [bias(results, 2, g, "free gate") for g in ("linear", "sigmoid", "tanh")]
    other = [bias(results, 2, "relu", "free gate")]
    other += [bias(results, k, g, "free gate") for k in (3, 4) for g in ACTIVATIONS]
    return odd, other


@claim("section 3", "assumption 3, a gate orthogonal to the experts, is merely technical")
def orthogonality(results: Results) -> Reading:
    """Confirmed where T2 and T3 deviate by no more than noise in every case with a free gate; partly where in some."""
    odd, other = parity(results)
    found, parts = results["theory"], []
    for k in NUMBERS:
        for g in ACTIVATIONS:
            name = f"orthogonality, k = {k}, {g}"
            cells = [f"{median(results, name, f'{how}, free gate')[-1]:.4f}" for how in ("plain", "default")]
            parts.append(
                f"{g} {cells[0]} ({cells[1]})" if parts and g != "linear" else f"k = {k}: {g} {cells[0]} ({cells[1]})"
            )
    rows = found.settings["orthogonality, k = 2, linear"]["sizes"][-1]
    text = (
        "free gate, deviation of T2 and T3 in standard errors: k = 2 and g odd up to a constant (linear, sigmoid, "
        "tanh) "
        f"{listed(odd, '.1f')}; k = 2, ReLU {other[0]:.1f}; k = 3 and 4 {span(other[1:], '.1f')}. Median 1 - "
        "RegressorFit "
        f"of plain moments (of our default) at {rows} rows: {'; '.join(parts)}"
    )
    return Reading(text, judged([z < NOISE for z in odd + other]))


@claim("equation 4", "E[y S3] does not give the experts under a gate")
def plain_tensor(results: Results) -> Reading:
    """Confirmed where the median error does not halve from the fewest to the most rows, and does without a gate."""
    cells, ends = [], {}
    for gate in ("0", "2"):
        low, high = median(results, f"plain tensor, k = 3, gate {gate}", "plain")[[0, -1]]
        ends[gate] = high / low
        cells.append(f"gate of length {gate}: {low:.4f} to {high:.4f}")
    sizes = results["theory"].settings["plain tensor, k = 3, gate 2"]["tensor_sizes"]
    ours = median(results, "plain tensor, k = 3, gate 2", "learn_experts")[-1]
    text = (
        f"median 1 - RegressorFit from {sizes[0]} to {sizes[-1]} rows, three tanh experts: {'; '.join(cells)}; "
        f"learn_experts ends at {ours:.4f}"
    )
    return Reading(text, judged([ends["2"] > FLAT, ends["0"] < FLAT]))


@claim("equation 4", "nor for two experts")
def plain_tensor_two(results: Results) -> Reading:
    """Corrected where the median error falls at each size: mixed terms vanish by parity for g odd."""
    values = median(results, "plain tensor, k = 2, gate 2", "plain")
    falls = bool(np.all(np.diff(values) < 0))
    text = f"two tanh experts, gate of length 2: median 1 - RegressorFit {listed(values, '.4f')} as rows grow"
    return Reading(
        text + ("; for g odd all mixed terms vanish by parity" if falls else ""), CORRECTED if falls else CONFIRMED
    )


@claim("equation 3", "E[y S3] gives the experts without a gate")
def third_derivatives(results: Results) -> Reading:
    """Confirmed where E[g'''] is not zero for linear, sigmoid and ReLU alike."""
    values = results["theory"].trials["E[g''']"][0]
    cells = ", ".join(f"{g} {number(v, '.4f')}" for g, v in values.items())
    return Reading(f"it needs E[g'''] ≠ 0: {cells}", judged([abs(values[g]) > 1e-9 for g in ACTIVATIONS]))


@claim("section 2.1", "no other polynomials than P2 and P3 give the tensors")
def uniqueness(results: Results) -> Reading:
    """Confirmed where one polynomial of each degree qualifies; partly where that is so up to degree three."""
    found = results["theory"]
    degrees = found.settings["uniqueness"]["degrees"]
    counts = {g: found.trials["uniqueness"][0][g] for g in ACTIVATIONS}
    cells = "; ".join(f"{g} {listed(c, 'd')}" for g, c in counts.items())
    cubic, quartic = (float(np.median(found.values("uniqueness", name))) for name in ("cubic", "quartic"))
    text = (
        f"independent polynomials of degree at most {listed(degrees, 'd')} that qualify for T3: {cells}; deviation "
        "of T3 "
        f"from theorem 1 in standard errors, linear experts: P3 {cubic:.1f}, P3 + (y^4 - 6 (1 + sigma^2) y^2) / 2 "
        f"{quartic:.1f}"
    )
    alone = [[count == 1 for count in c] for c in counts.values()]
    return Reading(text, CONFIRMED if np.all(alone) else PARTLY if all(first for first, *_ in alone) else NOT)


@claim("appendix C, example 2", "the sigmoid's linear system")
def sigmoid_system(results: Results) -> Reading:
    """Confirmed where its solutions are within 0.005 of the exact ones, which is as far as four digits go."""
    trial, setting = results["theory"].trials["sigmoid system"][0], results["theory"].settings["sigmoid system"]
    printed, exact = np.array(trial["printed"]), np.array(trial["exact"])
    cells = [
        f"sigma = {s:g}: {listed(p, '.4f')}, exactly {listed(e, '.4f')}"
        for s, p, e in zip(setting["sigmas"], printed, exact, strict=True)
    ]
    curvature = trial["E[g'']"]
    short = np.max(np.abs(trial["E[S3'], E[S3'']"]))
    text = (
        f"alpha, beta from the printed system, {'; '.join(cells)}; Condition 1 is missed by at most {short:.1e}; "
        "the entry "
        f"-0.0001 is E[g''] = {number(curvature, '.0f')}"
    )
    return Reading(text, CONFIRMED if np.max(np.abs(printed - exact)) < 0.005 else CORRECTED)


@claim("appendix C, example 3", "the constants of ReLU")
def relu_constants(results: Results) -> Reading:
    """Corrected where T3 with the printed pair is further off at the most rows than with the corrected one."""
    found, parts, errors = results["theory"], [], {}
    first = found.trials["ReLU constants, orthogonal gate"][0]
    for gate in GATES:
        name = f"ReLU constants, {gate}"
        for which in ("printed", "corrected"):
            tensor, experts = (
                float(found.values(name, f"{what}, {which}")[:, -1].mean()) for what in ("tensor", "experts")
            )
            errors[gate, which] = tensor
            error = f"error of T3 {tensor:.3f}, " if gate == "orthogonal gate" else ""
            parts.append(f"{gate}, {which}: {error}1 - RegressorFit {experts:.4f}")
    rows = found.settings["ReLU constants, orthogonal gate"]["sizes"][-1]
    text = (
        f"alpha, beta printed {first['alpha'][1]:.4f}, {first['beta'][1]:.4f}; corrected {first['alpha'][0]:.4f}, "
        f"{first['beta'][0]:.4f} (sigma = 0.1); at {rows} rows " + "; ".join(parts)
    )
    worse = errors["orthogonal gate", "printed"] > errors["orthogonal gate", "corrected"]
    return Reading(text, CORRECTED if worse else CONFIRMED)


@claim("section 1", "2k - 1 < d experts are handled, with global convergence")
def dimension(results: Results) -> Reading:
    """Confirmed where for 2k - 1 < d the median error halves as rows grow, and GatingFit is above 0.99."""
    found = results["theory"]
    setting = found.settings["dimension"]
    d, held, beyond, cells = setting["d"], [], [], []
    for k in setting["experts"]:
        misses = median(results, "dimension", f"k = {k}")
        gate = float(median(results, "dimension", f"GatingFit, k = {k}"))
        (held if 2 * k - 1 < d else beyond).append(misses[-1] < FLAT * misses[0] and gate > 0.99)
        cells.append(f"k = {k}: {listed(misses, '.4f')}, GatingFit {gate:.4f}")
    text = (
        f"d = {d}, orthogonal gate, median 1 - RegressorFit at {listed(setting['sizes'], 'd')} rows: "
        f"{'; '.join(cells)}; "
        f"so too for 2k - 1 ≥ d in {sum(beyond)} of {len(beyond)} cases"
    )
    return Reading(text, judged(held))
