"""What pages say of moments for families is what was recorded."""

import json
import re
from pathlib import Path

from benchmarks.spectral import family_accuracy as script

ROOT = Path(__file__).parents[2]
RECORDED = json.loads((ROOT / "benchmarks" / "results" / "family_accuracy.json").read_text())
ROW = r"^\| ([a-z-]+) \| (\d+, \d+, \d+), (free|orthogonal) \| (\S+) ± (\S+) \| (\S+) \| (\S+) ± (\S+) \| (\S+) \|$"


def test_page_has_the_recorded_figures():
    page = (ROOT / "docs" / "stage1.md").read_text()
    shown = {f"{m[1]}, {m[2]}, {m[3]} gate": m.groups()[3:] for m in re.finditer(ROW, page, re.MULTILINE)}
    assert shown.keys() == RECORDED.keys()
    for name, figures in shown.items():
        parts = [RECORDED[name][method][what] for method in ("default", "plain") for what in ("mean", "sd", "worst")]
        assert list(figures) == [f"{value:.3f}" for value in parts], name


def test_script_gives_a_recorded_figure_again():
    fits, _ = script.fits_of("lognormal", script.Setting(5000, 5, 2), range(2))
    found = RECORDED["lognormal, 5000, 5, 2, free gate"]["default"]
    assert all(found["worst"] - 1e-6 <= fit <= 1 for fit in fits["default"])


def test_page_has_what_a_start_from_moments_was_worth():
    found = json.loads((ROOT / "benchmarks" / "results" / "family_starts.json").read_text())
    page = (ROOT / "docs" / "guide" / "families.md").read_text()
    head, *rows = [line for line in page.splitlines() if re.search(r"CPU seconds of a fit|, without and with", line)]
    settings = [cell.strip() for cell in head.split("|")[2:-1]]
    for row in rows:
        family, *cells = [cell.strip() for cell in row.split("|")[1:-1]]
        for setting, cell in zip(settings, cells, strict=True):
            told = found.get(f"{family.split(',')[0]}, {setting}")
            assert cell == ("" if told is None else f"{told['seconds_without']:.2f}, {told['seconds_with']:.2f}")
    n, without, having = (
        sum(f[what] for f in found.values()) for what in ("problems", "reached_without", "reached_with")
    )
    assert f"Without it, {without} of {n} fits" in page
    assert having == n
