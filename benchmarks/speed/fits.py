"""Speed at equal likelihood: a default fit with standard errors beside R's flexmix on the same rows, and joint EM.

    python -m benchmarks.speed.fits [--seeds 5] [--first-seed 0] [--large-seeds 1] [--no-large] [--record] [--quick]

Rows of `make_moe` (d=5, k=3, noise 0.3), a noise scale per expert and intercepts everywhere, which is flexmix's model.
Both run on one thread. flexmix's time is that of the first of its random starts that comes within 0.001 per row of our
log-likelihood; its failed starts and its ``refit`` for standard errors are shown beside it, R's own start and reading
the rows are not counted. Ours are a whole fit by maximum likelihood, which is what flexmix does, and a default fit,
which holds rows out for its penalty and its levels; both with standard errors. Goals: 20 times our time at n=5000, 60
times at n=40000.

A default fit is also to cost at most 5 times a run of joint EM, with standard errors likewise, from random labels that
ends within 0.001 of the best: the median of those that do, over random starts.

Where NGBoost is installed, its 500 rounds on concrete stand beside our fit that chooses the number of experts there.
Without Rscript on the path flexmix's columns stay empty. Run it on an idle machine: times are wall clock.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from benchmarks.flexmix import flexmix as rscript
from skmoe import MoERegressor, make_moe
from skmoe.datasets import load_concrete

RESULTS = Path(__file__).parents[1] / "results" / "fits.json"
D, K, SIGMA = 5, 3, 0.3
SAME = 1e-3  # per row
MOST_COST = 5.0


class Setting(NamedTuple):
    n: int
    goal: float  # times faster than flexmix
    random_starts: int  # of joint EM
    repeats: int  # of our fit, the median is taken


class Rival(NamedTuple):
    """flexmix until it reached our likelihood: all its starts, the one that did, and its standard errors."""

    seconds: float
    successful: float  # a lower bound, all starts, where none did
    refit: float
    failed: int
    reached: bool
    problem: str | None = None


def timed_fit(X: np.ndarray, y: np.ndarray, seed: int, **how: object) -> tuple[float, MoERegressor]:
    model = MoERegressor(K, noise="per-expert", random_state=seed, **how)
    begin = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - begin, model


def flexmix_until(X: np.ndarray, y: np.ndarray, wanted: float, seed: int, most: int, limit: float) -> Rival:
    """Random starts one by one until one reaches `wanted` in total log-likelihood, then the standard errors."""
    spent = 0.0
    for start in range(most):
        begin = time.perf_counter()
        try:
            run = rscript.run_flexmix(X, y, K, starts=1, seed=seed + start, timeout=limit - spent)
        except subprocess.TimeoutExpired:
            spent += time.perf_counter() - begin
            return Rival(spent, spent, 0.0, start, False, "out of time")
        own = float(run["seconds"][0])
        spent += own
        if run["log_likelihood"][0] >= wanted:
            try:
                again = rscript.run_flexmix(X, y, K, starts=1, seed=seed + start, standard_errors=True, timeout=limit)
            except subprocess.TimeoutExpired:
                return Rival(spent, own, limit, start, True, "refit out of time")
            errors = again["best"]["standard_errors"]
            return Rival(spent, own, float(errors["seconds"]), start, True, errors["error"])
        if spent >= limit:
            return Rival(spent, spent, 0.0, start + 1, False, "out of time")
    return Rival(spent, spent, 0.0, most, False, "out of starts")


class Outcome(NamedTuple):
    ours: float
    likelihood: float  # seconds of a fit by maximum likelihood
    rival: Rival | None
    joint: np.ndarray  # seconds of joint-EM runs that succeed
    joint_runs: int
    behind: bool  # a random joint-EM run found a better optimum than the default fit
    errors_missing: bool

    @property
    def faster(self) -> float:
        """Times faster than flexmix, a default fit."""
        return np.nan if self.rival is None else self.rival.successful / self.ours

    @property
    def faster_alike(self) -> float:
        """The same of a fit by maximum likelihood."""
        return np.nan if self.rival is None else self.rival.successful / self.likelihood

    @property
    def cost(self) -> float:
        """Our time over that of a joint-EM run that succeeds."""
        return self.ours / float(np.median(self.joint)) if len(self.joint) else np.nan


def measure(setting: Setting, seed: int, most: int, limit: float) -> Outcome:
    X, y, _ = make_moe(setting.n, D, K, noise_scale=SIGMA, random_state=seed)
    fits = [timed_fit(X, y, seed) for _ in range(setting.repeats)]
    ours, model = float(np.median([seconds for seconds, _ in fits])), fits[0][1]
    alike = [timed_fit(X, y, seed, penalty=0, calibration=None) for _ in range(setting.repeats)]
    likelihood = float(np.median([seconds for seconds, _ in alike]))
    runs = [timed_fit(X, y, 1000 * seed + s, method="joint-em", n_init=1) for s in range(setting.random_starts)]
    best = max(model.log_likelihood_, alike[0][1].log_likelihood_, *(run.log_likelihood_ for _, run in runs))
    joint = np.array([seconds for seconds, run in runs if run.log_likelihood_ >= best - setting.n * SAME])
    rival = None
    if rscript.available():
        rival = flexmix_until(X, y, model.log_likelihood_ - setting.n * SAME, 1 + 1000 * seed, most, limit)
    behind = model.log_likelihood_ < best - setting.n * SAME
    return Outcome(ours, likelihood, rival, joint, len(runs), behind, model.covariance_ is None)


def row_of(setting: Setting, outcomes: list[Outcome]) -> list[str]:
    def over_seeds(values: list[float], form: str) -> str:
        kept = np.array(values)[np.isfinite(values)]
        return f"{np.median(kept):{form}} ({kept.min():{form}} to {kept.max():{form}})" if len(kept) else ""

    rivals = [o.rival for o in outcomes if o.rival is not None]
    faster, cost = [o.faster for o in outcomes], [o.cost for o in outcomes]
    failed = f"{sum(r.failed for r in rivals)} of {sum(r.failed + r.reached for r in rivals)}" if rivals else ""

    def judged(times: list[float]) -> str:
        met = "" if not rivals else "met" if np.nanmedian(times) >= setting.goal else "MISSED"
        return f"{over_seeds(times, '.0f')} {met}"

    cheap = "" if not np.any(np.isfinite(cost)) else "met" if np.nanmedian(cost) <= MOST_COST else "MISSED"
    return [
        str(setting.n),
        str(len(outcomes)),
        over_seeds([o.ours for o in outcomes], ".2f"),
        over_seeds([o.likelihood for o in outcomes], ".2f"),
        over_seeds([r.successful for r in rivals], ".1f"),
        over_seeds([r.seconds for r in rivals], ".1f"),
        over_seeds([r.refit for r in rivals], ".1f"),
        failed,
        judged(faster),
        judged([o.faster_alike for o in outcomes]),
        f"{setting.goal:g}",
        over_seeds([float(np.median(o.joint)) if len(o.joint) else np.nan for o in outcomes], ".2f"),
        f"{sum(len(o.joint) for o in outcomes)} of {sum(o.joint_runs for o in outcomes)}",
        f"{over_seeds(cost, '.1f')} {cheap}",
        f"{sum(o.behind for o in outcomes)}, {sum(o.errors_missing for o in outcomes)}",
    ]


def beside_ngboost(repeats: int = 3) -> dict[str, float]:
    """Median seconds on concrete of NGBoost's 500 rounds and of our fit that chooses the number of experts."""
    from ngboost import NGBRegressor

    X, y = load_concrete(return_X_y=True)
    seconds: dict[str, list[float]] = {"NGBoost": [], "auto": []}
    for seed in range(repeats):
        rival = NGBRegressor(n_estimators=500, verbose=False, random_state=seed)
        ours = MoERegressor("auto", random_state=seed)
        for name, model in (("NGBoost", rival), ("auto", ours)):
            begin = time.perf_counter()
            model.fit(X, y)
            seconds[name].append(time.perf_counter() - begin)
    return {name: float(np.median(times)) for name, times in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5, help="problems at n=5000")
    parser.add_argument("--large-seeds", type=int, default=1, help="problems at n=40000")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--no-large", action="store_true", help="leave n=40000 out")
    parser.add_argument("--starts", type=int, default=50, help="most random starts of flexmix")
    parser.add_argument("--limit", type=float, default=3600.0, help="most seconds of flexmix for one table")
    parser.add_argument("--record", action="store_true", help=f"keep the figures in {RESULTS.name}")
    parser.add_argument("--quick", action="store_true", help="one problem at n=1000, without goals' meaning")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # joint EM may stop short: its likelihood tells
    plan = [(Setting(5000, 20, 20, 3), arguments.seeds), (Setting(40_000, 60, 8, 3), arguments.large_seeds)]
    if arguments.no_large:
        plan = plan[:1]
    if arguments.quick:
        plan, arguments.starts = [(Setting(1000, 20, 5, 1), 1)], 3
    table = Table(
        title=f"Seconds at equal likelihood, d={D}, k={K}, sigma={SIGMA:g}, first seed {arguments.first_seed}: "
        "median (least to most) over problems"
    )
    heads = (
        "n",
        "problems",
        "default fit with se",
        "maximum likelihood with se",
        "flexmix, a start that succeeds",
        "all its starts",
        "its refit",
        "failed starts",
        "times faster, default fit",
        "maximum likelihood",
    )
    for column in (*heads, "goal", "joint EM that succeeds", "of runs", "cost, goal 5", "behind, no se"):
        table.add_column(column)
    console = Console(width=190)
    if not rscript.available():
        console.print("Rscript was not found on the path: flexmix is left out", style="red")
    timed_fit(*make_moe(1000, D, K, random_state=0)[:2], 0)  # the first fit also loads code
    kept: dict[str, Any] = {}
    for setting, problems in plan:
        outcomes = []
        for seed in range(arguments.first_seed, arguments.first_seed + problems):
            o = measure(setting, seed, arguments.starts, arguments.limit)
            outcomes.append(o)
            console.print(f"n={setting.n}, seed {seed}: {o.ours:.2f} s, {o.rival}, cost {o.cost:.1f}", style="dim")
        if outcomes:
            table.add_row(*row_of(setting, outcomes))
            kept[str(setting.n)] = [
                {
                    "ours": o.ours,
                    "maximum_likelihood": o.likelihood,
                    "times_faster": o.faster,
                    **({} if o.rival is None else o.rival._asdict()),
                }
                for o in outcomes
            ]
    console.print(table)
    if importlib.util.find_spec("ngboost") and not arguments.quick:
        kept["concrete"] = found = beside_ngboost()
        console.print(f"concrete: NGBoost, 500 rounds, {found['NGBoost']:.1f} s; auto {found['auto']:.1f} s")
    if arguments.record:
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
    console.print(
        "behind: problems where a joint-EM run found a better optimum; where flexmix never got there its time"
    )
    console.print("up to then is counted")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
