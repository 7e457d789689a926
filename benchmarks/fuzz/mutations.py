"""Changes of files: of their bytes, and of the members of an archive with checksums left as they were or made anew."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["HOSTILE", "mutated_archive", "mutated_bytes", "mutated_json"]

SUMS = "SHA256SUMS"
HOSTILE: list[Any] = [
    *(None, True, False, -1, 0, 1, 2.5, 1e308, -1e308, 5e-324, float("nan"), float("inf"), -float("inf")),
    *(10**30, 2**63, -(2**63), "", "x", "\x1b[31m", "\x00", "\ud800", "x" * 200_000, "/etc/passwd", "linear", "auto"),
    *([], {}, [[[]]], [None], ["a", "a"], [1e308, -1e308], {"a": {"b": []}}, {"": 0}),
]
"""Values for any place in a JSON text."""
EXTREMES = (0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF)


# -- bytes ------------------------------------------------------------------------------------------------------------


def _flip(b: bytearray, rng: np.random.Generator) -> bytearray:
    for place in rng.integers(0, 8 * len(b), rng.integers(1, 9)):
        b[place // 8] ^= 1 << int(place % 8)
    return b


def _overwrite(b: bytearray, rng: np.random.Generator) -> bytearray:
    start, size = _piece(b, rng)
    kind = rng.integers(3)
    b[start : start + size] = rng.bytes(size) if kind == 0 else (b"\0" if kind == 1 else b"\xff") * size
    return b


def _cut(b: bytearray, rng: np.random.Generator) -> bytearray:
    return b[: int(rng.integers(0, len(b)))]


def _delete(b: bytearray, rng: np.random.Generator) -> bytearray:
    start, size = _piece(b, rng)
    del b[start : start + size]
    return b


def _insert(b: bytearray, rng: np.random.Generator) -> bytearray:
    start, size = _piece(b, rng)
    b[start:start] = rng.bytes(size)
    return b


def _repeat(b: bytearray, rng: np.random.Generator) -> bytearray:
    (start, size), place = _piece(b, rng), int(rng.integers(len(b)))
    b[place:place] = b[start : start + size]
    return b


def _swap(b: bytearray, rng: np.random.Generator) -> bytearray:
    (start, size), place = _piece(b, rng), int(rng.integers(len(b)))
    size = min(size, len(b) - max(start, place))
    b[start : start + size], b[place : place + size] = b[place : place + size], b[start : start + size]
    return b


def _extreme(b: bytearray, rng: np.random.Generator) -> bytearray:
    """A number of two or four bytes made extreme, in the records of a zip's directory as often as not."""
    records = [i for mark in (b"PK\1\2", b"PK\3\4", b"PK\5\6") for i in _places(b, mark)]
    about = int(rng.choice(records)) + int(rng.integers(4, 46)) if records and rng.integers(2) else None
    place = int(rng.integers(len(b))) if about is None else about
    form = "<H" if rng.integers(2) else "<I"
    size = struct.calcsize(form)
    if place + size <= len(b):
        b[place : place + size] = struct.pack(form, int(rng.choice(EXTREMES)) & (256**size - 1))
    return b


def _places(b: bytes | bytearray, mark: bytes) -> list[int]:
    found, at = [], b.find(mark)
    while at >= 0:
        found.append(at)
        at = b.find(mark, at + 1)
    return found


def _piece(b: bytearray, rng: np.random.Generator) -> tuple[int, int]:
    start = int(rng.integers(len(b)))
    return start, int(min(2 ** rng.uniform(0, 12), len(b) - start))


BYTES: list[Callable[[bytearray, np.random.Generator], bytearray]] = [
    *(_flip, _flip, _overwrite, _cut, _delete, _insert, _repeat, _swap, _extreme, _extreme),
]


def mutated_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """A file with one to three changes of its bytes."""
    changed = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        if changed:
            changed = BYTES[rng.integers(len(BYTES))](changed, rng)
    return bytes(changed)


# -- members of an archive --------------------------------------------------------------------------------------------


def mutated_json(value: Any, rng: np.random.Generator) -> Any:
    """A JSON value with one change in some place of it: another value, an entry less or an entry more."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.15:
        return HOSTILE[rng.integers(len(HOSTILE))]
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key, new = keys[rng.integers(len(keys))], value.copy()
    kind = rng.random()
    if kind < 0.1:
        del new[key]
    elif kind < 0.2 and isinstance(new, dict):
        new["more" if rng.integers(2) else "checkpoint"] = HOSTILE[rng.integers(len(HOSTILE))]
    elif kind < 0.2:
        new.insert(key, HOSTILE[rng.integers(len(HOSTILE))])
    else:
        new[key] = mutated_json(value[key], rng)
    return new


def _mutated_array(content: bytes, rng: np.random.Generator) -> bytes:
    values = np.load(io.BytesIO(content))
    kind = rng.integers(8)
    if kind == 0 and values.size:
        numbers = [v for v in HOSTILE if type(v) in (int, float) and abs(v) < 1e309]
        values.flat[rng.integers(values.size)] = numbers[rng.integers(len(numbers))]
    elif kind == 1 and values.size:
        values.flat[rng.integers(values.size)] *= 1 + rng.normal()
    elif kind == 2:
        types = ("f4", "i8", "c16", "?", "M8[s]", "U4", ">f8", "O", "f2", "S8")
        with np.errstate(all="ignore"):
            values = np.nan_to_num(values, posinf=0.0).astype(types[rng.integers(len(types))])
    elif kind == 3:
        values = values.T if rng.integers(2) else values.ravel()
    elif kind == 4:
        values = np.concatenate([values, values[-1:]]) if rng.integers(2) else values[:-1]
    elif kind == 5:
        return mutated_bytes(content, rng)
    elif kind == 6:
        with np.errstate(all="ignore"):  # every value of another size, up to the largest there are
            values = np.clip(values * 10.0 ** int(rng.choice([-320, -150, 150, 308])), -1.7e308, 1.7e308)
    else:
        shape = tuple(int(s) for s in rng.choice([0, 1, 2, 3, 10**6, 10**9], values.ndim))
        head = io.BytesIO()
        np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": shape})
        return head.getvalue() + content[-values.nbytes :]
    buffer = io.BytesIO()
    np.save(buffer, values, allow_pickle=True)
    return buffer.getvalue()


def mutated_archive(content: bytes, rng: np.random.Generator, *, sums: bool) -> bytes:
    """An archive written anew with one member changed, dropped, renamed or added; `sums` makes checksums agree."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    name = list(parts)[rng.integers(len(parts))]
    kind = rng.random()
    if kind < 0.1:
        del parts[name]
    elif kind < 0.2:
        parts["".join([name[:-5], "x", name[-4:]])] = parts.pop(name)
    elif kind < 0.25:
        parts["more.npy"] = rng.bytes(100)
    elif name.endswith(".json"):
        parts[name] = json.dumps(mutated_json(json.loads(parts[name]), rng)).encode("utf-8", "surrogatepass")
    elif name.endswith(".npy"):
        parts[name] = _mutated_array(parts[name], rng)
    else:
        parts[name] = mutated_bytes(parts[name], rng)
    if sums and SUMS in parts:
        others = {n: c for n, c in parts.items() if n != SUMS}
        parts[SUMS] = "".join(f"{hashlib.sha256(c).hexdigest()}  {n}\n" for n, c in others.items()).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(
        buffer, "w", (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA)[rng.choice(3, p=[0.94, 0.04, 0.02])]
    ) as file:
        for n, c in parts.items():
            file.writestr(n, c)
    return buffer.getvalue()
