"""Checks of JSON values let pass what they name, and refuse the rest with the place where it stands."""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import pytest

from skmoe.persistence.plain import (
    boolean,
    either,
    from_plain,
    listed,
    nothing,
    number,
    of_type,
    one_of,
    record,
    row,
    text,
    to_plain,
    whole,
)

NAN, INF = float("nan"), float("inf")


@dataclass(frozen=True)
class Inner:
    name: str
    pair: tuple[float, bool]


@dataclass(frozen=True)
class Outer:
    inners: tuple[Inner, ...]
    size: int
    about: str | None = None
    notes: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (nothing, [None], [0, "", False]),
        (boolean, [True, False], [0, 1, "true", None]),
        (text, ["", "a\x1b"], [None, 3, b"a", "x" * 200_000]),
        (whole(1, 5), [1, 5], [0, 6, 1.0, True, "1", 10**30]),
        (number(), [0, -1.5, 2**53], [NAN, INF, -INF, True, "1", None, 10**30, 10**400]),
        (number(0.0), [0, 5e-324], [-5e-324, NAN, INF]),
        (number(above=0.0, infinite=True), [5e-324, INF], [0, -0.0, -1, NAN, -INF]),
        (number(infinite=True, nan=True), [NAN, INF, -INF, 3], ["nan", None, [1.0]]),
        (one_of(1, "a"), [1, "a"], [True, 1.0, "b", None]),
        (either(nothing, whole()), [None, 3], [-1, "3"]),
        (listed(whole(), 2), [[1, 2]], [[1], [1, 2, 3], [1, -2], (1, 2), "ab", {"a": 1}]),
        (row(text, whole()), [["a", 1]], [["a"], [1, "a"], ["a", 1, 2]]),
        (
            record({"a": whole()}, {"b": text}),
            [{"a": 1}, {"a": 1, "b": ""}],
            [{}, {"b": ""}, {"a": 1, "c": 1}, [1], {"a": ""}],
        ),
    ],
    ids=lambda value: getattr(value, "__qualname__", ""),
)
def test_check_lets_pass_what_it_names_and_nothing_else(check, good, bad):
    for value in good:
        check(value, "place")
    for value in bad:
        with pytest.raises(ValueError, match=r"^place"):
            check(value, "place")


def test_check_by_a_type_follows_its_fields():
    check = of_type(Outer, without=("notes",))
    good = {"inners": [{"name": "a", "pair": [1.5, True]}], "size": 3}
    check(good, "place")
    check(good | {"about": None}, "place")
    check(good | {"about": "x", "inners": []}, "place")
    for bad, where in [
        ({"inners": []}, "place lacks 'size'"),
        (good | {"size": 3.5}, "place.size"),
        (good | {"about": 3}, "place.about"),
        (good | {"notes": []}, "place has 'notes'"),
        (good | {"inners": [{"name": "a", "pair": [1.5, 1]}]}, r"place.inners\[0\].pair\[1\]"),
        (good | {"inners": [{"name": "a", "pair": [1.5]}]}, r"place.inners\[0\].pair must have 2 entries"),
    ]:
        with pytest.raises(ValueError, match=f"^{where}"):
            check(bad, "place")


class Level(StrEnum):
    LOW = "low"


@dataclass(frozen=True)
class Bounded:
    count: Annotated[int, 1]
    length: Annotated[float, 0.0]
    level: Level = Level.LOW
    more: tuple[Inner, ...] = ()
    least: Annotated[int, 0] | None = None


def test_bounds_of_a_type_are_checked():
    check = of_type(Bounded)
    check({"count": 1, "length": 0.0}, "place")
    for bad in ({"count": 0}, {"count": 1.0}, {"length": -1.0}, {"length": INF}, {"length": NAN}, {"level": "high"}):
        with pytest.raises(ValueError, match=f"^place.{next(iter(bad))} must be"):
            check({"count": 1, "length": 0.0} | bad, "place")


@pytest.mark.parametrize(
    "value", [Bounded(1, 0.5), Bounded(2, 0.0, Level.LOW, (Inner("a", (1.5, True)),), 3), Outer((), 4, "x", ("b",))]
)
def test_value_comes_back_from_what_json_holds(value):
    plain = json.loads(json.dumps(to_plain(value)))
    of_type(type(value))(plain, "place")
    assert from_plain(type(value), plain) == value


def test_long_values_are_shown_in_part():
    with pytest.raises(ValueError, match="must be a whole number") as caught:
        whole()("x" * 10_000, "place")
    assert len(str(caught.value)) < 300
