"""Every family, whatever holds the rows: PyTorch, files read in blocks, Dask; weights, sandwich, penalty, files."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import skmoe
from skmoe import MoEClassifier, MoERegressor
from skmoe.model.families import StudentFamily

QUICK = {"penalty": 0.3, "random_state": 0}
ROWS = 240


@dataclass(frozen=True)
class Case:
    """A family, and outputs that it takes, of one column or several."""

    family: Any
    y: np.ndarray

    def model(self, k=2, **how):
        if self.family == "classes":
            return MoEClassifier(k, **QUICK | how)
        return MoERegressor(k, family=self.family, calibration=None, **QUICK | how)


def inputs():
    return np.random.default_rng(0).standard_normal((ROWS, 2))


def truncated(law, X, low, high, rng):
    """Outputs of two regimes within bounds: others are drawn again."""
    y = np.full(ROWS, np.nan)
    turn = np.where(X[:, 1] > 0, 1.0, -1.0)
    while np.any(empty := np.isnan(y)):
        drawn = turn * (2.0 if law == "gaussian" else 0.5) + 0.5 * turn * X[:, 0] + 0.3 * rng.standard_normal(ROWS)
        drawn = drawn + 1 if law == "gaussian" else np.exp(drawn + 0.5)
        y = np.where(empty & (drawn > low) & (drawn < high), drawn, y)
    return y


def cases():
    rng, X = np.random.default_rng(1), inputs()
    turn = np.where(X[:, 1] > 0, 1.0, -1.0)
    eta, noise = 0.5 + 0.9 * turn * X[:, 0], rng.standard_normal(ROWS)
    days, trials = rng.uniform(1, 5, ROWS), rng.integers(2, 9, ROWS)
    odds = 1 / (1 + np.exp(-6 * turn * X[:, 0]))
    number, positive = 3 * turn + eta + 0.4 * noise, np.exp(eta + 0.3 * noise)
    hits = rng.binomial(trials, odds)
    two = {"poisson": rng.poisson(days * np.exp(eta)), "negative-binomial": rng.poisson(days * positive)}
    found = {
        "student": Case("student", number),
        "student, dof given each": Case(StudentFamily(expert_dof=(3.0, 30.0)), number),
        "poisson": Case("poisson", rng.poisson(np.exp(eta)).astype(float)),
        "negative-binomial": Case("negative-binomial", rng.poisson(positive).astype(float)),
        "gamma": Case("gamma", np.exp(eta) * rng.gamma(4, 0.25, ROWS)),
        "lognormal": Case("lognormal", positive),
        "binomial": Case("binomial", (rng.random(ROWS) < odds).astype(float)),
        "binomial, trials": Case("binomial", np.column_stack([hits, trials - hits]).astype(float)),
        **{f"{name}, exposure": Case(name, np.column_stack([y, days])) for name, y in two.items()},
        "two classes": Case("classes", (rng.random(ROWS) < odds).astype(float)),
        "three classes": Case(
            "classes", np.digitize(4 * turn * X[:, 0] + rng.logistic(size=ROWS), [-1, 1]).astype(float)
        ),
    }
    for law, y, low, high in (("gaussian", number, -3.0, 4.5), ("lognormal", positive, 0.5, 9.0)):
        lowest = -np.inf if law == "gaussian" else 0.0
        bounds = np.column_stack([np.where(y < low, lowest, y), np.maximum(y, low)])
        found[f"censored-{law}"] = Case(f"censored-{law}", bounds)
        y = truncated(law, X, low, high, rng)
        found[f"truncated-{law}"] = Case(f"truncated-{law}", np.column_stack([y, np.tile([low, high], (ROWS, 1))]))
    return found


CASES = cases()


@pytest.fixture(scope="module")
def fits():
    """Each family fitted once to arrays of NumPy."""
    made = {}

    def of(name):
        if name not in made:
            made[name] = CASES[name].model().fit(inputs(), CASES[name].y)
        return made[name]

    return of


def same(model, other):
    assert_allclose(other.log_likelihood_, model.log_likelihood_, rtol=1e-7)
    assert_allclose(other.expert_coef_, model.expert_coef_, rtol=1e-4, atol=1e-5)
    assert_allclose(other.covariance_robust_, model.covariance_robust_, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("name", list(CASES))
def test_rows_of_pytorch_give_the_same_fit(name, fits):
    torch = pytest.importorskip("torch")
    case = CASES[name]
    for device in ("cpu", *(["cuda"] if torch.cuda.is_available() else [])):
        X, y = (torch.from_numpy(values).to(device) for values in (inputs(), case.y))
        found = case.model().fit(X, y)
        same(fits(name), found)
        log_density = found.log_density(X, y)
        assert log_density.device.type == device
        expected = fits(name).log_density(inputs(), case.y)
        assert_allclose(log_density.cpu().numpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", list(CASES))
def test_rows_of_a_file_read_in_blocks_give_the_same_fit(name, fits, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    case, X = CASES[name], inputs()
    y = case.y[:, None] if case.y.ndim == 1 else case.y
    names = [f"y{j}" for j in range(y.shape[1])]
    table = {"a": X[:, 0], "b": X[:, 1]} | {column: y[:, j] for j, column in enumerate(names)}
    pq.write_table(pa.table(table), tmp_path / "rows.parquet", row_group_size=100)
    target = names[0] if len(names) == 1 else names
    same(fits(name), case.model().fit(tmp_path / "rows.parquet", target))


@pytest.mark.parametrize("name", list(CASES))
def test_rows_of_dask_give_the_same_fit(name, fits):
    da = pytest.importorskip("dask.array")
    case, X = CASES[name], inputs()
    y = da.from_array(case.y, chunks=(80,) if case.y.ndim == 1 else (80, 1))
    rows = da.from_array(X, chunks=(80, 2))
    found = case.model().fit(rows, y)
    same(fits(name), found)
    assert_allclose(found.log_density(rows, y).compute(), fits(name).log_density(X, case.y), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", list(CASES))
def test_whole_weights_are_repeated_rows(name):
    case, X = CASES[name], inputs()
    weight = np.random.default_rng(2).integers(0, 3, ROWS).astype(float)
    repeat = weight.astype(int)
    one = case.model().fit(X, case.y, sample_weight=weight)
    other = case.model().fit(np.repeat(X, repeat, axis=0), np.repeat(case.y, repeat, axis=0))
    assert_allclose(one.log_likelihood_, other.log_likelihood_, rtol=1e-6)
    assert_allclose(one.expert_coef_, other.expert_coef_, rtol=1e-3, atol=1e-4)
    assert_allclose(one.covariance_, other.covariance_, rtol=1e-3, atol=1e-5)


def second_difference(each, at, s, t):
    """Mixed second derivative of a sum over rows along two steps of 1e-4."""
    return sum(a * b * np.sum(each(at + a * s + b * t)) for a in (-1, 1) for b in (-1, 1)) / 4e-8


@pytest.mark.parametrize("name", [name for name in CASES if "each" not in name])  # one expert has one number
def test_sandwich_of_one_expert_is_made_of_differences(name):
    """H^-1 (sum of squared scores) H^-1, with scores of rows by differences of their log densities."""
    case, X = CASES[name], inputs()
    model = case.model(1, penalty=0).fit(X, case.y)
    p, m, d = model.parameters_, model.parameters_.family.predictors, 2
    flat = np.concatenate([p.A.ravel(), p.b.ravel(), np.log(p.sigma)])

    def each(v):
        A, b = v[: m * d].reshape(p.A.shape), v[m * d : m * d + m].reshape(p.b.shape)
        codes = case.y if case.family != "classes" else np.searchsorted(model.classes_, case.y).astype(float)
        return replace(p, A=A, b=b, sigma=np.exp(v[m * (d + 1) :])).log_density(X, codes)

    free = m * (d + 1) + bool(p.family.has_scale)
    steps = 1e-5 * np.eye(len(flat))[:free]
    scores = np.stack([(each(flat + s) - each(flat - s)) / 2e-5 for s in steps], axis=1)
    H = np.array([[second_difference(each, flat, 10 * s, 10 * t) for t in steps] for s in steps])
    plain = np.linalg.inv(-H)
    sandwich = plain @ (scores.T @ scores) @ plain
    keep = m * (d + 1)
    corner = np.ix_(range(keep), range(keep))
    few = len(X) / (len(X) - d - 1) if case.family in ("gaussian", "lognormal") else 1.0  # degrees of freedom
    learned = name == "student"  # its degrees of freedom are unknown too, which widens errors
    for found, expected in ((model.covariance_, plain), (model.covariance_robust_, sandwich)):
        tolerance = 0.2 if learned else 5e-3
        assert_allclose(np.sqrt(np.diag(found[corner])), np.sqrt(few * np.diag(expected[corner])), rtol=tolerance)


@pytest.mark.parametrize("name", list(CASES))
def test_penalty_draws_experts_together(name, fits):
    loose, tight = fits(name), CASES[name].model(penalty=300.0).fit(inputs(), CASES[name].y)
    apart = [float(np.linalg.norm(m.expert_coef_[0] - m.expert_coef_[1])) for m in (loose, tight)]
    assert apart[1] < 0.9 * apart[0]


@pytest.mark.parametrize("name", list(CASES))
def test_model_file_gives_the_same_numbers(name, fits, tmp_path):
    case, X, model = CASES[name], inputs(), fits(name)
    model.save(tmp_path / "m.skmoe")
    loaded = skmoe.load(tmp_path / "m.skmoe")
    assert_allclose(loaded.log_density(X, case.y), model.log_density(X, case.y), rtol=0, atol=0)
    assert str(loaded.summary(robust=True)) == str(model.summary(robust=True))
    assert str(loaded.diagnose(X)) == str(model.diagnose(X))
