"""
Airfoil noise: honest intervals on new rows
===========================================

Noise of wing sections in a wind tunnel: 1503 rows, five inputs. A third is held out; the question is whether nine
in ten of the new rows fall into the 90% interval.
"""

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split

from skmoe import MoERegressor
from skmoe.datasets import load_airfoil
from skmoe.plots import BandDisplay, CalibrationDisplay, CoefficientsDisplay, TraceDisplay

X, y = load_airfoil(return_X_y=True, as_frame=True)
X.insert(0, "log10_frequency_hz", np.log10(X.pop("frequency_hz")))
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, random_state=0)

model = MoERegressor(n_experts=3, noise="per-expert", random_state=0).fit(X_train, y_train)
low, high = model.predict_interval(X_test, coverage=0.9).T
inside = np.mean((y_test > low) & (y_test < high))
print(f"test R2 {model.score(X_test, y_test):.2f}; in the 90% interval: {inside:.1%}")

# %%
# For scale: one line is worse, boosting is better. It has no coefficients to read.

for other in (LinearRegression(), HistGradientBoostingRegressor(random_state=0)):
    other.fit(X_train, y_train)
    print(f"{type(other).__name__:30} test R2 {other.score(X_test, y_test):.2f}")

# %%
# Calibration on the rows held out. Left, where y fell in its predictive distribution: flat is right. Right, how
# often intervals of every size were met.

CalibrationDisplay.from_estimator(model, X_test, y_test)

# %%
# Noise against frequency, the other columns at their medians. The points have other values there, so some lie
# outside.

BandDisplay.from_estimator(model, X_train, "log10_frequency_hz", y=y_train)

# %%
# The experts side by side, in decibels per standard deviation of a column.

CoefficientsDisplay.from_estimator(model, scale=X_train.std(axis=0))

# %%
# How the optimum was found: the last steps of the winner, and how far below it each start ended.

TraceDisplay.from_estimator(model)
