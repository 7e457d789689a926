"""The benchmark of the bootstrap test's level and power, and the figures of it that the guide tells."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.inference import bootstrap_level

ROOT = Path(__file__).parents[2]


def test_experts_of_a_drawn_table_are_told_apart_and_tables_repeat():
    X, y = bootstrap_level.drawn(3, 1)
    assert X.shape == (bootstrap_level.N, bootstrap_level.D)
    np.testing.assert_array_equal(y, bootstrap_level.drawn(3, 1)[1])
    assert not np.array_equal(y, bootstrap_level.drawn(3, 2)[1])


def test_share_has_its_standard_error():
    assert bootstrap_level.share([True, False, False, False]) == {
        "share": 0.25,
        "error": pytest.approx(0.2165, abs=1e-4),
    }


def test_quick_run_reports_and_writes_nothing(tmp_path, capsys):
    bootstrap_level.main(["--quick", "--jobs", "1", "--out", str(tmp_path / "none.json")])
    assert "rejected at 5%" in capsys.readouterr().out
    assert not (tmp_path / "none.json").exists()


def test_figures_in_the_guide_are_those_of_the_results():
    found = json.loads((ROOT / "benchmarks/results/bootstrap.json").read_text())
    page = " ".join((ROOT / "docs/guide/choosing.md").read_text().split())
    level, power = (found[f"true_{k}"] for k in (2, 3))
    for name, one in (("rejected", level), ("rejected", power), ("bic", level), ("bic", power)):
        assert f"{one[name]['share']:.1%} ± {one[name]['error']:.1%}" in page
    low, high = bootstrap_level.GOAL
    assert low <= level["rejected"]["share"] <= high
    assert f"{found['tables']} simulated tables" in page
    assert f"a test takes about {found['cost']['test']:.0f} s" in page
