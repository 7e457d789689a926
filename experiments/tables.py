"""Tables from results files: nothing is fitted here."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import runner

OPTIMUM = 1e-3  # nats per row below the best known log-likelihood that still count as the optimum
MEASURES = {"regressor_fit": "RegressorFit", "gating_fit": "GatingFit"}
RECOVERY = {  # the first is the paper's own way, with the gate in the unit ball
    "paper": "the paper's choices: plain moments, Orth-ALS on all of T3",
    "orth-als-t2": "plain moments, Orth-ALS inside T2 (ours)",
    "default": "regressed moments, matching (ours)",
    "refined": "maximum likelihood (ours)",
}


class Grid(NamedTuple):
    """A table ready to be shown."""

    title: str
    columns: list[str]
    rows: list[list[str]]


class Found:
    """The trials of one experiment, by setting."""

    def __init__(self, path: Path) -> None:
        self.header, records = runner.read(path)
        self.settings: dict[str, dict[str, Any]] = self.header["settings"]
        self.trials: dict[str, list[dict[str, Any]]] = {name: [] for name in self.settings}
        for record in records:
            self.trials[record["setting"]].append(record["found"])
        self.seconds = sum(record["seconds"] for record in records)

    def methods(self, setting: str) -> list[str]:
        """Names of the methods that ran."""
        return list(self.trials[setting][0])

    def values(self, setting: str, *keys: str) -> np.ndarray:
        """One entry of every trial, stacked."""
        stacked = []
        for trial in self.trials[setting]:
            value: Any = trial
            for key in keys:
                value = value[key]
            stacked.append(value)
        return np.array(stacked)


def load(folder: Path = runner.RESULTS) -> dict[str, Found]:
    """Whatever results there are, by experiment."""
    found = {name: Found(folder / f"{name}.jsonl") for name in runner.MODULES if (folder / f"{name}.jsonl").is_file()}
    return {name: results for name, results in found.items() if all(results.trials.values())}


def spread(values: Any, digits: int = 3) -> str:
    """Mean ± standard deviation."""
    deviation = np.std(values, ddof=1) if len(values) > 1 else np.nan
    return f"{np.mean(values):.{digits}f} ± {deviation:.{digits}f}"


def recovery_methods(found: Found) -> dict[str, str]:
    """Titles of the methods that the results of table 1 or 2 hold, in their order."""
    return {method: RECOVERY.get(method, method) for method in found.methods(next(iter(found.settings)))}


def recovery(found: Found, title: str, paper: dict[str, Any]) -> Grid:
    """Tables 1 and 2: what the paper prints, what its choices give here, then ours."""
    rows, methods = [], recovery_methods(found)
    for measure, label in MEASURES.items():
        for setting in found.settings:
            mean, deviation = paper[setting][measure]
            ours = [spread(found.values(setting, method, measure)) for method in methods]
            rows.append([label, setting, f"{mean:.2f} ± {deviation:.2f}", *ours])
    return Grid(title, ["", "", "printed in the paper", *methods.values()], rows)


def gate_path(found: Found, method: str = "default") -> np.ndarray:
    """GatingFit by trial and iteration (figure 3a) with a method's experts, ended paths held at their end."""
    paths = [trial[method]["path"] for trial in found.trials["a"]]
    longest = max(map(len, paths))
    return np.array([path + path[-1:] * (longest - len(path)) for path in paths])


def iterations_to_end(found: Found, method: str, within: float = 0.01) -> np.ndarray:
    """Iterations after which GatingFit stays within so much of its end."""
    fits = gate_path(found, method)
    away = np.abs(fits - fits[:, -1:]) > within
    return np.where(away.any(axis=1), fits.shape[1] - np.argmax(away[:, ::-1], axis=1), 0)


def at_optimum(found: Found, setting: str) -> dict[str, np.ndarray]:
    """Whether each trial (and start) ended within a thousandth of the best known log-likelihood, by method."""
    ends: dict[str, list[Any]] = {}
    for trial in found.trials[setting]:
        levels = {name: np.atleast_1d(m.get("log_likelihoods", m.get("log_likelihood"))) for name, m in trial.items()}
        best = max(level.max() for level in levels.values())
        for name, level in levels.items():
            ends.setdefault(name, []).append(best - level <= OPTIMUM)
    return {name: np.array(values) for name, values in ends.items()}


def comparison(found: Found, title: str) -> Grid:
    """Figures 3b to 5: where each method ended."""
    rows = []
    for setting in found.settings:
        if setting == "a":
            continue
        shares = at_optimum(found, setting)
        for method in found.methods(setting):
            iterations, seconds = (np.median(found.values(setting, method, key)) for key in ("iterations", "seconds"))
            final = found.values(setting, method, "final")
            cells = [spread(final), f"{np.median(final):.3f}", f"{shares[method].mean():.0%}"]
            rows.append([setting, method, *cells, f"{iterations:.0f}", f"{seconds:.2f}"])
    heads = ["setting", "method", "E(A, W) at the end", "median", "at the optimum", "iterations", "seconds"]
    return Grid(title, heads, rows)


def real_tables(found: Found, title: str) -> Grid:
    """Figure 6: test error by method and table."""
    methods = found.methods(next(iter(found.settings)))
    rows = [[m, *(spread(found.values(table, m, "mse"), 4) for table in found.settings)] for m in methods]
    chosen = []
    for table in found.settings:
        picks = Counter(tuple(trial["joint EM, its best"]["chosen"]) for trial in found.trials[table])
        (k, sigma, g), times = picks.most_common(1)[0]
        chosen.append(f"k = {k}, sigma = {sigma:g}, {g} ({times} of {picks.total()})")
    rows.append(["chosen most often for joint EM", *chosen])
    return Grid(title, ["test mean squared error", *found.settings], rows)


def scaling_methods(found: Found) -> list[str]:
    """The methods of the scaling panel, without the fit started at the truth."""
    return [m for m in found.methods(next(iter(found.settings))) if m != "from the truth"]


def scaling(found: Found, title: str) -> Grid:
    """Share of fits at the optimum, and median seconds, by setting."""
    methods = scaling_methods(found)
    rows = []
    for setting in found.settings:
        shares = at_optimum(found, setting)
        cells = [f"{shares[m].mean():.0%} ({np.median(found.values(setting, m, 'seconds')):.1f} s)" for m in methods]
        rows.append([setting, *cells])
    return Grid(title, ["linear experts, d = 10, sigma = 0.05", *methods], rows)


def slope(sizes: Any, errors: np.ndarray) -> float:
    """Slope of the root-mean-square error against rows, both in logs."""
    return float(np.polyfit(np.log(sizes), np.log(np.sqrt(np.mean(errors**2, axis=0))), 1)[0])


VARIED = ("sizes", "tensor_sizes", "sigmas", "epsilons", "degrees")


def theory(found: Found, title: str) -> Grid:
    """One row for each number that a check gives: what was varied, and the mean over trials."""
    rows = []
    for name, setting in found.settings.items():
        varied = next((setting[key] for key in VARIED if key in setting), [])
        for what in found.trials[name][0]:
            means = np.mean(found.values(name, what), axis=0)
            at = ", ".join(f"{v:g}" for v in varied) if np.ndim(means) == 1 and len(means) == len(varied) else ""
            cells = ", ".join(f"{0.0 if abs(value) < 1e-9 else value:.3g}" for value in np.ravel(means))
            rows.append([name, what, at, cells])
    return Grid(title, ["check", "measured", "at", "mean over trials"], rows)


def grids(results: dict[str, Found]) -> dict[str, Grid]:
    """All tables that the results allow, by experiment."""
    shown = {}
    for name, found in results.items():
        room = runner.module(name)
        if name.startswith("table"):
            shown[name] = recovery(found, room.TITLE, room.PAPER)
        else:
            draw = {"figure6": real_tables, "scaling-panel": scaling, "theory": theory}.get(name, comparison)
            shown[name] = draw(found, room.TITLE)
    return shown


def markdown(grid: Grid) -> str:
    """The table as GitHub and most doc builders read it."""
    lines = [grid.columns, ["---"] * len(grid.columns), *grid.rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
