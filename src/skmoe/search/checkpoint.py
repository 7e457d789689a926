"""A long fit's whereabouts in a file, so that a process that dies in the middle can go on from there.

The file is a plain archive of arrays, replaced as a whole at each pass: a kill leaves the old one or the new one. It
holds, for each stage of the fit, the point reached and the state of the random numbers there; and what the first pass
over the table told, so that it is not taken for another table's.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from skmoe.likelihood import Theta
from skmoe.rows.writing import replacing

__all__ = ["Checkpoint"]

FORMAT = 2


class Checkpoint:
    """Points of a fit, kept in a file.

    Parameters
    ----------
    path : str or path
    settings : dict of str
        What the fit was asked for: a file with others is refused.
    seen : dict of float arrays
        What tells the table from others, compared up to rounding.
    """

    def __init__(self, path: Any, settings: Mapping[str, str], seen: Mapping[str, Any]) -> None:
        self.path, self.settings = Path(path), dict(settings)
        self.seen = {name: np.atleast_1d(np.asarray(values, dtype=np.float64)) for name, values in seen.items()}
        self.stages: dict[str, dict[str, Any]] = {}
        self.points: dict[str, Theta] = {}
        if not self.path.parent.is_dir():
            raise ValueError(f"checkpoint {self.path} cannot be written: there is no folder {self.path.parent}")
        if self.path.exists():
            self._read()

    def _read(self) -> None:
        try:
            with np.load(self.path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            header = json.loads(str(arrays.pop("header")))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"{self.path} is no checkpoint of skmoe ({error}); delete it or choose another") from error
        if header["format"] != FORMAT:
            raise ValueError(f"checkpoint {self.path} is of another version of skmoe; delete it or choose another path")
        differ = [k for k, v in self.settings.items() if header["settings"].get(k) != v]
        for name, values in self.seen.items():
            old = arrays.pop(f"seen {name}")
            if old.shape != values.shape or not np.allclose(old, values, rtol=1e-6, atol=0, equal_nan=True):
                differ.append(name)
        if differ:
            raise ValueError(
                f"checkpoint {self.path} is that of another fit ({', '.join(differ)} differ); delete it or choose "
                "another path"
            )
        self.stages = header["stages"]
        self.points = {name: Theta(*(arrays[f"{part} {name}"] for part in "AWs")) for name in self.stages}

    def get(self, stage: str, rng: np.random.Generator) -> Theta | None:
        """Where a stage stands, if it was begun; random numbers then go on from there."""
        if stage not in self.stages:
            return None
        rng.bit_generator.state = self.stages[stage]
        return self.points[stage]

    def put(self, stage: str, theta: Theta, rng: np.random.Generator) -> None:
        """Note where a stage stands."""
        self.stages[stage] = dict(rng.bit_generator.state)
        self.points[stage] = theta
        header = {"format": FORMAT, "settings": self.settings, "stages": self.stages}
        arrays: dict[str, Any] = {
            "header": np.array(json.dumps(header)),
            **{f"seen {k}": v for k, v in self.seen.items()},
        }
        for name, point in self.points.items():
            arrays |= {f"A {name}": point.A, f"W {name}": point.W, f"s {name}": point.sigma}
        with replacing(self.path) as beside, open(beside, "wb") as file:
            np.savez(file, **arrays)
