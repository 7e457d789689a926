"""scikit-learn's own checks of an estimator, for each method; none is expected to fail."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from skmoe import MoERegressor


@pytest.mark.filterwarnings("ignore:.*experts ask for more than")  # the checks' tables are tiny
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::skmoe.inference.FewRowsWarning")
@pytest.mark.filterwarnings("ignore::skmoe.inference.RoundedOutputWarning")
@pytest.mark.filterwarnings("ignore::skmoe.spectral.decomposition.RankWarning")
@parametrize_with_checks(
    [
        MoERegressor(),
        MoERegressor(1),
        MoERegressor(method="joint-em", n_init=2),
        MoERegressor(noise="shared"),
        MoERegressor(method="spectral"),
        MoERegressor(1, method="spectral"),
        MoERegressor(method="spectral", spectral_options={"gate_method": "gradient", "radius": 1.0}),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
