"""The same model by skmoe and by R's flexmix on the concrete table, inputs standardised, and where each ends.

    python -m benchmarks.flexmix.same_rows [--experts 2] [--starts 3] [--tolerance 1e-10] [--raw]

Needs R with flexmix, see ``flexmix.py``. flexmix scales each expert's mean squared residual by n / (n - d - 1) in every
step and so ends beside the maximum; the ratio of its noise scale to that residual is printed to show it.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from benchmarks.flexmix.flexmix import run_flexmix
from skmoe import MoERegressor, metrics
from skmoe.datasets import load_concrete
from skmoe.model.parameters import MoEParameters


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experts", type=int, default=2)
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--tolerance", type=float, default=1e-10, help="flexmix's own default is 1e-6")
    parser.add_argument("--raw", action="store_true", help="leave the inputs in kilograms and days")
    args = parser.parse_args()

    X, y = load_concrete(return_X_y=True)
    spread = X.std(axis=0)
    if not args.raw:
        X, spread = (X - X.mean(axis=0)) / spread, np.ones(X.shape[1])
    n, d = X.shape
    begun = time.perf_counter()
    model = MoERegressor(args.experts, noise="per-expert", penalty=0, calibration=None, random_state=0).fit(X, y)
    seconds = time.perf_counter() - begun
    print(f"skmoe:   log-likelihood {model.log_likelihood_:.4f} in {seconds:.1f} s, standard errors included")
    found = run_flexmix(
        X, y, args.experts, starts=args.starts, seed=1, tolerance=args.tolerance, max_iter=10_000, standard_errors=True
    )
    for value, taken, steps in zip(found["log_likelihood"], found["seconds"], found["iterations"], strict=True):
        print(f"flexmix: log-likelihood {value:.4f} in {taken:.1f} s, {steps:.0f} iterations")
    best = found["best"]
    print(f"parameters: skmoe {model.n_parameters_}, flexmix {best['n_parameters']}")

    order = metrics.match_experts(best["expert_coef"] * spread, model.expert_coef_ * spread)
    coef, intercept, noise = (best[name][order] for name in ("expert_coef", "expert_intercept", "noise_scale"))
    gate, level = (best[name][order] - best[name][order][-1] for name in ("gate_coef", "gate_intercept"))
    theirs = MoEParameters(coef, gate, noise, b=intercept, c=level)
    print(f"flexmix's parameters by skmoe's density: {np.sum(theirs.log_density(X, y)):.4f}")
    R, residual = theirs.responsibilities(X, y), y[:, None] - theirs.expert_means(X)
    ratio = noise / np.sqrt(np.sum(R * residual**2, axis=0) / np.sum(R, axis=0))
    print(
        f"flexmix's noise over its residuals: {ratio.round(6)}; root of n / (n - d - 1): {(n / (n - d - 1)) ** 0.5:.6f}"
    )
    for name, other in (("expert_coef", coef), ("gate_coef", gate), ("noise_scale", noise)):
        # both of maximum likelihood: noise_scale_ is corrected by degrees of freedom
        ours = model.parameters_.sigma if name == "noise_scale" else getattr(model, f"{name}_")
        error = getattr(model, f"{name}_se_")
        distance = np.max(np.abs(ours - other)[error > 0] / error[error > 0])
        print(f"{name:12} differs by at most {distance:.3f} standard errors")
    errors = best["standard_errors"]
    if errors is not None and "expert_coef" in errors:
        ratio = errors["expert_coef"][order] / model.expert_coef_se_
        print(f"standard errors of expert_coef, flexmix over skmoe: {ratio.min():.3f} to {ratio.max():.3f}")
    print(found["r_version"], "flexmix", found["flexmix_version"])


if __name__ == "__main__":
    main()
