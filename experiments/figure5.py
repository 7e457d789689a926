"""Figure 5: the error of all methods for sigmoid and ReLU experts (paper: appendix H.1).

The paper does not give the noise. Half, as in its figure 4, is more than twice the spread of a sigmoid of unit weight,
so that no method can tell much; a tenth is run as well.
"""

from . import comparison

TITLE = "Figure 5: E(A, W) against iterations for sigmoid and ReLU experts"
TRIALS = 50
SETTINGS = {
    f"{g}, sigma = {sigma}": {"rows": 10000, "d": 5, "k": 3, "sigma": sigma, "g": g} | comparison.LIMITS
    for g in ("sigmoid", "relu")
    for sigma in (0.5, 0.1)
}
QUICK = comparison.QUICK
trial = comparison.trial
