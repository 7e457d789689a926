"""What is asked of predictions on rows not seen, and whether the finished cells show it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import COVERAGES, OURS
from .aggregates import RANKED, Table, average_ranks, uci_losses, uci_ranks
from .held_out_rows import GROUPS, UCI, UCI_PREFIX

__all__ = ["Check", "checks"]

DEFAULT, AVERAGED = OURS
MEAN_OFF, LARGER_UNDER, CLASSIC_UNDER = 0.02, 0.04, 0.08  # coverage: of the mean over tables, and of single tables
BELOW_LINE = 0.05  # log density
WORSE = 1.05  # of the error
UCI_AHEAD = 7
MOST_CHOICE, MOST_AVERAGING = 2.0, 5.0  # times as long
CHOICE_COST = Path(__file__).resolve().parents[1] / "results" / "choice_cost.json"
SAYS_ROUNDED = re.compile(r"round|distinct|different values|few values|resolution", re.IGNORECASE)


class Check(NamedTuple):
    """One thing asked; `met` is None where too little has been run to tell."""

    item: str
    asked: str
    found: str
    met: bool | None


def checks(tables: dict[str, Table]) -> list[Check]:
    """All of them, in order."""
    found = [*coverage(tables), *density(tables), *error(tables), *rounded(tables), *cost(), *uci(tables)]
    return [check._replace(met=None if check.met is None else bool(check.met)) for check in found]


def _some(tables: dict[str, Table], names: Sequence[str]) -> dict[str, Table]:
    return {name: tables[name] for name in names if name in tables}


def _continuous(tables: dict[str, Table]) -> dict[str, Table]:
    return _some(tables, (*GROUPS["larger"], *GROUPS["classics"]))


def coverage(tables: dict[str, Table]) -> Iterator[Check]:
    """Intervals of the default fit hold as many rows as they say."""
    for level in COVERAGES:
        by_group = {}
        for group in ("larger", "classics"):
            means = {
                name: table.mean(DEFAULT, f"cover {level:g}") for name, table in _some(tables, GROUPS[group]).items()
            }
            by_group[group] = {name: value.value for name, value in means.items() if value is not None}
        every = [value for group in by_group.values() for value in group.values()]
        low, high = level - MEAN_OFF, level + MEAN_OFF
        asked = f"{level:.0%} intervals hold {low:.0%} to {high:.0%} of the rows held out, mean over tables"
        if every:
            yield Check("1", asked, f"{np.mean(every):.1%} over {len(every)} tables", low <= np.mean(every) <= high)
        else:
            yield Check("1", asked, "not run", None)
        for group, under in (("larger", LARGER_UNDER), ("classics", CLASSIC_UNDER)):
            asked = f"{level:.0%} intervals: none of the {group} under {level - under:.0%}"
            yield _none(asked, "1", by_group[group], lambda value, least=level - under: value >= least, "{:.1%}")


def _none(asked: str, item: str, values: dict[str, float], holds: Any, form: str) -> Check:
    """A check that every table has to hold, which names those that do not."""
    if not values:
        return Check(item, asked, "not run", None)
    missed = {name: value for name, value in values.items() if not holds(value)}
    named = ", ".join(f"{name} {form.format(value)}" for name, value in missed.items())
    return Check(item, asked, f"missed by {named}" if missed else f"all {len(values)} tables", not missed)


def density(tables: dict[str, Table]) -> Iterator[Check]:
    """The default beside least squares; the average beside NGBoost and the others."""
    own = {name: table for name, table in tables.items() if not name.startswith(UCI_PREFIX)}
    gaps = {name: table.difference(DEFAULT, "least squares") for name, table in own.items()}
    values = {name: gap.value for name, gap in gaps.items() if gap is not None}
    asked = f"log density of the default no more than {BELOW_LINE:g} below least squares on any table"
    yield _none(asked, "2", values, lambda value: value >= -BELOW_LINE, "{:+.3f}")
    near = _continuous(tables)
    beside = [gap.value for table in near.values() if (gap := table.difference(AVERAGED, "NGBoost")) is not None]
    asked = "averaging=20 at least as good as NGBoost on three quarters of the tables (rounded ones left out)"
    if beside:
        ahead = sum(value >= 0 for value in beside)
        yield Check("2", asked, f"{ahead} of {len(beside)}", ahead >= 0.75 * len(beside))
    else:
        yield Check("2", asked, "not run", None)
    ranks = average_ranks(tables, list(near), RANKED)
    asked = f"averaging=20 of better average rank than {', '.join(RANKED[1:])} (rounded ones left out)"
    text = ", ".join(f"{name} {rank:.2f}" for name, rank in ranks.items()) or "not run"
    yield Check("2", asked, text, min(ranks, key=lambda name: ranks[name]) == AVERAGED if ranks else None)


def error(tables: dict[str, Table]) -> Iterator[Check]:
    """RMSE of the average over that of boosting and forests."""
    others = ("HistGradientBoosting", "random forest")
    ratios: dict[str, list[float]] = {name: [] for name in (*others, "the better of both")}
    for table in _continuous(tables).values():
        ours, theirs = table.mean(AVERAGED, "rmse"), [table.mean(other, "rmse") for other in others]
        if ours is None or any(value is None for value in theirs):
            continue
        found = [value.value for value in theirs if value is not None]
        for name, value in zip(ratios, (*found, min(found)), strict=True):
            ratios[name].append(ours.value / value)
    for name, values in ratios.items():
        asked = f"RMSE of averaging=20 at most 5% above that of {name}, on the median table"
        if values:
            yield Check("3", asked, f"{np.median(values) - 1:+.1%}", np.median(values) <= WORSE)
        else:
            yield Check("3", asked, "not run", None)


def rounded(tables: dict[str, Table]) -> Iterator[Check]:
    """Densities of rounded outputs between those of one line and of a model which knows the grid; a warning."""
    for name in GROUPS["rounded"]:
        table = tables.get(name)
        for method in OURS:
            asked = f"{name}, {method}: log density from {BELOW_LINE:g} below least squares up to what the grid allows"
            above = table.difference(method, "least squares") if table else None
            below = table.difference("knows the grid", method) if table else None
            if table is None or above is None or below is None:
                yield Check("4", asked, "not run", None)
                continue
            text = f"{above.value:+.3f} from least squares, {-below.value:+.3f} from the grid's"
            yield Check("4", asked, text, above.value >= -BELOW_LINE and below.value >= 0)
        done = list(table.methods.get(DEFAULT, {}).values()) if table else []
        told = [any(SAYS_ROUNDED.search(text) for text in r["notes"].get("warnings", [])) for r in done]
        asked = f"{name}: a warning names the cause"
        yield Check(
            "4", asked, f"on {sum(told)} of {len(told)} splits" if told else "not run", all(told) if told else None
        )


def cost() -> Iterator[Check]:
    """What held-out rows and averages cost, in default fits and in fits that hold nothing out, on one machine."""
    asked = (
        f"a default fit takes at most {MOST_CHOICE:g} times as long as one without choice of penalty and calibration",
        f"averaging=20 takes at most {MOST_AVERAGING:g} default fits",
    )
    if not CHOICE_COST.is_file():
        yield from (Check("5", words, "not run", None) for words in asked)
        return
    found = json.loads(CHOICE_COST.read_text())
    least, middle, most = found["ratios"]
    text = f"{least:.1f} to {most:.1f} times, median {middle:.1f}, over {len(found['choice'])} fits"
    yield Check("5", asked[0], text, most <= MOST_CHOICE)
    least, most = found["averaging_ratios"]
    yield Check("5", asked[1], f"{least:.1f} to {most:.1f}, {len(found['averaging'])} tables", most <= MOST_AVERAGING)


def uci(tables: dict[str, Table]) -> Iterator[Check]:
    """The published figures of the UCI tables beside ours."""
    losses = uci_losses(tables)
    run = [name for name in UCI if AVERAGED in losses[name]]
    ranks = uci_ranks(losses, AVERAGED, pretrained=False)
    asked = "UCI: the best average rank in log loss of what is published, pretrained weights left out"
    text = ", ".join(f"{name} {rank:.2f}" for name, rank in ranks.items()) or "not run"
    is_best = min(ranks, key=lambda name: ranks[name]) == AVERAGED if ranks else None
    if 0 < len(run) < len(UCI):
        text = f"{len(run)} of {len(UCI)} tables: {text}"
    yield Check("6", asked, text, is_best)
    ahead = sum(losses[name][AVERAGED] < losses[name]["NGBoost"] for name in run)
    asked = f"UCI: ahead of NGBoost on at least {UCI_AHEAD} of {len(UCI)}"
    yield Check("6", asked, f"{ahead} of {len(run)}" if run else "not run", ahead >= UCI_AHEAD if run else None)
