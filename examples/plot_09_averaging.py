"""
Averages predict, single models explain
=======================================

A real table has many descriptions by regimes that are nearly as good as the best. With ``averaging=20`` many models
share in predictions, weighted by rows held out of their fits, while coefficients and regimes stay those of the best
single model. Here both learn from 300 rows of the concrete table, and predict the other 730.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import train_test_split

from skmoe import MoERegressor
from skmoe.datasets import load_concrete
from skmoe.plots import PredictionDisplay

X, y = load_concrete(return_X_y=True, as_frame=True)
X, X_new, y, y_new = train_test_split(X, y, train_size=300, random_state=0)

single = MoERegressor("auto", random_state=0).fit(X, y)
average = MoERegressor("auto", averaging=20, random_state=0).fit(X, y)
print("the same regimes:", np.allclose(single.expert_coef_, average.expert_coef_, rtol=1e-3))
print(average.regimes())

# %%
# The members have several numbers of experts. Weights come from rows that were held out, so that a model which only
# fits its own rows gets none.

numbers = np.array([len(member.A) for member in average.members_])
for k in np.unique(numbers):
    share = average.member_weights_[numbers == k].sum()
    print(f"{np.sum(numbers == k):2d} members with {k:2d} experts: {share:.0%} of the weight")

# %%
# On rows not seen, the average errs less and its intervals are narrower, while nine in ten of them hold.

boosting = HistGradientBoostingRegressor(random_state=0).fit(X, y)
for name, model in (("single", single), ("average", average), ("boosting", boosting)):
    error = np.sqrt(np.mean((model.predict(X_new) - y_new) ** 2))
    line = f"{name:8} error {error:5.2f} MPa"
    if model is not boosting:
        low, high = model.predict_interval(X_new, coverage=0.9).T
        inside = np.mean((low <= y_new) & (y_new <= high))
        line += f", 90% intervals hold {inside:.0%}, median width {np.median(high - low):.1f}"
    print(line)

# %%
# Each dot is a row not seen, on the interval that was promised for it.

figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.2), sharex=True, sharey=True, layout="constrained")
for ax, model in zip(axes, (single, average), strict=True):
    PredictionDisplay.from_estimator(model, X_new, y_new, target="strength (MPa)", ax=ax)
