"""How sure classifiers are, and the diagnosis of outputs that are no plain numbers."""

import numpy as np
import pandas as pd
import pytest

from skmoe import MoEClassifier, MoERegressor
from skmoe.inference.class_confidence import ClassConfidence, ConfidenceVerdict


def probabilities(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.05, 0.95, n)
    return p, (rng.random(n) < p).astype(float)


def two_columns(p, power):
    odds = (p / (1 - p)) ** power
    return np.column_stack([1 / (1 + odds), odds / (1 + odds)])


@pytest.mark.parametrize(
    ("power", "verdict"),
    [(1.0, ConfidenceVerdict.RIGHT), (4.0, ConfidenceVerdict.TOO_SURE), (0.3, ConfidenceVerdict.LESS_SURE)],
)
def test_verdict_tells_which_way_probabilities_are_off(power, verdict):
    p, y = probabilities()
    assert ClassConfidence.of(two_columns(p, power), y).verdict is verdict


def test_weights_count_as_repeated_rows():
    p, y = probabilities(300)
    w = np.random.default_rng(1).integers(1, 4, 300)
    one = ClassConfidence.of(two_columns(p, 1), y, w)
    other = ClassConfidence.of(two_columns(np.repeat(p, w), 1), np.repeat(y, w))
    assert (one.stated, one.observed) == (pytest.approx(other.stated), pytest.approx(other.observed))


def test_diagnosis_of_a_classifier_asks_what_applies():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"a": rng.standard_normal(800), "b": rng.standard_normal(800), "town": rng.choice(["x", "y"], 800)}
    )
    y = np.where(rng.random(800) < 1 / (1 + np.exp(-3 * X["a"] * np.sign(X["b"]))), "yes", "no")
    X.loc[:20, "a"] = np.nan
    model = MoEClassifier(2, random_state=0).fit(X, y)
    words = {question: said for question, _, said in model.diagnose(X, y).rows}
    assert set(words) == {
        "rows per parameter",
        "gaps in a",
        "agreement of starts",
        "fitted range",
        "probabilities",
    }
    assert words["probabilities"] != "probabilities near 1 are too near: the model is too sure"
    assert "probabilities" not in {row[0] for row in model.diagnose(X).rows}
    turned = np.where(y == "yes", "no", "yes")
    assert "too sure" in {row[0]: row[2] for row in model.diagnose(X, turned).rows}["probabilities"]
    with pytest.raises(ValueError, match="labels that the model was not fitted to, such as 'maybe'"):
        model.diagnose(X[:1], ["maybe"])


@pytest.mark.parametrize("family", ["poisson", "student", "lognormal"])
def test_diagnosis_speaks_of_the_consistent_start_only_where_there_is_one(family):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 2))
    y = rng.poisson(np.exp(np.where(X[:, 1] > 0, 1 + X[:, 0], 1 - X[:, 0]))) + (family == "lognormal")
    found = MoERegressor(2, family=family, random_state=0).fit(X, y).diagnose(X, y)
    asked = {row[0] for row in found.rows}
    assert ({"input law", "spectral gap", "gate orthogonal to experts"} <= asked) == (family == "lognormal")
    assert ("consistent start" in str(found)) == (family == "lognormal")
