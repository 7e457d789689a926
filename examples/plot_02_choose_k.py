"""
How many experts
================

``n_experts="auto"`` tries one number after the other and keeps the one that predicts held-out rows best, as long as
it gains more than a standard error. Drawn is BIC, which is noted beside. On data simulated from three experts the curve
has a clear elbow; on a smooth curve it has none, and then no number is the true one.
"""

import numpy as np

from skmoe import MoERegressor, make_moe
from skmoe.plots import BandDisplay, ChoiceDisplay, SpectrumDisplay

X, y, truth = make_moe(1000, 4, 3, noise_scale=0.2, random_state=0)
model = MoERegressor(n_experts="auto", random_state=0).fit(X, y)
ChoiceDisplay.from_estimator(model)

# %%
# The moments know it too: three eigenvalues of T2 stand above what sampling noise alone would give.

SpectrumDisplay.from_estimator(model)

# %%
# Now a sine. There are no regimes in it, and rows ask for a piece of line for every bend that they can pay for. The
# prediction is fine. An expert here is no law of anything.

rng = np.random.default_rng(0)
t = rng.uniform(0, 8, (200, 1))
wave = np.sin(t[:, 0]) + rng.normal(0, 0.2, 200)
smooth = MoERegressor(n_experts="auto", random_state=0).fit(t, wave)
BandDisplay.from_estimator(smooth, t, 0, y=wave)
