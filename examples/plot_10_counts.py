"""
Counts in two regimes
=====================

Doctor visits grow with age for some people and fall for others, who go to work where a doctor comes by. Counts have a
law of their own: their spread grows with their mean, and effects multiply.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skmoe import MoERegressor

rng = np.random.default_rng(0)
n = 2000
people = pd.DataFrame({"age": rng.uniform(20, 70, n), "hours": rng.uniform(0, 50, n)})
working = rng.random(n) < 1 / (1 + np.exp(-(people["hours"] - 25) / 3))
rate = np.exp(np.where(working, 1.5 - 0.03 * (people["age"] - 45), 1.0 + 0.04 * (people["age"] - 45)))
visits = rng.poisson(rate)

# %%
# Poisson experts find both laws. The last columns say by how much a year more multiplies the visits.

model = MoERegressor(n_experts=2, family="poisson", random_state=0).fit(people, visits)
model.summary()

# %%
# Where each of them holds:

model.regimes()

# %%
# Predictive distributions are of counts. Here are the probabilities of each number of visits, for a person of 60 years
# at home and at work.

new = pd.DataFrame({"age": [60.0, 60.0], "hours": [10.0, 40.0]})
numbers = np.arange(15)
law = model.predictive(new)
probability = np.array([law.pdf(float(number)) for number in numbers])
fig, ax = plt.subplots()
ax.bar(numbers - 0.2, probability[:, 0], width=0.4, label="10 hours")
ax.bar(numbers + 0.2, probability[:, 1], width=0.4, label="40 hours")
ax.set(xlabel="visits", ylabel="probability")
ax.legend()

# %%
# Is there more spread than Poisson's? Negative binomial experts would show it: their coefficient of variation is all
# but zero here, and new people are told no better.

X_new = pd.DataFrame({"age": rng.uniform(20, 70, n), "hours": rng.uniform(0, 50, n)})
works = rng.random(n) < 1 / (1 + np.exp(-(X_new["hours"] - 25) / 3))
y_new = rng.poisson(np.exp(np.where(works, 1.5 - 0.03 * (X_new["age"] - 45), 1.0 + 0.04 * (X_new["age"] - 45))))
negative = MoERegressor(n_experts=2, family="negative-binomial", random_state=0).fit(people, visits)
for name, one in (("poisson", model), ("negative binomial", negative)):
    print(f"{name}: {np.mean(one.log_density(X_new, y_new)):.3f} per person, variation {one.noise_scale_.round(2)}")
