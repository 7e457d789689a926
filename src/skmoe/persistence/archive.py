"""Archives of JSON texts and arrays of which nothing is believed: what is not declared is not read.

An archive is a zip, its arrays in NumPy's own format and not compressed, with one member of SHA-256 sums over all
others (as ``sha256sum --check`` takes them). Before any array is read, the directory and all sizes are compared with
what is declared, and an array's header has to be the declared one: none is parsed, no pickle is looked at, and no more
memory is taken than the file is large.
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
from typing import Any

import numpy as np

from skmoe.arrays.visible import visible
from skmoe.persistence.errors import ModelFileError, reason
from skmoe.tables.writing import replacing

__all__ = ["Archive", "ArraySpec", "Values", "opened", "write_archive"]

SUMS = "SHA256SUMS"
CHUNK = 2**20  # bytes read at a time
MOST_DIRECTORY = 2**20  # bytes of a zip's directory: some ten thousand members
MOST_JSON = 2**24  # bytes of a JSON text
FLOAT = np.dtype("<f8")
HEAD = 128  # bytes before the values of an array in NumPy's format
MOST_SHOWN = 300  # characters of a message with numbers of a file in it
EPOCH = (1980, 1, 1, 0, 0, 0)  # of every member, so that the same content is the same file
SYMMETRY = 1e-6  # difference across the diagonal, over the largest entry, that is rounding


@dataclass(frozen=True)
class Values:
    """The values that an array may hold.

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
    """An array of doubles: its shape and its values."""

    shape: tuple[int, ...]
    values: Values = Values()

    def refuse(self, values: np.ndarray, name: str) -> None:
        """Refuse an array of another shape or with other values."""
        if values.shape != self.shape:
            raise ValueError(f"{name} must be of shape {self.shape}; it is of {values.shape}"[:MOST_SHOWN])
        self.values.refuse(values, name)

    @property
    def head(self) -> bytes:
        """First bytes of an array of this shape in NumPy's format, so that no head of a file has to be understood."""
        text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {self.shape}, }}"
        return b"\x93NUMPY\x01\0" + struct.pack("<H", HEAD - 10) + text.ljust(HEAD - 11).encode() + b"\n"


def _record(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object, each of whose names is there once."""
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
            if info.flag_bits & 1 or info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
                raise ValueError(f"member {info.filename!r} is packed or encrypted")
            self.members[info.filename] = info
        if sum(info.file_size for info in self.members.values()) > size:
            raise ValueError("its members would be larger than the file")
        if SUMS not in self.members:
            raise ValueError("its checksums are missing")
        self._sums: dict[str, str] = {}
        self._sums = dict(line.split("  ", 1)[::-1] for line in self._bytes(SUMS).decode("utf-8").splitlines())
        if set(self._sums) != set(self.members) - {SUMS}:
            raise ValueError("its checksums are not those of its members")

    def json(self, name: str) -> Any:
        """Read a JSON text."""
        if name not in self.members:
            raise ValueError(f"{name} is missing")
        if self.members[name].file_size > MOST_JSON:
            raise ValueError(f"{name} is longer than {MOST_JSON} bytes")
        return json.loads(self._bytes(name), object_pairs_hook=_record)

    def arrays(self, declared: Mapping[str, ArraySpec], texts: set[str]) -> dict[str, np.ndarray]:
        """Read the declared arrays, if the archive has exactly these, of these sizes, beside the texts."""
        there, files = set(self.members) - {SUMS}, {f"{name}.npy" for name in declared} | texts
        for name in sorted(there ^ files):
            raise ValueError(f"{name} is missing" if name in files else f"{name!r} is no part of such a file")
        for name, spec in declared.items():
            if self.members[f"{name}.npy"].file_size != HEAD + FLOAT.itemsize * math.prod(spec.shape):
                raise ValueError(f"{name}.npy must be as long as {spec.shape} doubles"[:MOST_SHOWN])
        found = {}
        for name, spec in declared.items():
            content = self._bytes(f"{name}.npy")
            if not content.startswith(spec.head):
                raise ValueError(f"{name}.npy must hold doubles of shape {spec.shape}"[:MOST_SHOWN])
            found[name] = np.frombuffer(content, FLOAT, offset=HEAD).reshape(spec.shape)
            spec.refuse(found[name], name)
        return found

    def _bytes(self, name: str) -> bytearray:
        """Read a member, compared with its checksum."""
        content = bytearray()
        with self._file.open(name) as member:
            while chunk := member.read(CHUNK):
                content += chunk
        if name != SUMS and hashlib.sha256(content).hexdigest() != self._sums[name]:
            raise ValueError(f"the checksum of {name} is wrong")
        return content


@contextmanager
def opened(path: str | os.PathLike[str], refusal: str) -> Iterator[Archive]:
    """Open an archive for reading, its directory checked.

    Parameters
    ----------
    path : str or path
    refusal : str
        Message on a file with which anything is wrong, now or when it is read on; "{}" stands for what.

    Raises
    ------
    FileNotFoundError
        If there is no file.
    ModelFileError
        For whatever a hostile file makes a library raise.
    """
    try:
        with _BoundedReader(io.FileIO(path)) as reader, zipfile.ZipFile(reader) as file:
            yield Archive(file, os.fstat(reader.fileno()).st_size)
    except (FileNotFoundError, ModelFileError):
        raise
    except Exception as error:
        raise ModelFileError(f"{visible(os.fsdecode(path))} {refusal.format(reason(error))}") from error


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
    sums = []
    with replacing(path) as beside, open(beside, "wb") if beside.is_file() else io.BytesIO() as sink:
        with zipfile.ZipFile(sink, "w") as file:
            for name, content in _contents(texts, arrays):
                file.writestr(zipfile.ZipInfo(name, EPOCH), content)
                sums.append(f"{hashlib.sha256(content).hexdigest()}  {name}\n")
            file.writestr(zipfile.ZipInfo(SUMS, EPOCH), "".join(sums))
        if isinstance(sink, io.BytesIO):  # for a pipe or a device, in which a zip cannot go back
            beside.write_bytes(sink.getvalue())


def _contents(texts: Mapping[str, Any], arrays: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Yield the members of an archive, by name."""
    for name, value in texts.items():
        content = json.dumps(value, indent=1).encode()
        if len(content) > MOST_JSON:
            raise ValueError(f"{name} would have {len(content)} bytes, and {MOST_JSON} are the most there may be")
        yield name, content
    for name, values in arrays.items():
        array = np.asarray(values, dtype=FLOAT)
        yield f"{name}.npy", ArraySpec(array.shape).head + array.tobytes()
