"""Log gamma and its derivatives against SciPy's, on every array library."""

import numpy as np
import pytest
from scipy import special

from skmoe.arrays.namespaces import to_numpy
from skmoe.model.special import digamma, log_gamma, trigamma


@pytest.mark.parametrize(
    ("found", "expected"),
    [(log_gamma, special.gammaln), (digamma, special.digamma), (trigamma, lambda x: special.polygamma(1, x))],
)
def test_gamma_functions_are_scipys(xp, found, expected):
    x = np.geomspace(1e-6, 1e6, 200)
    np.testing.assert_allclose(to_numpy(found(xp.asarray(x))), expected(x), rtol=1e-12, atol=1e-13)
