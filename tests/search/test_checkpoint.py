"""A long fit that dies goes on from its checkpoint, to the same answer."""

import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from archives import rewrite
from skmoe import ModelFileError, MoERegressor, load, make_moe
from skmoe.likelihood import Theta
from skmoe.search.checkpoint import Checkpoint
from streams import let_samples_be_small


@pytest.fixture(autouse=True)
def small_samples(monkeypatch):
    let_samples_be_small(monkeypatch, sample_rows=2000)


@pytest.fixture(scope="module")
def rows():
    return make_moe(30000, 3, 2, noise_scale=0.4, random_state=1)[:2]


def same(model, other, tol=1e-8):
    names = ("expert_coef_", "gate_coef_", "noise_scale_", "gate_intercept_")
    return all(np.allclose(getattr(model, n), getattr(other, n), rtol=0, atol=tol) for n in names)


class DiedError(Exception):
    pass


def dying(stage, step):
    """A progress report that ends the fit from within, at a pass over all rows."""
    seen = []

    def report(progress):
        if progress.stage == stage:
            seen.append(progress)
            if len(seen) == step:
                raise DiedError

    return report


@pytest.mark.parametrize("n_experts", [2, "auto"])
def test_fit_goes_on_from_where_it_died(n_experts, rows, tmp_path):
    path, (X, y) = tmp_path / "fit.npz", rows
    whole = MoERegressor(n_experts, random_state=0).fit(X, y)
    with pytest.raises(DiedError):
        MoERegressor(n_experts, random_state=0, checkpoint=path, verbose=dying("all rows", 2)).fit(X, y)
    seen = []
    model = MoERegressor(n_experts, random_state=0, checkpoint=path, verbose=seen.append).fit(X, y)
    assert model.converged_
    assert same(model, whole)
    # folds that choose a number are fitted again, with the same answer; the search that was over is not done again
    assert {progress.stage for progress in seen} == ({"folds", "all rows"} if n_experts == "auto" else {"all rows"})


def test_killed_process_resumes_to_the_same_answer(rows, tmp_path):
    X, y = rows
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    program = textwrap.dedent(f"""
        import os, signal, sys
        import numpy as np
        from skmoe import MoERegressor
        MoERegressor._search_config = MoERegressor._search_config.changed("rows", sample_rows=2000)
        rows = np.load({str(tmp_path / "rows.npz")!r})
        def report(progress):
            if sys.argv[1] == "die" and progress.stage == "all rows" and progress.log_likelihood > -1e9:
                os.kill(os.getpid(), signal.SIGKILL)
        model = MoERegressor(2, random_state=0, checkpoint={str(tmp_path / "fit.npz")!r}, verbose=report)
        model.fit(rows["X"], rows["y"]).save({str(tmp_path / "model")!r})
    """)
    first = subprocess.run([sys.executable, "-c", program, "die"], check=False)
    assert first.returncode == -signal.SIGKILL
    assert not (tmp_path / "model").exists()
    subprocess.run([sys.executable, "-c", program, "live"], check=True)
    assert same(load(tmp_path / "model"), MoERegressor(2, random_state=0).fit(X, y))


def test_checkpoint_of_another_fit_is_refused(rows, tmp_path):
    path, (X, y) = tmp_path / "fit.npz", rows
    MoERegressor(2, random_state=0, checkpoint=path).fit(X[:3000], y[:3000])
    with pytest.raises(ModelFileError, match=r"another fit \(.*noise.* differ\)"):
        MoERegressor(2, random_state=0, checkpoint=path, noise="shared").fit(X[:3000], y[:3000])
    with pytest.raises(ModelFileError, match=r"another fit \(inputs, outputs or weights, .* differ\)"):
        MoERegressor(2, random_state=0, checkpoint=path).fit(X[3000:6000], y[3000:6000])


def test_checkpoint_notices_outputs_and_weights_in_another_order(rows, tmp_path):
    """Means, covariances and ranges are the same: only the pairing differs."""
    path, (X, y) = tmp_path / "fit.npz", (rows[0][:3000], rows[1][:3000])
    weight, order = np.tile([1.0, 2.0, 3.0], 1000), np.random.default_rng(0).permutation(3000)
    whole = MoERegressor(2, random_state=0, checkpoint=path).fit(X, y, weight)
    for others in ((X, y[order], weight), (X, y, weight[order]), (X, y, None), (X[:, ::-1], y, weight)):
        with pytest.raises(ModelFileError, match="which of them belong together, differ"):
            MoERegressor(2, random_state=0, checkpoint=path).fit(*others)
    # rows as they are, in another order, are the same fit
    again = MoERegressor(2, random_state=0, checkpoint=path).fit(X[order], y[order], weight[order])
    assert same(again, whole, tol=1e-4)


def test_unusable_checkpoints_are_refused(rows, tmp_path):
    X, y = rows
    with pytest.raises(ValueError, match="checkpoint: there is no directory"):
        MoERegressor(2, checkpoint=tmp_path / "none" / "fit.npz").fit(X[:3000], y[:3000])
    for content in ("not one", ""):
        (tmp_path / "fit.npz").write_text(content)
        with pytest.raises(ModelFileError, match="no checkpoint of skmoe"):
            MoERegressor(2, checkpoint=tmp_path / "fit.npz").fit(X[:3000], y[:3000])


@pytest.mark.parametrize("method", ["joint-em", "spectral"])
def test_methods_without_a_checkpoint_refuse_one(method, rows, tmp_path):
    X, y = rows
    with pytest.raises(ValueError, match='checkpoint is for method="auto"'):
        MoERegressor(2, method=method, checkpoint=tmp_path / "fit.npz").fit(X[:3000], y[:3000])
    assert not (tmp_path / "fit.npz").exists()


THETA = Theta(np.ones((2, 3)), np.zeros((2, 4)), np.ones(2))


def opened(path, rng=None, **other):
    about = {"settings": {"k": "2"}, "rows": "0f", "widths": (3, 4)} | other
    return Checkpoint(path, **about, rng=rng or np.random.default_rng(0))


@pytest.fixture
def noted(tmp_path):
    path = tmp_path / "fit.npz"
    opened(path).put(THETA, np.random.default_rng(5))
    return path


def test_random_numbers_go_on_from_where_they_were(tmp_path):
    """What is drawn after a stage that was read back is what would have been drawn after it."""
    rng = np.random.default_rng(5)
    rng.random(3)
    opened(tmp_path / "fit.npz").put(THETA, rng)
    expected = rng.random()
    again, other = opened(tmp_path / "fit.npz"), np.random.default_rng(0)
    assert again.get(3, other) is None
    assert again.get(2, other).distance(THETA) == 0
    assert other.random() == expected


def test_random_numbers_of_another_kind_are_refused(noted, rows):
    with pytest.raises(ModelFileError, match="kind of random numbers differ"):
        opened(noted, np.random.Generator(np.random.PCG64DXSM(0)))
    twister = np.random.Generator(np.random.MT19937(0))
    with pytest.raises(ValueError, match="random_state has MT19937"):
        MoERegressor(2, random_state=twister, checkpoint=noted).fit(rows[0][:3000], rows[1][:3000])


@pytest.mark.parametrize(
    "changes",
    [
        {"arrays": {"A_2": np.full((2, 3), np.nan)}},
        {"arrays": {"A_2": np.ones((2, 4))}},
        {"arrays": {"A_2": np.ones((2, 3), dtype=object)}},
        {"arrays": {"W_2": np.ones((1, 4))}},
        {"arrays": {"sigma_2": np.array([1.0, -1.0])}},
        {"arrays": {"sigma_2": np.array([1.0, 0.0])}},
        {"arrays": {"A_3": np.ones((3, 3))}},
        {"drop": "A_2.npy"},
        {"drop": "checkpoint.json"},
        {"drop": "SHA256SUMS"},
        {"add": {"unused.npy": b"x"}},
        {"change": {"stages": {"2": {"bit_generator": "MT19937"}}}},
        {"change": {"stages": {"two": {}}}},
        {"change": {"stages": [2]}},
        {"change": {"settings": 5}},
        {"change": {"format": True}},
        {"change": {"more": 1}},
        {"change": {"rows": None}},
        {"change": {"widths": "34"}},
        {"arrays": {"A_2": 2 * THETA.A}, "sums": False},
    ],
    ids=str,
)
def test_damaged_checkpoint_is_refused_whole(noted, changes):
    rewrite(noted, text="checkpoint.json", **changes)
    with pytest.raises(ModelFileError, match="is damaged or no checkpoint of skmoe") as caught:
        opened(noted)
    assert len(str(caught.value).splitlines()) == 1
    assert "pickle" not in str(caught.value)


def test_checkpoint_of_another_version_is_refused(noted):
    rewrite(noted, text="checkpoint.json", change={"format": 4})
    with pytest.raises(ModelFileError, match="of another version"):
        opened(noted)
