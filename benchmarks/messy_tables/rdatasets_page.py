"""The results file ``benchmarks/results/rdatasets.json``, and what docs/rdatasets.md shows of it."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from statistics import median
from typing import Any

from ..shared.pages import fill, markdown

__all__ = ["fill_page", "in_a_line", "read_report", "read_results", "worst", "write_results"]

ROOT = Path(__file__).resolve().parents[2]
RESULTS, PAGE = ROOT / "benchmarks/results/rdatasets.json", ROOT / "docs/rdatasets.md"
METHODS = {"mixture of experts": "r2", "least squares": "r2_least_squares", "gradient boosting": "r2_boosting"}
REFUSED = 2
WORST = 10

# Why least squares is ahead, table by table; a test asks for one for each table that the page names.
EXPLAINED: dict[str, str] = {
    "carData/Anscombe": "51 rows for 14 parameters: two or three states decide where experts change",
    "AER/Parade2005": "earnings from 10,000 to tens of millions: a few celebrities make the squared error",
    "AER/StrikeDuration": "one input that tells next to nothing",
    "AER/GrowthSW": "65 rows for 20 parameters, and little to learn",
    "boot/gravity": "no method predicts better than the mean",
    "AER/UKInflation": "54 rows of a series",
    "asaur/pancreatic2": "41 rows for 11 parameters",
    "AER/FrozenJuice": "no method predicts better than the mean",
    "AER/USGasB": "38 rows of series that grow together",
    "betareg/ImpreciseTask": "a difference of 0.001 in error",
}


def read_report(html: str) -> dict[str, Any]:
    """Return what a report says of rows held out: R2 of each method, how many rows, and warnings.

    Without rows held out, `unjudged` holds the sentence that says why.
    """
    careful = [_text(words) for words in re.findall(r'<p class="note careful">(.*?)</p>', html, re.DOTALL)]
    section = html.partition('id="prediction"')[2].partition("</section>")[0]
    caption = re.search(r'<p class="caption">Predictions of ([\d,]+) rows held out', section)
    if caption is None:
        words = re.search(r"<p>(.*?)</p>", section, re.DOTALL)
        return {"careful": careful, "unjudged": _text(words[1]) if words else ""}
    heads = [_text(head) for head in re.findall(r'<th scope="col"[^>]*>(.*?)</th>', section)]
    column = heads.index("R²") - 1
    found: dict[str, Any] = {"careful": careful, "held_out": int(caption[1].replace(",", ""))}
    for method, cells in re.findall(r'<th scope="row">(.*?)</th>(.*?)</tr>', section, re.DOTALL):
        value = re.findall(r'data-value="(.*?)"', cells)[column]
        if method in METHODS and value:
            found[METHODS[method]] = float(f"{float(value):.6g}")
    return found


def _text(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html)).strip()


def read_results() -> dict[str, Any]:
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def write_results(results: dict[str, Any], order: list[str]) -> None:
    kept = {name: results[name] for name in order if name in results}
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


def seconds_of(found: dict[str, Any]) -> float:
    return sum(found.get("seconds", {}).values())


def is_refused(found: dict[str, Any]) -> bool:
    """Say whether a table was refused in a sentence when it was fitted; a model of our own must never be."""
    failed = found.get("failed", {})
    return failed.get("stage") == "fit" and failed["code"] == REFUSED


def is_silent(found: dict[str, Any]) -> bool:
    """Say whether a report shows an R2 below zero and warns of nothing."""
    return found.get("r2", 0) < 0 and not found["careful"]


def in_a_line(found: dict[str, Any]) -> str:
    """Return what became of a table, for the screen."""
    if failed := found.get("failed"):
        return f"{failed['stage']}, exit code {failed['code']}: {failed['error']} ({failed['where']})"
    r2 = " ".join(f"{name} {found[name]:.3f}" for name in METHODS.values() if name in found) or found["unjudged"]
    silent = ", R2 below zero and no warning" if is_silent(found) else ""
    return f"{found['seconds']}, experts {found['n_experts']}, {r2}, {len(found['careful'])} warnings{silent}"


def worst(results: dict[str, Any]) -> list[str]:
    """Return the tables on which the mixture is furthest behind least squares in R2 on rows held out, worst first."""
    behind = {name: one["r2_least_squares"] - one["r2"] for name, one in results.items() if "r2_least_squares" in one}
    return [name for name in sorted(behind, key=lambda name: -behind[name]) if behind[name] > 0][:WORST]


def fill_page(results: dict[str, Any], listed: dict[str, Any]) -> None:
    """Fill the sentences and tables of the page."""
    rows = [_line(name, results[name], listed[name]) for name in listed if name in results]
    heads = ["table", "target", "rows", "experts", "seconds", "R2", "least squares", "boosting", "warnings"]
    behind = [_behind(name, results[name]) for name in worst(results)]
    texts = {
        "counts": _counts(results),
        "worst": markdown(["table", "rows", "experts", "R2", "least squares", "why"], behind),
        "rdatasets": markdown(heads, rows),
    }
    fill(PAGE, texts)


def _counts(results: dict[str, Any]) -> str:
    fitted = [one for one in results.values() if "failed" not in one]
    refused = [one for one in results.values() if is_refused(one)]
    judged = [one for one in fitted if "r2_least_squares" in one]
    gains = [one["r2"] - one["r2_least_squares"] for one in judged]
    below = [one for one in judged if one["r2"] < 0]
    seconds = sorted(map(seconds_of, fitted))
    return (
        f"Of {len(results)} tables {len(fitted)} went all the way, {len(refused)} were refused in a sentence, and "
        f"{len(results) - len(fitted) - len(refused)} failed. "
        f"The three commands took {median(seconds):.0f} s on the median table, {seconds[-1]:.0f} s on the slowest, and "
        f"{sum(seconds) / 60:.0f} minutes on all.\n\n"
        f"{len(judged)} reports judge the model by rows held out. R2 is above least squares' by more than 0.005 in "
        f"{sum(gain > 0.005 for gain in gains)}, within 0.005 in {sum(abs(gain) <= 0.005 for gain in gains)}, below in "
        f"{sum(gain < -0.005 for gain in gains)}. It is below zero in {len(below)}, where least squares' is below zero "
        f"in {sum(one['r2_least_squares'] < 0 for one in below)}; {sum(map(is_silent, below))} of these reports do "
        "not warn."
    )


def _behind(name: str, one: dict[str, Any]) -> list[str]:
    numbers = [f"{one[key]:.3f}" for key in ("r2", "r2_least_squares")]
    return [name, f"{one['rows']:,}", str(one["n_experts"]), *numbers, EXPLAINED.get(name, "")]


def _line(name: str, one: dict[str, Any], listed: Any) -> list[str]:
    if failed := one.get("failed"):
        kind = "refused" if is_refused(one) else f"failed in {failed['stage']}"
        return [name, listed.target, f"{listed.rows:,}", f"{kind}: {failed['error'].replace('|', ' ')}", *[""] * 5]
    numbers = [f"{one[key]:.3f}" if key in one else "" for key in METHODS.values()]
    experts, seconds = str(one["n_experts"]), f"{seconds_of(one):.1f}"
    return [name, listed.target, f"{one['rows']:,}", experts, seconds, *numbers, str(len(one["careful"]))]
