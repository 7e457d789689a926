"""Algorithm 1 for families: RegressorFit of `learn_experts(family=...)` over seeds, beside the paper's plain moments.

    python -m benchmarks.spectral.family_accuracy [--seeds 20] [--first-seed 0] [--families poisson gamma] [--record]

Seeds are 0, 1, 2, ..., not selected; scales are not told; every failure counts in the mean. A gate that is not
orthogonal to the experts leaves a bias that no number of rows cures, so that both kinds are measured.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

from skmoe import learn_experts, make_moe, metrics
from skmoe.spectral.decomposition import RankWarning

RESULTS = Path(__file__).parents[1] / "results" / "family_accuracy.json"
SCALES = {"poisson": 1.0, "negative-binomial": 0.5, "gamma": 0.5, "lognormal": 0.5, "student": 0.3}
METHODS = {"default": {}, "plain": {"moments": "plain", "decomposition": "orth-als-t2"}}


class Setting(NamedTuple):
    n: int
    d: int
    k: int
    orthogonal: bool = False


SETTINGS = [
    Setting(5000, 5, 2),
    Setting(20000, 5, 3),
    Setting(20000, 10, 3),
    Setting(20000, 5, 3, orthogonal=True),
    Setting(80000, 5, 3, orthogonal=True),
]


def fits_of(family: str, setting: Setting, seeds: range) -> tuple[dict[str, list[float]], float]:
    """RegressorFit of each method for each seed, and median seconds of the default."""
    n, d, k, orthogonal = setting
    fits: dict[str, list[float]] = {name: [] for name in METHODS}
    seconds = []
    for seed in seeds:
        X, y, truth = make_moe(
            n, d, k, family=family, noise_scale=SCALES[family], orthogonal_gate=orthogonal, random_state=seed
        )
        for name, choice in METHODS.items():
            start = time.perf_counter()
            found = learn_experts(X, y, k, family=family, random_state=seed, **choice).coef
            if name == "default":
                seconds.append(time.perf_counter() - start)
            missing = np.zeros((k - len(found), d))  # an expert not found counts as fit 0
            fits[name].append(metrics.regressor_fit(np.vstack([found, missing]), truth.expert_coef))
    return fits, float(np.median(seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--families", nargs="*", default=list(SCALES), choices=list(SCALES))
    parser.add_argument("--record", action="store_true", help=f"write figures to {RESULTS.name}")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", RankWarning)  # the fits tell
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    found = json.loads(RESULTS.read_text()) if arguments.record and RESULTS.exists() else {}
    for family in arguments.families:
        for setting in SETTINGS:
            fits, seconds = fits_of(family, setting, seeds)
            gate = "orthogonal gate" if setting.orthogonal else "free gate"
            name = f"{family}, {setting.n}, {setting.d}, {setting.k}, {gate}"
            line = {m: f"{np.mean(f):.3f} ± {np.std(f, ddof=1):.3f}, worst {min(f):.3f}" for m, f in fits.items()}
            print(f"{name}: {line}, {seconds:.2f} s", flush=True)
            found[name] = {
                **{m: {"mean": np.mean(f), "sd": np.std(f, ddof=1), "worst": min(f)} for m, f in fits.items()},
                "seconds": seconds,
                "seeds": [seeds.start, seeds.stop - 1],
            }
            if arguments.record:
                RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
