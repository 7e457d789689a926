"""
Regimes in one dimension, with bands
====================================

Heating against outside temperature. Below about 12 degrees the heating runs and the colder it is the more it
burns; above, there is only warm water. The bands hold half and nine tenths of new rows; they are wide where the
regime is in doubt and nowhere else.
"""

import matplotlib.pyplot as plt
import numpy as np

from skmoe import MoERegressor
from skmoe.plots import BandDisplay

rng = np.random.default_rng(0)
temperature = rng.uniform(-10, 30, 600)
heating = rng.random(600) < 1 / (1 + np.exp((temperature - 12) / 1.5))
use = np.where(heating, 50 - 2.5 * temperature, 12 + 0.1 * temperature) + rng.normal(0, 2, 600)
X = temperature[:, None]

model = MoERegressor(n_experts=2, random_state=0).fit(X, use)
BandDisplay.from_estimator(model, X, 0, y=use)

# %%
# One interval is not the whole story. At ten degrees the distribution of the use has two humps; `sample` draws from
# it.

at = np.full((4000, 1), 10.0)
plt.figure(figsize=(6.4, 3.2))
plt.hist(model.sample(at, random_state=0), bins=60, color="#0072B2", density=True)
low, high = model.predict_interval(at[:1], coverage=0.9)[0]
for bound in (low, high):
    plt.axvline(bound, color="#D55E00", linestyle="--")
plt.xlabel("use at 10 degrees (dashed: 90% interval)")
plt.ylabel("density")

# %%
# The laws, with their standard errors.

print(model.summary())
