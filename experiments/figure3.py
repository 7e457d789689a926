"""Figure 3: (a) GatingFit along the gate's EM, (b, c) the error of all methods for three and four experts."""

from __future__ import annotations

from typing import Any

from . import comparison, table2

TITLE = "Figure 3: the gate's EM, and E(A, W) against iterations for k = 3, 4"
TRIALS = 50
SETTINGS: dict[str, dict[str, Any]] = {
    "a": table2.SETTINGS["non-orthogonal"],
    "b, k = 3": {"rows": 8000, "d": 10, "k": 3, "sigma": 0.5, "g": "linear"} | comparison.LIMITS,
    "c, k = 4": {"rows": 8000, "d": 10, "k": 4, "sigma": 0.5, "g": "linear"} | comparison.LIMITS,
}
QUICK = comparison.QUICK


def trial(setting: dict[str, Any], seed: int) -> dict[str, Any]:
    """Panel (a) follows the gate of table 2's free setting, the others compare methods."""
    if "orthogonal" in setting:
        return table2.trial(setting, seed, path=True)
    return comparison.trial(setting, seed)
