"""Checks of what JSON holds: a check takes a value and the words for where it stands, and refuses what it is not.

Checks are put together as the values are: a record of lists of numbers is ``record({"a": listed(number())})``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass
from enum import StrEnum
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import numpy as np

__all__ = [
    "Check",
    "boolean",
    "either",
    "from_plain",
    "listed",
    "nothing",
    "number",
    "of_type",
    "one_of",
    "record",
    "row",
    "text",
    "to_plain",
    "whole",
]

Check = Callable[[Any, str], None]

MOST_TEXT = 100_000  # characters of a name or a sentence
MOST_WHOLE = 2**63 - 1
MOST_EXACT = 2**53  # whole numbers up to it are floats as well


def _refuse(where: str, expected: str, value: Any) -> None:
    # a value of a file may be anything, and long
    shown = repr(value) if isinstance(value, str | int | float | NoneType) else type(value).__name__
    raise ValueError(f"{where} must be {expected}; it is {shown[:80]}")


def nothing(value: Any, where: str) -> None:
    """Check for None."""
    if value is not None:
        _refuse(where, "null", value)


def boolean(value: Any, where: str) -> None:
    """Check for true or false."""
    if not isinstance(value, bool):
        _refuse(where, "true or false", value)


def text(value: Any, where: str) -> None:
    """Check for a text that is not too long."""
    if not isinstance(value, str) or len(value) > MOST_TEXT:
        _refuse(where, "a text", value)


def whole(least: int = 0, most: int = MOST_WHOLE) -> Check:
    """Return a check for a whole number."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            _refuse(where, f"a whole number from {least} to {most}", value)

    return check


def number(
    least: float = -math.inf,
    *,
    most: float = math.inf,
    above: float = -math.inf,
    infinite: bool = False,
    nan: bool = False,
) -> Check:
    """Return a check for a number from `least` to `most`, more than `above`; finite and not NaN unless these may be."""

    def check(value: Any, where: str) -> None:
        right = isinstance(value, float) or (type(value) is int and abs(value) <= MOST_EXACT)
        if right and math.isnan(value):
            right = nan
        elif right:
            right = least <= value <= most and (value > above or above == -math.inf)
            right = right and (infinite or math.isfinite(value))
        if not right:
            _refuse(where, _range_text(least, most, above, infinite, nan), value)

    return check


def _range_text(least: float, most: float, above: float, infinite: bool, nan: bool) -> str:
    parts = ["a number" if infinite else "a finite number"]
    if least > -math.inf:
        parts.append(f"of at least {least:g}")
    if most < math.inf:
        parts.append(f"of at most {most:g}")
    if above > -math.inf:
        parts.append(f"above {above:g}")
    return " ".join([*parts, "or NaN"] if nan else parts)


def one_of(*values: Any) -> Check:
    """Return a check for one of the given values, of the same type."""

    def check(value: Any, where: str) -> None:
        if not any(type(value) is type(v) and value == v for v in values):
            _refuse(where, f"one of {', '.join(map(repr, values))}", value)

    return check


def either(*checks: Check) -> Check:
    """Return a check for what one of the checks lets pass."""

    def check(value: Any, where: str) -> None:
        messages = []
        for one in checks:
            try:
                return one(value, where)
            except ValueError as error:
                messages.append(str(error))
        raise ValueError(messages[-1])

    return check


def listed(of: Check, size: int | None = None) -> Check:
    """Return a check for a list of values that all pass one check, of any size or of the one given."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, list):
            _refuse(where, "a list", value)
        if size is not None and len(value) != size:
            raise ValueError(f"{where} must have {size} entries; it has {len(value)}")
        for i, item in enumerate(value):
            of(item, f"{where}[{i}]")

    return check


def row(*checks: Check) -> Check:
    """Return a check for a list of as many values as there are checks, each by its own."""

    def check(value: Any, where: str) -> None:
        listed(lambda *_: None, len(checks))(value, where)
        for i, (one, item) in enumerate(zip(checks, value, strict=True)):
            one(item, f"{where}[{i}]")

    return check


def record(needed: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """Return a check for a JSON object with all the needed names, perhaps the optional ones, and no others."""
    known = {**needed, **(optional or {})}

    def check(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            _refuse(where, "a record", value)
        for name in needed:
            if name not in value:
                raise ValueError(f"{where} lacks {name!r}")
        for name, item in value.items():
            if name not in known:
                raise ValueError(f"{where} has {name[:80]!r}, which is not known")
            known[name](item, f"{where}.{name}")

    return check


def of_type(annotation: Any, *, without: tuple[str, ...] = ()) -> Check:
    """Return a check by a type: of plain values, names, tuples, unions, or dataclasses, which JSON holds as records.

    ``Annotated[int, 1]`` is a whole number of at least 1, and ``Annotated[float, 0.0]`` a finite one of at least 0.

    Parameters
    ----------
    annotation : type
    without : tuple of str
        Fields of the dataclass that are not written.
    """
    if is_dataclass(annotation):
        hints = get_type_hints(annotation, include_extras=True)
        written = [f for f in fields(annotation) if f.name not in without]
        needed = {f.name: of_type(hints[f.name]) for f in written if f.default is MISSING}
        return record(needed, {f.name: of_type(hints[f.name]) for f in written if f.default is not MISSING})
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return one_of(*map(str, annotation))
    if get_origin(annotation) is Annotated:
        of, least = get_args(annotation)
        return whole(least) if of is int else number(least)
    if get_origin(annotation) in (Union, UnionType):
        return either(*map(of_type, get_args(annotation)))
    if get_origin(annotation) is tuple:
        of, *rest = get_args(annotation)
        return listed(of_type(of)) if rest == [...] else row(*map(of_type, (of, *rest)))
    simple: dict[Any, Check] = {
        str: text,
        bool: boolean,
        int: whole(-MOST_WHOLE),
        float: number(infinite=True, nan=True),
        NoneType: nothing,
    }
    return simple[annotation]


def to_plain(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, Mapping):
        return {str(k): to_plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(v) for v in value]
    return value


def from_plain(annotation: Any, value: Any) -> Any:
    """Return the value of a type that JSON holds as a plain one, once the check by the type let that pass."""
    if value is None:
        return None
    if get_origin(annotation) in (Union, UnionType):
        (annotation,) = (one for one in get_args(annotation) if one is not NoneType)
    if is_dataclass(annotation):
        hints = get_type_hints(annotation)
        made: Any = annotation
        return made(**{name: from_plain(hints[name], item) for name, item in value.items()})
    if get_origin(annotation) is tuple:
        of, *rest = get_args(annotation)
        kinds = [of] * len(value) if rest == [...] else [of, *rest]
        return tuple(map(from_plain, kinds, value))
    return annotation(value)
