"""
A gate over two features
========================

Three kinds of driving, told apart by speed and load. The map shows which expert the gate believes in; the paler,
the less sure it is. Only the gate looks at the two columns, only the experts look at the third.
"""

import numpy as np
import pandas as pd

from skmoe import MoERegressor
from skmoe.plots import GateDisplay, ResponsibilityDisplay

rng = np.random.default_rng(1)
n = 1500
table = pd.DataFrame({"speed": rng.uniform(0, 130, n), "load": rng.uniform(0, 1, n), "slope": rng.normal(0, 2, n)})
town, road, heavy = 6 - 0.12 * table["speed"], -8 + 0.1 * table["speed"], -3 + 8 * table["load"]
who = (np.stack([town, road, heavy], axis=1) + rng.gumbel(size=(n, 3))).argmax(axis=1)
level, per_slope = np.array([9.0, 5.0, 7.0])[who], np.array([0.2, 0.8, 1.6])[who]
consumption = level + per_slope * table["slope"] + rng.normal(0, 0.5, n)

model = MoERegressor(
    n_experts=3,
    expert_features=["slope"],
    gate_features=["speed", "load"],
    noise="per-expert",
    random_state=0,
).fit(table, consumption)
GateDisplay.from_estimator(model, table, ["speed", "load"])

# %%
# Along one of the two, the other at its median:

GateDisplay.from_estimator(model, table, "speed")

# %%
# And the rows, each in the colour of the experts that may have made it. Where lines cross nobody can tell.

ResponsibilityDisplay.from_estimator(model, table, consumption, "slope")

# %%
# The experts' slopes were .2, .8 and 1.6; the order is by share.

for i in range(3):
    value, error = model.expert_coef_[i, 2], 1.96 * model.expert_coef_se_[i, 2]
    print(f"expert {i + 1} ({model.shares_[i]:.0%}): {value:.2f} ± {error:.2f} per degree of slope")
