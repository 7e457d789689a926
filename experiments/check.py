"""Whether a quick run gives the same numbers as the one kept in ``quick.json``: times aside, to 1e-6.

``python -m experiments.check`` keeps the present quick results as the reference.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import runner

REFERENCE = Path(__file__).parent / "quick.json"
QUICK = runner.RESULTS / "quick"
TOLERANCE = 1e-6


def numbers(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Every leaf of nested results with its place."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from numbers(item, f"{place}/{key}")
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from numbers(item, f"{place}/{i}")
    else:
        yield place, value


def without_times(value: Any) -> Any:
    """The same without what was timed."""
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if key != "seconds"}
    return value


def collect(folder: Path) -> dict[str, Any]:
    """What was found, by experiment and by setting and trial."""
    return {
        path.stem: {f"{r['setting']}/{r['trial']}": without_times(r["found"]) for r in runner.read(path)[1]}
        for path in sorted(folder.glob("*.jsonl"))
    }


def differences(folder: Path) -> list[str]:
    """What differs from the reference. Adam's numbers may be missing: PyTorch is optional."""
    found, reference = (dict(numbers(tree, "")) for tree in (collect(folder), json.loads(REFERENCE.read_text())))
    without_torch = not any("/Adam, " in place for place in found)
    expected = {p: v for p, v in reference.items() if not (without_torch and "/Adam, " in p)}
    missing = [f"{place}: missing" for place in expected if place not in found]
    new = [f"{place}: not in the reference" for place in found if place not in expected]
    moved = [
        f"{place}: {found[place]!r}, reference {value!r}"
        for place, value in expected.items()
        if place in found and not _same(found[place], value)
    ]
    return missing + new + moved


def _same(value: Any, reference: Any) -> bool:
    if isinstance(value, str) or isinstance(reference, str):
        return value == reference
    return abs(value - reference) <= TOLERANCE * max(1.0, abs(reference))


if __name__ == "__main__":
    REFERENCE.write_text(json.dumps(collect(QUICK), separators=(",", ":")).replace('},"', '},\n"') + "\n")
