"""Whatever the table looks like: no NaN out, no crash, and never a maximum likelihood below a single regression's."""

import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from skmoe import MoERegressor


@st.composite
def tables(draw):
    n, d = draw(st.integers(6, 80)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-8, 9, d) + rng.choice([0.0, 1.0, 1e3], d)
    kinds = draw(st.lists(st.sampled_from(["constant", "duplicate", "rounded", "repeated rows", "0/1"]), max_size=2))
    for kind in kinds:
        column = rng.integers(d)
        if kind == "constant":
            X[:, column] = X[0, column]
        elif kind == "duplicate":
            X[:, column] = X[:, 0]
        elif kind == "rounded":
            X[:, column] = np.round(X[:, column])
        elif kind == "0/1":
            X[:, column] = X[:, column] > np.median(X[:, column])
        else:
            X = X[rng.integers(max(2, n // 3), size=n)]
    y = rng.standard_normal(n) * 10.0 ** rng.integers(-8, 9)
    if draw(st.booleans()):
        y = np.where(rng.random(n) < 0.3, y[0], y)
    weight = rng.integers(0, 4, n).astype(float) if draw(st.booleans()) else None
    return X, y, weight


@settings(max_examples=40, deadline=None, derandomize=True)
@given(tables(), st.sampled_from([2, 3]), st.sampled_from(["shared", "per-expert"]), st.booleans())
def test_any_table_gives_a_sound_fit_or_a_clear_refusal(table, k, noise, intercept):
    X, y, weight = table
    used = slice(None) if weight is None else weight > 0
    if len(np.unique(y[used])) < 2 or np.sum(np.ones(len(y))[used]) < 2:
        return  # refused; see test_bad_rows_are_refused
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            likelihood = {"penalty": 0, "calibration": None}
            model, best, one = (
                MoERegressor(m, noise=noise, fit_intercept=intercept, random_state=0, **how).fit(
                    X, y, sample_weight=weight
                )
                for m, how in ((k, {}), (k, likelihood), (1, likelihood))
            )
        except ValueError as error:
            refusal = str(error)
        else:
            refusal = ""
    if refusal:
        assert "Without intercepts (fit_intercept=False)" in refusal
        assert not intercept
        return
    for name in ("expert_coef_", "expert_intercept_", "gate_coef_", "gate_intercept_", "noise_scale_"):
        assert np.all(np.isfinite(getattr(model, name))), name
    assert np.all(model.noise_scale_ > 0)
    assert np.all(np.isfinite(model.predict(X)))
    assert np.all(np.isfinite(model.predict_interval(X)))
    P = model.gate_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    slack = 1e-9 * (len(y) + abs(one.log_likelihood_)) + 1e-7 * len(y)
    assert best.log_likelihood_ >= one.log_likelihood_ - slack
