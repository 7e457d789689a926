"""Dask: blocks where the data live, small sums back, and workers that die."""

import os
import signal
import time

import numpy as np
import pytest

from skmoe import MoERegressor
from streams import NAMES, assert_same, fitted

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.usefixtures("small_samples")


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes, with a nanny each that starts them again."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster),
    ):
        yield cluster


def frame(rows, npartitions=5):
    import pandas as pd

    X, y = rows
    return dd.from_pandas(pd.DataFrame(X, columns=NAMES).assign(price=y), npartitions=npartitions)


@pytest.mark.parametrize("kind", ["array", "unequal", "frame", "series"])
def test_collections_give_the_same_model_and_predict_lazily(kind, rows):
    X, y = rows
    reference = fitted(X, y)
    if kind == "array":
        inputs, outputs = da.from_array(X, chunks=(2500, 2)), da.from_array(y, chunks=2500)
    elif kind == "unequal":
        inputs, outputs = da.from_array(X, chunks=((1, 4999, 7000), 4)), y
    elif kind == "frame":
        inputs, outputs = frame(rows), "price"
    else:
        table = frame(rows)
        inputs, outputs = table[NAMES], table["price"]
    model = fitted(inputs, outputs)
    assert_same(model, reference)
    lazy = model.predict(inputs)
    assert isinstance(lazy, da.Array)
    assert np.allclose(lazy.compute(), reference.predict(X), rtol=1e-7)
    gate = model.gate_proba(inputs)
    assert gate.shape[1] == 3
    assert np.allclose(gate.compute(), reference.gate_proba(X), atol=1e-7)
    assert np.allclose(model.log_density(inputs, outputs).compute(), reference.log_density(X, y), atol=1e-6)
    assert np.allclose(model.predict_interval(inputs).compute(), reference.predict_interval(X), rtol=1e-6)
    assert abs(model.score(inputs, outputs) - reference.score(X, y)) < 1e-9
    assert abs(model.bic(inputs, outputs) / reference.bic(X, y) - 1) < 1e-9


def test_processes_give_the_same_model(rows, cluster):
    X, y = rows
    assert_same(fitted(da.from_array(X, chunks=(2000, 4)), da.from_array(y, chunks=2000)), fitted(X, y))


def test_two_workers_lost_in_mid_fit_cost_their_blocks_only(rows, cluster):
    X, y = rows
    killed = []

    def kill(progress):
        if progress.stage == "all rows" and len(killed) < 2:
            client = distributed.get_client()
            victim = next(pid for pid in client.run(os.getpid).values() if pid not in killed)
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    inputs = da.from_array(X, chunks=(1000, 4)).persist()
    model = fitted(inputs, da.from_array(y, chunks=1000), verbose=kill)
    assert len(killed) == 2
    assert_same(model, fitted(X, y))


def test_workers_that_keep_dying_end_the_fit_with_a_word(rows, cluster, monkeypatch):
    X, y = rows
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)  # one death is enough to make the point

    def deadly(block):
        if len(block) and block[0, 0] != 1.0:  # the one row that shapes are tried on lives
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    deadly_rows = da.from_array(X, chunks=(3000, 4)).map_blocks(deadly, dtype=float, meta=np.empty((0, 0)))
    model = MoERegressor(3, random_state=0)
    with pytest.raises(RuntimeError, match="most likely out of memory"):
        model.fit(deadly_rows, da.from_array(y, chunks=3000))
    with pytest.raises(ValueError, match="not fitted"):
        model.predict(X)
    deadline = time.monotonic() + 30  # the nannies bring them back
    while len(cluster.scheduler_info["workers"]) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)


def test_bad_collections_are_refused(rows):
    import pandas as pd

    X, y = rows
    holed = X.copy()
    holed[7000, 2] = np.nan
    with pytest.raises(ValueError, match=r"infinity in columns \[2\]"):
        fitted(da.from_array(holed, chunks=(4000, 4)), da.from_array(y, chunks=4000))
    with pytest.raises(ValueError, match="X has 12000 rows and y has 11999"):
        fitted(da.from_array(X, chunks=(4000, 4)), da.from_array(y[1:], chunks=4000))
    with pytest.raises(ValueError, match="no column 'prize'"):
        fitted(frame(rows), "prize")
    text = dd.from_pandas(pd.DataFrame({"a": ["x", "y"], "price": [1.0, 2.0]}), npartitions=1)
    with pytest.raises(ValueError, match=r"columns \['a'\] of the Dask DataFrame"):
        fitted(text, "price")
    model = fitted(X, y)
    with pytest.raises(ValueError, match="expecting 4 features"):
        model.predict(da.from_array(X[:, :3]))
