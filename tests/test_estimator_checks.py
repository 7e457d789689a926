"""scikit-learn's own checks of an estimator, for each method."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from skmoe import MoERegressor

# score_samples is the log density of y given X, so it takes both; these three checks call it with X alone. What the
# first two check of the other methods is in test_estimator.py (test_methods_treat_rows_one_by_one).
NEEDS_Y = "score_samples(X, y) is the log density of the outputs and cannot be called without them"
EXPECTED = {
    "check_methods_sample_order_invariance": NEEDS_Y,
    "check_methods_subset_invariance": NEEDS_Y,
    "check_array_api_input": NEEDS_Y,
}


@pytest.mark.filterwarnings("ignore:n_experts=.*asks for more than")  # the checks' tables are tiny
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [MoERegressor(), MoERegressor(1), MoERegressor(method="joint-em", n_init=2), MoERegressor(noise="per-expert")],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
