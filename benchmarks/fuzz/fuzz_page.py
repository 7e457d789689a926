"""The table of docs/reliability.md that is filled from ``benchmarks/results/fuzz.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..shared.pages import fill, markdown
from . import TARGETS

__all__ = ["PAGE", "RESULTS", "blocks", "kept", "update"]

ROOT = Path(__file__).resolve().parents[2]
RESULTS, PAGE = ROOT / "benchmarks/results/fuzz.json", ROOT / "docs/reliability.md"
HEADS = ["what is attacked", "cases", "refused", "taken", "faults", "slowest case (s)", "memory above the base (MiB)"]


def kept(results: Path, name: str, found: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Slices of cases in the results file, with one that was run put in the place of those that hold its cases."""
    slices = json.loads(results.read_text()) if results.is_file() else {}
    first, end = found["start"], found["start"] + found["cases"]
    others = [
        s
        for s in slices.get(name, [])
        if s["seed"] != found["seed"] or s["start"] + s["cases"] <= first or s["start"] >= end
    ]
    slices[name] = sorted([*others, found], key=lambda s: (s["seed"], s["start"]))
    results.write_text(json.dumps({n: slices[n] for n in TARGETS if n in slices}, indent=1) + "\n")
    return slices


def blocks(slices: dict[str, list[dict[str, Any]]]) -> dict[str, str]:
    """Text of each block of the page by name."""
    rows = []
    for name, parts in slices.items():
        counts = [f"{sum(s[key] for s in parts):,}" for key in ("cases", "refused", "taken", "n_faults")]
        above = max((s["above_mib"] for s in parts if s["above_mib"] is not None), default=float("nan"))
        rows.append([name, *counts, f"{max(s['slowest'] for s in parts):.1f}", f"{above:.0f}"])
    seconds = sum(s["seconds"] for parts in slices.values() for s in parts)
    return {
        "fuzz": markdown(HEADS, rows),
        "fuzz time": f"All cases together took {seconds / 60:.0f} minutes of two processes side by side, "
        f"{seconds / 120:.0f} minutes by the clock.",
    }


def update(results: Path = RESULTS, page: Path = PAGE) -> None:
    """Put what the results file says between the page's markers."""
    fill(page, blocks(json.loads(results.read_text())))
