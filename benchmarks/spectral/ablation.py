"""What each piece of `learn_experts` is worth: the mean RegressorFit with one piece left out at a time.

    python -m benchmarks.spectral.ablation [--seeds 20] [--first-seed 0]

Also prints the settings where it is known to be weak.
"""

from __future__ import annotations

import argparse
import warnings
from contextlib import ExitStack
from functools import partial
from unittest.mock import patch

import numpy as np
from rich.console import Console
from rich.table import Table

from skmoe import learn_experts, make_moe, metrics
from skmoe.model.parameters import MoEParameters
from skmoe.spectral.algorithm1 import regression, task
from skmoe.spectral.decomposition import DECOMPOSITIONS, RankWarning


def matching_without_t1(*arguments, **knowledge):
    return DECOMPOSITIONS["matching"](*arguments, **knowledge | {"T1": None})


SETTINGS = [(8000, 10, 4, 0.5, "linear"), (20000, 10, 6, 0.1, "linear"), (10000, 5, 3, 0.1, "sigmoid")]
SETTINGS += [(10000, 5, 3, 0.1, "relu")]
WITHOUT = {
    "nothing": [],
    "the narrower reference": [partial(patch, "skmoe.spectral.scores.reference.EFFECTIVE", 1 - 1e-9)],
    "T1": [partial(patch.object, task, "DECOMPOSITIONS", DECOMPOSITIONS | {"matching": matching_without_t1})],
    "the prior on shares": [partial(patch.object, regression, "SHARE_SD", 1e3)],
    "the gate's two numbers per expert": [partial(patch.object, regression, "_weight_modes", lambda *a: [])],
}
WEAK = [(20000, 10, 6, 0.1, "linear", 3.0), (10000, 5, 3, 0.1, "relu", 3.0), (10000, 5, 3, 0.5, "relu", 1.0)]


def fit(n, d, k, sigma, activation, seed, gate_length=1.0) -> float:
    X, y, truth = make_moe(n, d, k, noise_scale=sigma, activation=activation, random_state=seed)
    if gate_length != 1.0:
        steeper = MoEParameters(truth.A, gate_length * truth.W, sigma, family=activation)
        y, _ = steeper.sample(X, np.random.default_rng(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        experts = learn_experts(X, y, k, noise_scale=sigma, activation=activation, random_state=seed)
    return metrics.regressor_fit(experts.coef, truth.expert_coef)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    arguments = parser.parse_args()
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    table = Table(title=f"RegressorFit, mean ± sd over seeds {seeds.start} to {seeds.stop - 1}")
    for column in ("without", *(", ".join(map(str, setting)) for setting in SETTINGS)):
        table.add_column(column)
    for name, patches in WITHOUT.items():
        with ExitStack() as stack:
            for make in patches:
                stack.enter_context(make())
            fits = [np.array([fit(*setting, seed) for seed in seeds]) for setting in SETTINGS]
        table.add_row(name, *(f"{values.mean():.3f} ± {values.std(ddof=1):.3f}" for values in fits))
    console = Console(width=150)
    console.print(table)
    for *setting, length in WEAK:
        values = np.array([fit(*setting, seed, length) for seed in seeds])
        console.print(
            f"weak: {setting}, gate vectors of length {length:g}: {values.mean():.3f} ± {values.std(ddof=1):.3f}, "
            f"worst {values.min():.3f}"
        )


if __name__ == "__main__":
    main()
