"""
Weights, and columns for the gate alone
=======================================

A survey asks some groups more often than others; weights put that right. And where you know which columns switch
the regime, say so: the gate has fewer numbers to learn, and the experts stay readable.
"""

import numpy as np
import pandas as pd
from sklearn.base import clone

from skmoe import MoERegressor
from skmoe.plots import CoefficientsDisplay

rng = np.random.default_rng(0)
n = 3000
table = pd.DataFrame(
    {
        "income": rng.normal(0, 1, n),
        "size": rng.normal(0, 1, n),
        "city": (rng.random(n) < 0.5).astype(float),
    }
)
owner = rng.random(n) < 1 / (1 + np.exp(2 * table["city"] - 1.5))
spend = np.where(owner, 3 + 1.0 * table["income"], 5 + 0.3 * table["income"] + 0.8 * table["size"])
spend = spend + rng.normal(0, 0.5, n)

# %%
# City people were asked four times as often as the others. Each row then counts by one over its chance to be asked.

asked = rng.random(n) < np.where(table["city"] == 1, 0.8, 0.2)
rows, y = table[asked], spend[asked]
weight = np.where(rows["city"] == 1, 1 / 0.8, 1 / 0.2)

plain = MoERegressor(expert_features=["income", "size"], gate_features=["city"], random_state=0)
plain.fit(rows, y)
weighted = clone(plain).fit(rows, y, sample_weight=weight / weight.mean())
for name, model in (("all asked alike", plain), ("weighted", weighted)):
    of_owners = model.shares_[np.argmax(model.expert_coef_[:, 0])]
    print(f"{name:16} share of owners {of_owners:.2f}")
print(f"{'the truth':16} share of owners {owner.mean():.2f}")

# %%
# The experts themselves hardly change, for the weights depend on a column that only the gate looks at. Standard
# errors take a weight of two for two rows; where weights are not counts, as here, draw rows again and again (a
# bootstrap) to know how sure the fit is.

CoefficientsDisplay.from_estimator(weighted)

# %%
# The gate has one column instead of three: fewer parameters, and one number to read.

everything = MoERegressor(n_experts=2, random_state=0).fit(rows, y)
print(f"{weighted.n_parameters_} parameters instead of {everything.n_parameters_}")
print(f"log odds of an owner, city against country: {weighted.gate_coef_[0, 2]:+.2f}; the truth is -2")
