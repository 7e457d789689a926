"""
The paper's algorithms, piece by piece
======================================

"Breaking the gridlock in Mixture-of-Experts" learns the experts first, from moments, without knowing the gate;
then the gate, given the experts. Here is every step by itself on a made problem.
"""

import matplotlib.pyplot as plt
import numpy as np

from skmoe import joint_em, label_transform, learn_experts, learn_gate, make_moe, metrics

X, y, truth = make_moe(8000, 10, 3, noise_scale=0.5, random_state=0)

# %%
# **Label transforms.** A quadratic and a cubic of y whose moments hold the experts and nothing of the gate. For
# linear experts they are simple.

t = label_transform("linear", noise_scale=0.5)
print(f"P2(y) = y^2 {t.gamma:+.2f} y,  P3(y) = y^3 {t.alpha:+.2f} y^2 {t.beta:+.2f} y")

# %%
# **Algorithm 1: the experts.** The spectrum of T2 shows three directions; the rest is noise.

experts = learn_experts(X, y, 3, noise_scale=0.5, random_state=0)
print(f"RegressorFit {metrics.regressor_fit(experts.coef, truth.expert_coef):.3f}")
plt.figure(figsize=(6.4, 3.2))
plt.bar(np.arange(1, 11), experts.spectrum, color="#0072B2")
plt.axhline(experts.noise_level, color="#D55E00", linestyle="--", label="what noise alone gives")
plt.xlabel("eigenvalue of T2")
plt.ylabel("size, in shares of the rows")
plt.legend(frameon=False)

# %%
# **Algorithm 2: the gate, given the experts.** EM on the gate alone, from a random start.

gate = learn_gate(X, y, experts.coef, noise_scale=0.5, random_state=0)
print(f"GatingFit {metrics.gating_fit(gate.coef, truth.gate_coef):.3f} after {gate.n_iter} iterations")

# %%
# **Maximum likelihood from there.** The moments are a good place to begin, not to end: joint EM from the two
# stages, beside joint EM from a random start. Both errors are the paper's E(A, W), experts and gate together.


def errors(path):
    """Distance to the truth at each iteration."""
    return [metrics.parameter_error(A, W, truth.expert_coef, truth.gate_coef) for A, W, _ in path]


refined = joint_em(X, y, 3, noise_scale=0.5, init=(experts.coef, gate.coef))
random = joint_em(X, y, 3, noise_scale=0.5, random_state=1)
plt.figure(figsize=(6.4, 3.6))
plt.plot(errors(refined.path), color="#0072B2", label="from the two stages")
plt.plot(errors(random.path), color="#D55E00", linestyle="--", label="from a random start")
plt.xlabel("iteration of joint EM")
plt.ylabel("E(A, W)")
plt.yscale("log")
plt.legend(frameon=False)
