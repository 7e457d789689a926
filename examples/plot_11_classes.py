"""
Yes and no in two regimes
=========================

Who buys? Among some customers those with more income do, among others those with less. One logistic regression sees
nothing; two under a gate see both.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skmoe import MoEClassifier, plots

rng = np.random.default_rng(0)
n = 2000
customers = pd.DataFrame({"income": rng.normal(0, 1, n), "age": rng.uniform(20, 70, n)})
young = rng.random(n) < 1 / (1 + np.exp((customers["age"] - 45) / 2))
odds = np.where(young, -0.5 + 2.5 * customers["income"], 0.5 - 2.0 * customers["income"])
buys = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "buys", "leaves")

for k in (1, 2):
    model = MoEClassifier(k, random_state=0).fit(customers, buys)
    experts = "1 expert" if k == 1 else f"{k} experts"
    print(f"{experts}: {model.score(customers, buys):.2f} right, log-likelihood {model.log_likelihood_:.1f}")

# %%
# The table tells odds ratios with intervals: one unit more of income multiplies the odds of leaving by so much.

model.summary()

# %%
# What each expert says along its strongest input: the line is its probability, marks are how often the class came
# among its rows.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
for i, ax in enumerate(axes):
    plots.ExpertProbabilityDisplay.from_estimator(model, customers, buys, i, ax=ax)
    ax.set_title(model.regimes().rows[i][2])

# %%
# The probability of each class is that of the experts, weighted by the gate.

income = np.linspace(-3, 3, 100)
fig, ax = plt.subplots()
for age in (30, 45, 60):
    rows = pd.DataFrame({"income": income, "age": float(age)})
    ax.plot(income, model.predict_proba(rows)[:, 0], label=f"age {age}")
ax.set(xlabel="income", ylabel="probability of buying")
ax.legend()

# %%
# Do the probabilities hold? Among rows that were not fitted to, a class should come as often as its probability says.

half = np.arange(n) % 2 == 0
fitted = MoEClassifier(2, random_state=0).fit(customers[half], buys[half])
plots.ReliabilityDisplay.from_estimator(fitted, customers[~half], buys[~half])
