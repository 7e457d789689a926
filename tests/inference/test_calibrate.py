"""What held-out rows say of intervals."""

import warnings

import numpy as np
import pytest

from skmoe import MoERegressor, make_moe
from skmoe.inference.calibrate import COVERAGES, held_out_coverage
from skmoe.inference.held_out import coverage_text
from skmoe.model.calibration import Calibration
from skmoe.search.folds import Fold, Folds


class Rows:
    n = 600


def folds_of(n, count=3):
    fold_of = np.arange(n) % count
    return Folds(Rows, np.ones(n), tuple(Fold(None, None, np.flatnonzero(fold_of == f), None) for f in range(count)))


def test_coverage_is_the_share_of_scores_inside_intervals():
    z = np.random.default_rng(0).normal(size=600)
    found = held_out_coverage(folds_of(600), z, corrected=False)
    expected = [(c, np.mean(np.abs(z) <= q)) for c, q in zip(COVERAGES, (0.674490, 1.644854, 1.959964), strict=True)]
    np.testing.assert_allclose(found, expected)


def test_coverage_is_corrected_by_the_other_folds():
    folds, z = folds_of(600), 2.0 * np.random.default_rng(0).normal(size=600)
    levels = np.empty(600)
    for f in range(3):
        others = np.arange(600) % 3 != f
        levels[~others] = Calibration.fit(z[others]).levels(z[~others])
    expected = [np.mean(np.abs(levels - 0.5) <= c / 2) for c in COVERAGES]
    np.testing.assert_allclose([share for _, share in held_out_coverage(folds, z)], expected)
    np.testing.assert_allclose(expected, COVERAGES, atol=0.06)
    assert held_out_coverage(folds, z, corrected=False)[1][1] < 0.7


@pytest.mark.parametrize(
    ("k", "settings"), [(2, {}), (1, {"n_experts": "auto"}), (2, {"n_experts": "auto", "averaging": 4})]
)
def test_coverage_is_noted_in_the_fit_and_said(k, settings):
    X, y, _ = make_moe(500, 3, k, random_state=0)
    model = MoERegressor(random_state=0, **settings).fit(X, y)
    found = model.history_["coverage"]
    assert [c for c, _ in found] == list(COVERAGES)
    np.testing.assert_allclose([share for _, share in found], COVERAGES, atol=0.07)
    held = " and ".join([", ".join(f"{100 * share:.0f}%" for _, share in found[:2]), f"{100 * found[2][1]:.0f}%"])
    words = f"On rows left out of fits, intervals of 50%, 90% and 95% held {held} of the outputs."
    assert coverage_text(model) == words
    assert words in [row[2] for row in model.diagnose().rows]


def test_coverage_without_calibration_is_not_said():
    X, y, _ = make_moe(300, 2, 2, random_state=0)
    model = MoERegressor(2, penalty=1.0, calibration=None, random_state=0).fit(X, y)
    assert coverage_text(model) == ""


def test_quantiles_stay_finite_where_an_expert_has_few_rows_and_tails_are_heavy():
    """Student components under a Student calibration would have tails like a power of the logarithm."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 3))
    y = np.where(X[:, 0] > 0, X @ [1.0, 2.0, 0.0], 3 - X @ [1.0, 1.0, 2.0]) + 0.2 * rng.standard_t(1.5, 90)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a third expert that the rows do not support is asked for
        model = MoERegressor(3, random_state=0).fit(X, y)
    assert model.calibration_.dof < 5
    assert np.min(model.dof_) == 2.0
    law = model.predictive(X)
    assert np.max(law.quantile(1 - 1e-6)) < 1e4
    assert np.all(law.crps(y) < 10 * np.ptp(y))
