"""Baselines are scikit-learn's, fitted on one thread."""

import numpy as np
import pytest
from scipy import stats
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from threadpoolctl import threadpool_info, threadpool_limits

from command_line import run, simulated_table
from skmoe.report.methods import OF_COUNTS, OF_COUNTS_OVER_EXPOSURE, OF_NUMBERS, of_classes


def threads():
    return {(library["user_api"], library["num_threads"]) for library in threadpool_info()}


@pytest.fixture
def seen(monkeypatch):
    """Kinds of baselines that were fitted and predicted, and the threads that libraries had meanwhile."""
    found = {}

    def watch(kind, name):
        method = getattr(kind, name)

        def watched(self, *rows, **how):
            found.setdefault((kind.__name__, name), set()).update(threads())
            return method(self, *rows, **how)

        monkeypatch.setattr(kind, name, watched)

    for kind in (LinearRegression, HistGradientBoostingRegressor):
        watch(kind, "fit")
        watch(kind, "predict")
    for kind in (LogisticRegression, HistGradientBoostingClassifier):
        watch(kind, "fit")
        watch(kind, "predict_proba")
    return found


def test_every_baseline_is_fitted_and_predicts_on_one_thread(seen):
    rng = np.random.default_rng(0)
    X, label = rng.normal(size=(60, 2)), rng.integers(0, 2, size=60).astype(float)
    counts = np.column_stack([rng.poisson(3, size=60), np.ones(60)])
    with threadpool_limits(3):
        outputs = (X[:, 0], counts[:, 0], counts, label)
        compared = (OF_NUMBERS, OF_COUNTS, OF_COUNTS_OVER_EXPOSURE, of_classes(2))
        for methods, y in zip(compared, outputs, strict=True):
            for fit in methods.baselines:
                fit(X, y, None)(X, y)
        assert {number for _, number in threads()} == {3}  # given back
    assert len(seen) == 8
    assert all(found == {("blas", 1), ("openmp", 1)} for found in seen.values())


@pytest.mark.parametrize("family", ["gaussian", "classes"])
def test_compare_fits_baselines_on_one_thread(seen, tmp_path, family):
    (tmp_path / "rows.csv").write_text(simulated_table(80)[0])
    target = "y" if family == "gaussian" else "kind"
    with threadpool_limits(3):
        words = ("compare", tmp_path / "rows.csv", "--target", target, "--experts", 1, "--folds", 2)
        assert run(*words, "--family", family).exit_code == 0
    assert len(seen) == 4
    assert all(found == {("blas", 1), ("openmp", 1)} for found in seen.values())


def test_least_squares_has_the_normal_density_of_its_residuals():
    rng = np.random.default_rng(0)
    X, X_new = rng.normal(size=(40, 2)), rng.normal(size=(10, 2))
    y, y_new = X @ [1.0, -2.0] + rng.normal(size=40), X_new @ [1.0, -2.0]
    found = OF_NUMBERS.baselines[0](X, y, None)(X_new, y_new)
    design = np.column_stack([np.ones(40), X])
    coef, rest, *_ = np.linalg.lstsq(design, y, rcond=None)
    law = stats.norm(coef[0] + X_new @ coef[1:], np.sqrt(rest[0] / 37))
    np.testing.assert_allclose(found.log_densities, law.logpdf(y_new))
    np.testing.assert_allclose(found.pit, law.cdf(y_new))
    np.testing.assert_allclose(found.bounds, np.column_stack(law.interval(0.9)))
