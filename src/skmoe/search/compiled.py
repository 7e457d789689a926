"""Climbs by compiled code (``climb.c``), for linear experts with Gaussian noise over few enough rows on a CPU.

A step of a batch is a hundred calls of NumPy, which on few rows take longer than the sums; compiled, some steps of all
models are one call. Elsewhere `skmoe.search.climb` takes the same steps.
"""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_int, c_ssize_t, c_void_p
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from skmoe.arrays.threads import in_order, threads_allowed
from skmoe.likelihood import Problem
from skmoe.likelihood.batch import ThetaBatch, has_compiled_sums
from skmoe.likelihood.fused import LIBRARY, STRIP, loaded
from skmoe.likelihood.rows import ModelRows
from skmoe.search.climb import MANY_COLUMNS, BatchAscent, OnStep, OwnRows

__all__ = ["CompiledAscent", "RoughAscent", "batch_ascent"]

VERSION = 5
"""Of the functions' signature, as in ``climb.c``."""
TILE = 3
"""Inputs are filled up to a multiple of this."""
LINE = 64
"""Bytes of a line of the cache."""
STRIP_BYTES = 8 * STRIP
"""Memory of a strip: as many rows as numbers of the precision fill it."""
LEAST_NOISE = 1e-3
"""Noise that is known, relative to the spread of y, from which on single precision will do; learned noise is above."""
MOST_WEIGHT = 1e6
"""Weight of a row up to which sums in single precision are those of many rows."""
MOST_DOUBLES = 2**20
"""Size of the inputs, 8 MiB, up to which they are laid out once more, in strips."""
AT_ONCE = 1e9
"""Operations between two looks at the clock."""
SHARED_WORK = 3e7
"""Operations from which models are shared out over threads."""
KINDS = {"shared": 1, "per-expert": 2}
"""How ``climb.c`` calls the noise; known scales are 0."""
SIZES = ("strips", "inputs", "De", "Dg", "gate_at", "k", "noise", "pairs", "y_model", "weight_model", "single")
ROWS = ("U", "y", "weight")
PENALTY = ("own", "gate", "noise_dof", "pooled", "fewest_rows")
STATE = ("vector", "sigma", "objective", "log_likelihood", "share", "gradient", "direction", "size")
CURVATURE = ("factors", "scales", "steps", "falls", "products")


class _Climb(ctypes.Structure):
    """The struct of ``climb.c``."""

    _fields_ = [
        *((name, c_ssize_t) for name in SIZES),
        ("total", c_double),
        ("floor", c_double),
        ("spread", c_double),
        *((name, c_void_p) for name in (*ROWS, *PENALTY, "base", *STATE, *CURVATURE)),
    ]


@lru_cache(maxsize=1)
def _library() -> Any | None:
    """The compiled functions, or None where they were not built, or for another version of this module."""
    library = loaded(LIBRARY)
    if library is None or not hasattr(library, "skmoe_climb_version") or library.skmoe_climb_version() != VERSION:
        return None
    models: list[Any] = [c_void_p, c_ssize_t, c_ssize_t]
    library.skmoe_climb_work.argtypes, library.skmoe_climb_work.restype = [c_void_p], c_ssize_t
    library.skmoe_climb_begin.argtypes = [*models, c_void_p]
    library.skmoe_climb_turn.argtypes = models
    library.skmoe_climb_steps.argtypes = [*models, c_ssize_t, c_ssize_t, c_int, c_void_p]
    library.skmoe_climb_losses.argtypes = [*models, c_void_p, c_void_p]
    for name in ("begin", "turn", "steps", "losses"):
        function = getattr(library, f"skmoe_climb_{name}")
        function.restype = None
    return library


def batch_ascent(
    problem: Problem,
    batch: ThetaBatch,
    penalties: np.ndarray | None = None,
    *,
    own: OwnRows | None = None,
    exact: bool = False,
    on_step: OnStep | None = None,
) -> BatchAscent:
    """A climb of several models, by compiled code where there is some for it.

    Unless it is to be `exact`, that is in single precision, in half the time: objectives are right to some thousandths
    in total, which tells optima apart, and what is found is climbed further by others.
    """
    rows, map = problem.rows, problem.rows.map
    few = max(map.De, map.Dg) <= MANY_COLUMNS and rows.n * (map.width + map.intercept) <= MOST_DOUBLES
    small = isinstance(rows.X, np.ndarray) and few
    kind = BatchAscent
    if small and has_compiled_sums(problem) and _library() is not None:
        kind = CompiledAscent if exact or not _is_tame(problem) else RoughAscent
    return kind(problem, batch, penalties, own=own, on_step=on_step)


def _is_tame(problem: Problem) -> bool:
    """Whether single precision tells residuals from their noise, and holds the weights."""
    known, weight = not problem.noise_groups, problem.rows.weight
    fine = not known or float(problem.settings.noise) >= LEAST_NOISE * problem.y_std
    return fine and (weight is None or float(np.max(weight)) * problem.rows.weight_scale < MOST_WEIGHT)


def _aligned(shape: tuple[int, ...], dtype: type = np.float64) -> np.ndarray:
    """Zeros whose first byte lies at a line of the cache, so that no vector crosses one."""
    count, each = int(np.prod(shape)), np.dtype(dtype).itemsize
    numbers: np.ndarray = np.zeros(count + LINE // each, dtype=dtype)
    first = -numbers.ctypes.data % LINE // each
    return numbers[first : first + count].reshape(shape)


def _filled(inputs: int) -> int:
    """So many inputs, filled up to whole tiles."""
    return -(-inputs // TILE) * TILE


def _laid_out(rows: ModelRows, precision: type) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs (strips, inputs, rows of a strip), outputs and weights (models or 1, rows filled up).

    Those of experts come first, filled up to whole tiles, then those of the gate, likewise, where it sees others.
    """
    U, V, y, weight = rows.block(rows.X, rows.y, rows.weight)
    n, strip = U.shape[1], STRIP_BYTES // np.dtype(precision).itemsize
    strips, parts = -(-n // strip), [U] if U is V else [U, V]
    columns = np.concatenate([np.zeros((_filled(len(part)), strips * strip)) for part in parts])
    for part, at in zip(parts, (0, _filled(len(U))), strict=False):
        columns[at : at + len(part), :n] = part
    inputs = _aligned((strips, len(columns), strip), precision)
    inputs[:] = columns.reshape(len(columns), strips, strip).swapaxes(0, 1)
    weights = np.ones((1, n)) if weight is None else np.asarray(weight, dtype=np.float64)[None]
    found = [inputs]
    for part in (np.atleast_2d(np.asarray(y, dtype=np.float64).T), weights):
        found.append(_aligned((len(part), strips * strip), precision))
        found[-1][:, :n] = part
    return found[0], found[1], found[2]


class CompiledAscent(BatchAscent):
    """The same climb as its base, by compiled code."""

    precision: type = np.float64

    def _begin(self, memory: int) -> None:
        self._taken = 0
        problem, batch = self.problem, self.batch
        rows, (S, k, De), Dg = problem.rows, batch.A.shape, batch.W.shape[2]
        if self.precision not in rows.layouts:
            rows.layouts[self.precision] = _laid_out(rows, self.precision)
        self.U, self.y, self.weight = rows.layouts[self.precision]
        weighed: np.ndarray = np.ones(S)
        if self.own is not None:
            shared, own = self.weight, np.asarray(self.own.weight)
            self.weight = _aligned((S, shared.shape[1]), self.precision)
            self.weight[:, : rows.n] = shared[:, : rows.n] * own.T
            weighed = self.weight.sum(axis=1, dtype=np.float64) / problem.total
        self.base = problem.family.log_base * weighed
        P = self.vector.shape[1]
        self.sigma = np.array(batch.sigma, dtype=np.float64)
        self.objective, self.log_likelihood, self.size = np.empty(S), np.empty(S), np.ones(S)
        self.share, self.scales = np.empty((S, k)), np.empty((S, k))
        self.gradient, self.direction = np.empty((S, P)), np.empty((S, P))
        self.factors = np.empty((S, k * (De**2 + Dg**2)))
        self.steps, self.falls = np.empty((S, memory, P)), np.empty((S, memory, P))
        self.products = np.empty((S, memory))
        self._call("skmoe_climb_begin")
        rows.passes.count += 1

    @property
    def work(self) -> float:
        """Operations of the steps since `on_step` was called."""
        return self._taken * super().work

    def _steps(self, steps: int, *, quasi_newton: bool) -> None:
        each = super().work
        while steps > 0:
            count = int(min(steps, max(1, AT_ONCE // each)))
            self.objective, self.log_likelihood, self.share = (
                part.copy() for part in (self.objective, self.log_likelihood, self.share)
            )
            self._call("skmoe_climb_steps", count, self._age, int(quasi_newton), shared=count * each >= SHARED_WORK)
            self._age, self._taken, steps = self._age + count, count, steps - count
            self.problem.rows.passes.count += count
            self.batch = self._unpack(self.vector)
            if self.on_step is not None:
                self.on_step(self)

    def _turn(self) -> None:
        self._call("skmoe_climb_turn", work=False)

    def removal_losses(self) -> np.ndarray:
        """Fall of the total log-likelihood of the problem's rows when each expert is removed, (S, k)."""
        if self.batch.k == 1 or self.own is not None:
            return super().removal_losses()
        losses = np.empty(self.batch.sigma.shape)
        self._call("skmoe_climb_losses", losses.ctypes.data)
        return losses

    def _call(self, name: str, *how: int, work: bool = True, shared: bool = False) -> None:
        """Call a compiled function for all models, on as many threads as may be where there is much to do."""
        library, models = _library(), len(self)
        assert library is not None, "batch_ascent was not asked"
        function, state = getattr(library, name), self._struct()

        def part(first: int, last: int) -> None:
            space = _aligned((library.skmoe_climb_work(ctypes.byref(state)) if work else 0,))
            function(ctypes.byref(state), first, last, *how, *([space.ctypes.data] if work else []))

        threads = min(threads_allowed(), models) if shared else 1
        if threads == 1:
            part(0, models)
            return
        ends = [models * i // (2 * threads) for i in range(2 * threads + 1)]
        for _ in in_order(part, [(a, b) for a, b in pairwise(ends) if b > a], threads):
            pass

    def _struct(self) -> _Climb:
        _, k, De = self.batch.A.shape
        numbers = {
            "strips": self.U.shape[0],
            "inputs": self.U.shape[1],
            "De": De,
            "Dg": self.batch.W.shape[2],
            "gate_at": _filled(De) % self.U.shape[1],
            "k": k,
            "noise": 0 if self._known else KINDS[str(self.problem.settings.noise)],
            "pairs": self.steps.shape[1],
            "y_model": self.y.shape[1] if len(self.y) > 1 else 0,
            "weight_model": self.weight.shape[1] if len(self.weight) > 1 else 0,
            "single": int(self.precision is np.float32),
            "total": self.problem.total,
            "floor": self.problem.least_scale,
            "spread": self.problem.y_std,
        }
        self._held = {name: np.ascontiguousarray(getattr(self.ridges, name)) for name in PENALTY}
        arrays = {name: getattr(self, name) for name in (*ROWS, "base", *STATE, *CURVATURE)} | self._held
        return _Climb(**numbers, **{name: array.ctypes.data for name, array in arrays.items()})

    def _keep(self, rows: np.ndarray) -> None:
        for name in (*STATE, *CURVATURE, "base"):
            setattr(self, name, getattr(self, name)[rows])
        for name in ("y", "weight"):
            if len(getattr(self, name)) > 1:
                setattr(self, name, getattr(self, name)[rows])


class RoughAscent(CompiledAscent):
    """A compiled climb with rows in single precision."""

    precision = np.float32
