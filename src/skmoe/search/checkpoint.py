"""The state of a long fit in a file, so that the fit can continue after its process was ended.

The file is an archive as `skmoe.persistence` writes and checks it, replaced as a whole at each pass: whenever the
process ends, the old or the new file is whole. It holds, for each number of experts, the point reached and the state of
the random numbers, the settings, and a hash of the rows, so that it is not mistaken for that of another fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from skmoe.arrays.visible import visible
from skmoe.likelihood import Theta
from skmoe.persistence.archive import Archive, ArraySpec, Values, opened, write_archive
from skmoe.persistence.errors import ModelFileError
from skmoe.persistence.plain import one_of, record, row, text, whole
from skmoe.tables.writing import prove_writable

__all__ = ["Checkpoint"]

FORMAT = 3
HEADER = "checkpoint.json"
REFUSAL = "is damaged or no checkpoint of skmoe ({}); delete it, or choose another path"
GENERATORS = ("PCG64", "PCG64DXSM")  # whose state is two whole numbers without constraints
_BITS_128 = whole(0, 2**128 - 1)
STATE = record(
    {
        "bit_generator": one_of(*GENERATORS),
        "state": record({"state": _BITS_128, "inc": _BITS_128}),
        "has_uint32": one_of(0, 1),
        "uinteger": whole(0, 2**32 - 1),
    }
)


class Checkpoint:
    """Points of a fit, kept in a file.

    Parameters
    ----------
    path : str or path
    settings : mapping of str
        Settings of the fit: a file with others is refused.
    rows : str
        Hash of the rows, see `skmoe.arrays.row_hash`: a file of others is refused.
    widths : tuple of two ints
        Coefficients of an expert and of a gate vector.
    rng : Generator
        Random numbers of the fit.
    """

    def __init__(
        self,
        path: Any,
        settings: Mapping[str, str],
        rows: str,
        widths: tuple[int, int],
        rng: np.random.Generator,
    ) -> None:
        self.path, self.settings, self.rows, self.widths = Path(path), dict(settings), rows, widths
        self._shown = visible(str(path))
        self.states: dict[int, dict[str, Any]] = {}
        self.points: dict[int, Theta] = {}
        self._generator = str(rng.bit_generator.state["bit_generator"])
        if self._generator not in GENERATORS:
            raise ValueError(
                f"a checkpoint notes random numbers of {' or '.join(GENERATORS)}; random_state has {self._generator}: "
                "hand in an int, or numpy.random.default_rng(seed)"
            )
        prove_writable(path, "checkpoint")
        if self.path.exists():
            with opened(path, REFUSAL) as archive:
                self._read(archive)

    def _read(self, archive: Archive) -> None:
        header = archive.json(HEADER)
        version = header.get("format") if isinstance(header, dict) else None
        if type(version) is not int:
            raise ValueError(f"{HEADER} names no format")
        if version != FORMAT:
            raise ModelFileError(
                f"checkpoint {self._shown} is of another version of skmoe; delete it, or choose another path"
            )
        stages = header.get("stages")
        if not isinstance(stages, dict) or not all(k.isascii() and k.isdecimal() and int(k) > 0 for k in stages):
            raise ValueError("its stages are not numbers of experts")
        width = whole(0)
        record(
            {
                "format": one_of(FORMAT),
                "settings": record({}, dict.fromkeys(header.get("settings") or (), text)),
                "rows": text,
                "widths": row(width, width),
                "stages": record({}, dict.fromkeys(stages, STATE)),
            }
        )(header, HEADER)
        self._refuse_another_fit(header)
        specs = {name: spec for k in stages for name, spec in self._specs(int(k)).items()}
        arrays = archive.arrays(specs, {HEADER})
        self.states = {int(k): state for k, state in stages.items()}
        self.points = {k: Theta(*(arrays[name] for name in self._specs(k))) for k in self.states}

    def _specs(self, k: int) -> dict[str, ArraySpec]:
        """Return the specifications of the arrays of a point: experts, gate, noise scales."""
        experts, gate = self.widths
        return {
            f"A_{k}": ArraySpec((k, experts)),
            f"W_{k}": ArraySpec((k, gate)),
            f"sigma_{k}": ArraySpec((k,), Values(above=0.0)),
        }

    def _refuse_another_fit(self, header: Mapping[str, Any]) -> None:
        names = [*self.settings, *(name for name in header["settings"] if name not in self.settings)]
        differ = [visible(name) for name in names if header["settings"].get(name) != self.settings.get(name)]
        if any(state["bit_generator"] != self._generator for state in header["stages"].values()):
            differ.append("kind of random numbers")
        if header["rows"] != self.rows:
            differ.append("inputs, outputs or weights, or which of them belong together,")
        elif header["widths"] != list(self.widths):
            differ.append("numbers of coefficients")
        if differ:
            raise ModelFileError(
                f"checkpoint {self._shown} is that of another fit ({', '.join(differ)} differ); delete it, or choose "
                "another path"
            )

    def get(self, k: int, rng: np.random.Generator) -> Theta | None:
        """Return the saved point of the fit of k experts, if any, and restore the state of the random numbers."""
        if k not in self.points:
            return None
        rng.bit_generator.state = self.states[k]
        return self.points[k]

    def put(self, theta: Theta, rng: np.random.Generator) -> None:
        """Save the current point of a fit."""
        self.states[theta.k] = dict(rng.bit_generator.state)
        self.points[theta.k] = theta
        header = {
            "format": FORMAT,
            "settings": self.settings,
            "rows": self.rows,
            "widths": self.widths,
            "stages": {str(k): state for k, state in self.states.items()},
        }
        arrays: dict[str, np.ndarray] = {}
        for k, point in self.points.items():
            arrays |= dict(zip(self._specs(k), (point.A, point.W, point.sigma), strict=True))
        write_archive(self.path, {HEADER: header}, arrays)
