"""
First fit: two regimes of concrete
==================================

Strength of concrete against what went into it and its age: a real table of 1030 rows. Two linear experts are
enough to find the one thing that every engineer knows, that concrete hardens for some weeks and then stops.
"""

from skmoe import MoERegressor
from skmoe.datasets import load_concrete
from skmoe.plots import CoefficientsDisplay, GateDisplay, ResponsibilityDisplay

X, y = load_concrete(return_X_y=True, as_frame=True)
model = MoERegressor(n_experts=2, random_state=0).fit(X, y)
print(f"R2 {model.score(X, y):.2f}, shares {model.shares_.round(2)}")
print(f"noise {model.noise_scale_.round(1)} MPa")

# %%
# The experts' coefficients, each times the standard deviation of its column so that columns can be compared. Age
# matters to expert 1 and hardly to expert 2; the rest is much the same for both.

CoefficientsDisplay.from_estimator(model, scale=X.std(axis=0))

# %%
# Who answers where: the gate against age, the other columns at their medians. Nothing told it to look at age.

GateDisplay.from_estimator(model, X, "age_days")

# %%
# The rows themselves, coloured by the expert that explains them.

ResponsibilityDisplay.from_estimator(model, X, y, "age_days")

# %%
# And what the fit says of itself.

for question, _, words in model.diagnose(X, y).rows:
    print(f"{question}: {words}")
