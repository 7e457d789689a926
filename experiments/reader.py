"""What the page reads off the results files: numbers and comparisons by experiment, setting and method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from skmoe.datasets import load_stock_portfolio

from . import claims, tables, wording
from .claims import figures, recovery
from .theory.draws import ACTIVATIONS, GATES

ALIKE = ("below", "no different", "above")


class Reader:
    """Numbers of the results files."""

    def __init__(self, results: dict[str, tables.Found]) -> None:
        self.results = results

    def setting(self, experiment: str, name: str) -> dict[str, Any]:
        """The settings under which trials were run."""
        return self.results[experiment].settings[name]

    def settings(self, experiment: str) -> list[str]:
        """Names of the settings in which methods are compared."""
        return figures.compared(self.results[experiment])

    def has(self, experiment: str, method: str) -> bool:
        """Whether a method ran."""
        return method in self.results[experiment].methods(self.settings(experiment)[0])

    def stage_methods(self) -> list[str]:
        """The variants of the two stages on the real tables, without refinement."""
        found = self.results["figure6"]
        return figures.stage_methods(found, next(iter(found.settings)))

    def trials(self, *experiments: str) -> str:
        """How many trials stand behind each setting of these experiments."""
        counts = [len(trials) for name in experiments for trials in self.results[name].trials.values()]
        return wording.span(counts, "d")

    def values(self, experiment: str, setting: str, *keys: str) -> np.ndarray:
        """One entry of every trial."""
        return self.results[experiment].values(setting, *keys)

    def verdict_counts(self, command: str) -> Counter:
        """How many claims that a command settles have each verdict."""
        return Counter(row[-1] for row in claims.grid(self.results).rows if row[-2] == f"`{command}`")

    # tables 1 and 2

    def recovery_methods(self) -> dict[str, str]:
        """Short names of the methods of tables 1 and 2."""
        return {m: recovery.SHORT.get(m, m) for m in tables.recovery_methods(self.results["table1"])}

    def cells(self, name: str, method: str) -> tuple[int, int, int]:
        """Cells of a table above the paper's mean, at most two standard errors below it, and all."""
        return recovery.cells_met(self.results, name, method)

    def lowest(self, method: str, measure: str) -> float:
        """The lowest mean over the settings of both tables."""
        names = ("table1", "table2")
        return min(float(self.values(n, s, method, measure).mean()) for n in names for s in self.results[n].settings)

    # figures 3 to 5

    def optima(self, experiments: Iterable[str], method: str) -> list[float]:
        """Shares of trials at the optimum over all settings of these experiments."""
        return [share for name in experiments for share in figures.optimum(self.results[name], method)]

    def smaller(self, experiments: Iterable[str], method: str, rival: str) -> dict[int, int]:
        """Settings in which a method's error at the end is below (-1), no different from (0), above (1) a rival's."""
        signs = [
            wording.paired_difference(self.values(e, s, method, "final"), self.values(e, s, rival, "final"))[0]
            for e in experiments
            for s in self.settings(e)
        ]
        return {sign: signs.count(sign) for sign in (-1, 0, 1)}

    def arrivals(self, experiment: str, method: str) -> list[float]:
        """Median iterations until the error stays within 5% of its end, by setting."""
        found = self.results[experiment]
        return [float(np.median(figures.arrivals(found, s, method))) for s in self.settings(experiment)]

    def arrives_first(self, experiments: Iterable[str]) -> tuple[int, int]:
        """Settings in which the two stages have the smaller median of these than joint EM, and all settings."""
        pairs = [
            pair
            for e in experiments
            for pair in zip(self.arrivals(e, "our two stages"), self.arrivals(e, "joint EM"), strict=True)
        ]
        return sum(ours < rival for ours, rival in pairs), len(pairs)

    # the scaling panel

    def panel(self, method: str, group: str = "") -> dict[str, float]:
        """Shares at the optimum by setting, for settings whose name starts so."""
        found = self.results["scaling-panel"]
        names = [s for s in found.settings if s.startswith(group)]
        return {s.removeprefix(group): float(tables.at_optimum(found, s)[method].mean()) for s in names}

    def panel_counts(self, method: str, rival: str) -> tuple[int, int, int]:
        """Settings in which a method is at the optimum more often than a rival, less often, and all."""
        pairs = list(zip(self.panel(method).values(), self.panel(rival).values(), strict=True))
        return sum(a > b for a, b in pairs), sum(a < b for a, b in pairs), len(pairs)

    def cost(self, method: str, rival: str) -> list[float]:
        """Ratio of median seconds of two methods, by setting."""
        found = self.results["scaling-panel"]
        seconds = [[np.median(found.values(s, m, "seconds")) for m in (method, rival)] for s in found.settings]
        return [float(ours / theirs) for ours, theirs in seconds]

    def never_missed(self, method: str) -> str:
        """In how many settings a method was at the optimum in every problem: all, or so many of so many."""
        shares = list(self.panel(method).values())
        count = sum(share == 1 for share in shares)
        return f"all {count}" if count == len(shares) else f"{count} of {len(shares)}"

    # figure 6

    def real(self, table: str, method: str) -> np.ndarray:
        """Test errors on a real table, by split."""
        return self.values("figure6", table, method, "mse")

    def compared(self, method: str, rival: str) -> str:
        """On which real tables the error of a method is below, no different from, above a rival's."""
        signs = {
            table: wording.against(self.real(table, method), self.real(table, rival), ALIKE)
            for table in self.results["figure6"].settings
        }
        groups = {word: [table for table, sign in signs.items() if sign == word] for word in ALIKE}
        return ", ".join(f"{word} on {wording.joined(named)}" for word, named in groups.items() if named)

    def chosen(self, table: str) -> dict[str, tuple[Any, int, int]]:
        """What the search took most often for k, sigma and g, how often, and of how many."""
        counts = figures.choices(self.results["figure6"], table)
        return {key: (*c.most_common(1)[0], c.total()) for key, c in zip(("k", "sigma", "g"), counts, strict=True)}

    def grid_size(self) -> int:
        """Combinations that the search tries."""
        grid = next(iter(self.results["figure6"].settings.values()))["grid"]
        return int(np.prod([len(values) for values in grid.values()]))

    def stock_rows(self) -> int:
        """Training rows of the stock table."""
        rows = len(load_stock_portfolio(return_X_y=True)[1])
        return rows - rows // 4

    def smallest(self, method: str) -> str:
        """Real tables on which a method has the smallest mean error."""
        found = self.results["figure6"]
        wins = []
        for table in found.settings:
            errors = {m: self.real(table, m).mean() for m in found.methods(table)}
            if min(errors, key=errors.__getitem__) == method:
                wins.append(table)
        return wording.joined(wins)

    # theory

    def relu_experts(self) -> dict[tuple[str, str], float]:
        """Mean 1 - RegressorFit at the most rows with either pair of ReLU's constants, by gate and pair."""
        return {
            (gate, pair): float(self.values("theory", f"ReLU constants, {gate}", f"experts, {pair}")[:, -1].mean())
            for gate in GATES
            for pair in ("printed", "corrected")
        }

    def moment_sines(self) -> dict[str, float]:
        """Mean sine of the angle of theorem 3's gate at the most rows, by kind of gate."""
        return {gate: float(self.values("theory", "moment gate", f"sine, {gate}")[:, -1].mean()) for gate in GATES}

    def less_bias(self) -> tuple[int, int]:
        """Cases of a free gate in which our default's median error is below that of plain moments, and all."""
        pairs = []
        for k in (2, 3, 4):
            for g in ACTIVATIONS:
                name = f"orthogonality, k = {k}, {g}"
                ends = [
                    np.median(self.values("theory", name, f"{how}, free gate")[:, -1]) for how in ("default", "plain")
                ]
                pairs.append(ends[0] < ends[1])
        return sum(pairs), len(pairs)
