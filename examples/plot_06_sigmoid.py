"""
Sigmoid experts
===============

Experts need not be lines. Two dose-response curves, each a sigmoid of the dose; whether a row follows the
sensitive or the hardy one depends on age. The output lies between 0 and 1.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skmoe import MoERegressor
from skmoe.plots import BandDisplay, GateDisplay

rng = np.random.default_rng(0)
n = 1200
table = pd.DataFrame({"dose": rng.uniform(0, 10, n), "age": rng.uniform(20, 80, n)})
hardy = rng.random(n) < 1 / (1 + np.exp((table["age"] - 50) / 4))
index = np.where(hardy, table["dose"] - 7, 1.5 * table["dose"] - 4)
response = 1 / (1 + np.exp(-index)) + rng.normal(0, 0.08, n)

model = MoERegressor(
    n_experts=2, activation="sigmoid", expert_features=["dose"], gate_features=["age"], random_state=0
).fit(table, response)
for i in range(2):
    slope, level = model.expert_coef_[i, 0], model.expert_intercept_[i]
    print(f"expert {i + 1}: half of the full response at dose {-level / slope:.1f}")

# %%
# The truth was 7.0 for the hardy and 2.7 for the sensitive. At the median age both are about as likely, so the band
# spans both curves.

BandDisplay.from_estimator(model, table, "dose", y=response)

# %%
# Who is who, by age:

GateDisplay.from_estimator(model, table, "age")

# %%
# Linear experts would need more pieces for the same. BIC knows:

choices = {"two sigmoid experts": model.bic(table, response)}
for k in (2, 3, 4):
    lines = MoERegressor(n_experts=k, random_state=0).fit(table, response)
    choices[f"{k} linear experts"] = lines.bic(table, response)
plt.figure(figsize=(6.4, 2.6))
plt.barh(list(choices), [value - min(choices.values()) for value in choices.values()], color="#0072B2")
plt.xlabel("BIC above the best")
plt.tight_layout()
