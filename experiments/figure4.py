"""Figure 4: the error of all methods as rows grow (paper: appendix H.1)."""

from . import comparison

TITLE = "Figure 4: E(A, W) against iterations for n = 1000, 5000, 10000"
TRIALS = 50
SETTINGS = {
    f"n = {n}": {"rows": n, "d": 5, "k": 3, "sigma": 0.5, "g": "linear"} | comparison.LIMITS
    for n in (1000, 5000, 10000)
}
QUICK = comparison.QUICK
trial = comparison.trial
