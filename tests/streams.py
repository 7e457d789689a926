"""What the tests of rows outside memory share: a problem in wild units, its fit, and what it is to be the same."""

import numpy as np

from skmoe import MoERegressor, make_moe

NAMES = ["mass", "age", "speed", "time"]
ATTRIBUTES = ("expert_coef_", "expert_intercept_", "gate_coef_", "gate_intercept_", "noise_scale_", "expert_coef_se_")


def made_rows():
    X, y, _ = make_moe(12000, 4, 3, noise_scale=0.3, random_state=3)
    return X * [1.0, 20.0, 0.01, 5.0] + [0.0, 100.0, 3.0, -2.0], 5 * y + 40


def let_samples_be_small(patch, sample_rows=3000, canonical_rows=1000):
    """Let 12000 rows be many: they are searched on a sample, and finished on all rows."""
    config = MoERegressor._search_config.changed("rows", sample_rows=sample_rows, canonical_rows=canonical_rows)
    patch.setattr(MoERegressor, "_search_config", config)


def fitted(X, y, **how):
    return MoERegressor(3, random_state=0, **how).fit(X, y)


def assert_same(model, reference, tol=1e-8):
    for name in ATTRIBUTES:
        value, expected = getattr(model, name), getattr(reference, name)
        assert np.max(np.abs(value - expected) / (1 + np.abs(expected))) < tol, name
