"""Archives of JSON texts and arrays of which nothing is believed: what is not declared is not read.

An archive is a zip, its arrays in NumPy's own format and not compressed, with one member of SHA-256 sums over all
others (as ``sha256sum --check`` takes them). Before any array is read, the directory, the sizes and each array's header
are compared with what is declared: no pickle is looked at, and no more memory is taken than the file is large.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skmoe.tables.writing import replacing

__all__ = ["Archive", "ArraySpec", "Values", "opened", "write_archive"]

SUMS = "SHA256SUMS"
CHUNK = 2**20  # bytes read at a time
MOST_DIRECTORY = 2**20  # bytes of a zip's directory: some ten thousand members
END_RECORD, ENTRIES = 22, 10  # bytes of the record that ends a zip, and where it says how many members there are
MOST_JSON = 2**24  # bytes of a JSON text
UNPACKED, UNPACKED_TIMES = 2**26, 16
"""Bytes that members may unpack to: 64 MiB and so many times the file. Arrays of earlier formats are compressed; those
of fits shrink by four to a half, and by more only where they are small."""
FLOAT = np.dtype("<f8")
MOST_HEADER = 2048  # bytes of an array's header; NumPy writes 128 for arrays of two dimensions
EPOCH = (1980, 1, 1, 0, 0, 0)  # of every member, so that the same content is the same file
SYMMETRY = 1e-6  # difference across the diagonal, over the largest entry, that is rounding


@dataclass(frozen=True)
class Values:
    """What the values of an array may be.

    Parameters
    ----------
    least, most : float
    above : float
        Values must be more than this.
    infinite, nan : bool
        Whether there may be such values.
    share : bool
        Whether values add up to one, if there are any.
    symmetric : bool
        Whether it is a matrix that is its own transpose, up to rounding, with no negative diagonal.
    """

    least: float = -math.inf
    most: float = math.inf
    above: float = -math.inf
    infinite: bool = False
    nan: bool = False
    share: bool = False
    symmetric: bool = False

    def refuse(self, values: np.ndarray, name: str) -> None:
        """Refuse an array that holds anything else."""
        known = values[~np.isnan(values)] if self.nan else values
        if not self.infinite and not np.all(np.isfinite(known)):
            raise ValueError(f"{name} holds values that are not finite")
        if np.any(np.isnan(known)):
            raise ValueError(f"{name} holds NaN")
        low = np.any(known < self.least) or (self.above > -math.inf and np.any(known <= self.above))
        if low or np.any(known > self.most):
            raise ValueError(f"{name} holds values out of their range")
        if self.share and known.size and abs(float(np.sum(known)) - 1) > SYMMETRY:
            raise ValueError(f"{name} does not add up to one")
        if self.symmetric:
            self._refuse_asymmetry(values, name)

    @staticmethod
    def _refuse_asymmetry(C: np.ndarray, name: str) -> None:
        rounding = SYMMETRY * float(np.max(np.abs(C), initial=0.0))
        with np.errstate(over="ignore"):  # of entries near the largest there are
            apart = float(np.max(np.abs(C - C.T), initial=0.0))
        if apart > rounding:
            raise ValueError(f"{name} is not symmetric")
        if np.any(np.diag(C) < -rounding):
            raise ValueError(f"{name} has a negative diagonal")


@dataclass(frozen=True)
class ArraySpec:
    """An array of doubles: its shape, in symbols or numbers, and its values."""

    shape: tuple[str | int, ...]
    values: Values = Values()

    def sizes(self, symbols: Mapping[str, int]) -> tuple[int, ...]:
        """The shape in numbers."""
        return tuple(symbols[side] if isinstance(side, str) else side for side in self.shape)


def _record(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, each of whose names is there once."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice in one record")
    return found


class _BoundedReader(io.BufferedReader):
    """A file of which nobody reads much at once: a zip's directory is read whole, whatever size it claims to have."""

    def read(self, size: int | None = -1, /) -> bytes:
        wanted = MOST_DIRECTORY + 1 if size is None or size < 0 else size
        if wanted > MOST_DIRECTORY + 1:
            raise ValueError("the directory of the archive is too large")
        return super().read(wanted)


class Archive:
    """An archive opened for reading; see `opened`."""

    def __init__(self, file: zipfile.ZipFile, size: int) -> None:
        self._file = file
        self.members: dict[str, zipfile.ZipInfo] = {}
        for info in file.infolist():
            if info.filename in self.members:
                raise ValueError(f"member {info.filename!r} is there twice")
            if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError(f"member {info.filename!r} is encrypted or packed in an unknown way")
            self.members[info.filename] = info
        unpacked, most = sum(info.file_size for info in self.members.values()), UNPACKED + UNPACKED_TIMES * size
        if unpacked > most:
            raise ValueError(f"it would unpack to {unpacked} bytes, and {most} are the most a file of its size may")
        self.sums: dict[str, str] | None = None
        if SUMS in self.members:
            self.sums = dict(line.split("  ", 1)[::-1] for line in self._bytes(SUMS).decode("utf-8").splitlines())
            if set(self.sums) != set(self.members) - {SUMS}:
                raise ValueError("its checksums are not those of its members")

    def refuse_others(self, declared: set[str]) -> None:
        """Refuse an archive whose members are not exactly the declared ones, its checksums aside."""
        there = set(self.members) - {SUMS}
        for name in sorted(declared - there):
            raise ValueError(f"{name} is missing")
        for name in sorted(there - declared):
            raise ValueError(f"{name!r} is no part of such a file")

    def json(self, name: str) -> Any:
        """A JSON text."""
        if name not in self.members:
            raise ValueError(f"{name} is missing")
        if self.members[name].file_size > MOST_JSON:
            raise ValueError(f"{name} is longer than {MOST_JSON} bytes")
        return json.loads(self._bytes(name), object_pairs_hook=_record)

    def arrays(self, declared: Mapping[str, ArraySpec], symbols: Mapping[str, int]) -> dict[str, np.ndarray]:
        """The declared arrays, all of whose headers are looked at before the first array is read."""
        layouts = {name: self._layout(f"{name}.npy", spec.sizes(symbols)) for name, spec in declared.items()}
        found = {}
        for name, (start, shape, order) in layouts.items():
            values = np.frombuffer(self._bytes(f"{name}.npy"), FLOAT, offset=start).reshape(shape, order=order)
            declared[name].values.refuse(values, name)
            found[name] = np.require(values, requirements="A")  # a header of odd length would shift them
        return found

    def _layout(self, name: str, shape: tuple[int, ...]) -> tuple[int, tuple[int, ...], Any]:
        """Where an array's values start in its member, their shape and order, if they are as declared."""
        with self._file.open(name) as member:
            head = io.BytesIO(member.read(MOST_HEADER))
        if np.lib.format.read_magic(head) != (1, 0):
            raise ValueError(f"{name} is of an unknown version of NumPy's format")
        found, fortran, dtype = np.lib.format.read_array_header_1_0(head, max_header_size=MOST_HEADER)
        if dtype != FLOAT:
            raise ValueError(f"{name} must hold numbers of type float64; it holds {dtype}")
        if found != shape:
            raise ValueError(f"{name} must be of shape {shape}; it is of {found}"[:300])
        if self.members[name].file_size != head.tell() + FLOAT.itemsize * math.prod(shape):
            raise ValueError(f"{name} is not as long as its shape says")
        return head.tell(), shape, "F" if fortran else "C"

    def _bytes(self, name: str) -> bytearray:
        """A member, compared with its checksum where there is one."""
        info, digest, done = self.members[name], hashlib.sha256(), 0
        content = bytearray(info.file_size)
        with self._file.open(name) as member:
            while chunk := member.read(CHUNK):
                if done + len(chunk) > info.file_size:
                    raise ValueError(f"{name} is longer than the directory says")
                content[done : done + len(chunk)] = chunk
                digest.update(chunk)
                done += len(chunk)
        if done != info.file_size:
            raise ValueError(f"{name} is shorter than the directory says")
        if name != SUMS and self.sums is not None and digest.hexdigest() != self.sums[name]:
            raise ValueError(f"the checksum of {name} is wrong")
        return content


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[Archive]:
    """Open an archive for reading, its directory checked."""
    with _BoundedReader(io.FileIO(path)) as reader, zipfile.ZipFile(reader) as file:
        # a damaged record may swallow those after it, which `zipfile` does not notice
        reader.seek(-END_RECORD - len(file.comment), os.SEEK_END)
        if struct.unpack_from("<H", reader.read(END_RECORD), ENTRIES)[0] != len(file.infolist()):
            raise ValueError("the directory of the archive lacks members that it counts")
        yield Archive(file, os.fstat(reader.fileno()).st_size)


def write_archive(path: str | os.PathLike[str], texts: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write JSON values and arrays, with their checksums, in place of whatever file is there.

    Parameters
    ----------
    path : str or path
    texts : mapping of str to what JSON can hold
        By the names of their members.
    arrays : mapping of str to arrays
        By the names of their members without ``.npy``.
    """
    with replacing(path) as beside:
        if beside.is_file():
            _write(beside, texts, arrays)
        else:  # a pipe or a device, in which a zip cannot go back
            buffer = io.BytesIO()
            _write(buffer, texts, arrays)
            beside.write_bytes(buffer.getvalue())


def _write(place: Path | io.BytesIO, texts: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    with zipfile.ZipFile(place, "w", zipfile.ZIP_STORED) as file:
        sums = []

        def write(name: str, content: bytes) -> None:
            file.writestr(zipfile.ZipInfo(name, EPOCH), content)
            sums.append(f"{hashlib.sha256(content).hexdigest()}  {name}\n")

        for name, value in texts.items():
            content = json.dumps(value, indent=1).encode()
            if len(content) > MOST_JSON:
                raise ValueError(f"{name} would have {len(content)} bytes, and {MOST_JSON} are the most there may be")
            write(name, content)
        for name, values in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, np.asarray(values, dtype=FLOAT), allow_pickle=False)
            write(f"{name}.npy", buffer.getvalue())
        file.writestr(zipfile.ZipInfo(SUMS, EPOCH), "".join(sums))
