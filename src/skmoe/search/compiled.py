"""The optimiser of a batch in compiled code (``batch_optimiser.c``), for linear Gaussian experts on few rows on a CPU.

A step of a batch is a hundred calls of NumPy, which on few rows take longer than the sums; compiled, some steps of all
models are one call. Elsewhere `skmoe.search.batch_optimiser` takes the same
steps.
"""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_int, c_ssize_t, c_void_p
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from skmoe.arrays.threads import in_order, threads_allowed
from skmoe.likelihood import Problem, Theta
from skmoe.likelihood.batch import has_compiled_sums
from skmoe.likelihood.fused import LIBRARY, STRIP, loaded
from skmoe.likelihood.rows import ModelRows
from skmoe.search.batch_em import FEWEST_ROWS
from skmoe.search.batch_optimiser import (
    GIVE_UP,
    MANY_COLUMNS,
    MOST_SPREADS,
    PAIRS,
    REFRESH,
    ROUNDING,
    SHRINK,
    SUFFICIENT,
    BatchOptimiser,
    OnStep,
    PerModelRows,
)

__all__ = ["CompiledOptimiser", "Float32Optimiser", "make_optimiser"]

VERSION = 7
"""Of the functions' signature, as in ``batch_optimiser.c``."""
TILE = 3
"""Inputs are filled up to a multiple of this."""
LINE = 64
"""Bytes of a line of the cache."""
STRIP_BYTES = 8 * STRIP
"""Memory of a strip: as many rows as numbers of the precision fill it."""
LEAST_NOISE = 1e-3
"""Known noise, relative to the standard deviation of y, from which on float32 will do; learned noise is above."""
MOST_WEIGHT = 1e6
"""Weight of a row up to which sums in float32 are those of many rows."""
MOST_DOUBLES = 2**20
"""Size of the inputs, 8 MiB, up to which they are laid out once more, in strips."""
AT_ONCE = 1e9
"""Operations between two calls of `on_step`."""
SHARED_WORK = 3e7
"""Operations from which models are distributed over threads."""
KINDS = {"shared": 1, "per-expert": 2}
"""Codes of the noise in ``batch_optimiser.c``; known scales are 0."""
SIZES = (
    "strips",
    "inputs",
    "De",
    "Dg",
    "gate_at",
    "k",
    "noise",
    "pairs",
    "y_model",
    "weight_model",
    "single",
    "refresh",
)
NUMBERS = ("total", "floor", "spread", "rounding", "sufficient", "shrink", "give_up", "most_spreads", "least_weight")
ROWS = ("U", "y", "weight")
PENALTY = ("expert", "gate", "noise_dof", "pooled", "fewest_rows")
STATE = ("vector", "sigma", "objective", "log_likelihood", "share", "gradient", "direction", "size")
CURVATURE = ("factors", "scales", "steps", "falls", "products")


class _Batch(ctypes.Structure):
    """The struct of ``batch_optimiser.c``."""

    _fields_ = [
        *((name, c_ssize_t) for name in SIZES),
        *((name, c_double) for name in NUMBERS),
        *((name, c_void_p) for name in (*ROWS, *PENALTY, "base", *STATE, *CURVATURE)),
    ]


@lru_cache(maxsize=1)
def _library() -> Any | None:
    """Return the compiled functions, or None where they were not built, or for another version of this module."""
    library = loaded(LIBRARY)
    if library is None or not hasattr(library, "skmoe_batch_version") or library.skmoe_batch_version() != VERSION:
        return None
    models: list[Any] = [c_void_p, c_ssize_t, c_ssize_t]
    library.skmoe_batch_work.argtypes, library.skmoe_batch_work.restype = [c_void_p], c_ssize_t
    library.skmoe_batch_begin.argtypes = [*models, c_void_p]
    library.skmoe_batch_switch.argtypes = models
    library.skmoe_batch_steps.argtypes = [*models, c_ssize_t, c_ssize_t, c_int, c_void_p]
    for name in ("begin", "switch", "steps"):
        function = getattr(library, f"skmoe_batch_{name}")
        function.restype = None
    return library


def make_optimiser(
    problem: Problem,
    batch: Theta,
    penalties: np.ndarray | None = None,
    *,
    per_model: PerModelRows | None = None,
    exact: bool = False,
    on_step: OnStep | None = None,
) -> BatchOptimiser:
    """Return an optimiser of several models, in compiled code where there is some for it.

    Unless it is to be `exact`, that is in float32, in half the time: objectives are right to some thousandths in total,
    which tells optima apart, and the best is finished in double precision.
    """
    rows, map = problem.rows, problem.rows.map
    narrow = max(map.De, map.Dg) <= MANY_COLUMNS and rows.n * (map.width + map.intercept) <= MOST_DOUBLES
    small = isinstance(rows.X, np.ndarray) and narrow
    kind = BatchOptimiser
    if small and has_compiled_sums(problem) and _library() is not None:
        kind = CompiledOptimiser if exact or not _float32_will_do(problem) else Float32Optimiser
    return kind(problem, batch, penalties, per_model=per_model, on_step=on_step)


def _float32_will_do(problem: Problem) -> bool:
    """Return whether float32 tells residuals from their noise, and holds the weights."""
    known, weight = not problem.noise_groups, problem.rows.weight
    precise = not known or float(problem.settings.noise) >= LEAST_NOISE * problem.y_std
    return precise and (weight is None or float(np.max(weight)) * problem.rows.weight_scale < MOST_WEIGHT)


def _aligned(shape: tuple[int, ...], dtype: type = np.float64) -> np.ndarray:
    """Return zeros whose first byte lies at a line of the cache, so that no vector crosses one."""
    count, each = int(np.prod(shape)), np.dtype(dtype).itemsize
    numbers: np.ndarray = np.zeros(count + LINE // each, dtype=dtype)
    first = -numbers.ctypes.data % LINE // each
    return numbers[first : first + count].reshape(shape)


def _padded(inputs: int) -> int:
    """Round a number of inputs up to whole tiles."""
    return -(-inputs // TILE) * TILE


def _in_strips(rows: ModelRows, precision: type) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return inputs (strips, inputs, rows of a strip), outputs and weights (models or 1, padded rows).

    Those of experts come first, padded to whole tiles, then those of the gate, likewise, where it sees others.
    """
    U, V, y, weight = rows.block(rows.X, rows.y, rows.weight)
    n, strip = U.shape[1], STRIP_BYTES // np.dtype(precision).itemsize
    strips, parts = -(-n // strip), [U] if U is V else [U, V]
    columns = np.concatenate([np.zeros((_padded(len(part)), strips * strip)) for part in parts])
    for part, at in zip(parts, (0, _padded(len(U))), strict=False):
        columns[at : at + len(part), :n] = part
    inputs = _aligned((strips, len(columns), strip), precision)
    inputs[:] = columns.reshape(len(columns), strips, strip).swapaxes(0, 1)
    weights = np.ones((1, n)) if weight is None else np.asarray(weight, dtype=np.float64)[None]
    found = [inputs]
    for part in (np.atleast_2d(np.asarray(y, dtype=np.float64).T), weights):
        found.append(_aligned((len(part), strips * strip), precision))
        found[-1][:, :n] = part
    return found[0], found[1], found[2]


class CompiledOptimiser(BatchOptimiser):
    """The optimiser of its base class in compiled code."""

    precision: type = np.float64
    rounding = ROUNDING

    def _begin(self) -> None:
        self._taken = 0
        problem, batch = self.problem, self.batch
        rows, (S, k, De), Dg = problem.rows, batch.A.shape, batch.W.shape[2]
        if self.precision not in rows.layouts:
            rows.layouts[self.precision] = _in_strips(rows, self.precision)
        self.U, self.y, self.weight = rows.layouts[self.precision]
        total_weight: np.ndarray = np.ones(S)
        if self.per_model is not None:
            shared, per_model = self.weight, np.asarray(self.per_model.weight)
            self.weight = _aligned((S, shared.shape[1]), self.precision)
            self.weight[:, : rows.n] = shared[:, : rows.n] * per_model.T
            total_weight = self.weight.sum(axis=1, dtype=np.float64) / problem.total
        self.base = problem.family.log_base * total_weight
        P = self.vector.shape[1]
        self.sigma = np.array(batch.sigma, dtype=np.float64)
        self.objective, self.log_likelihood, self.size = np.empty(S), np.empty(S), np.ones(S)
        self.share, self.scales = np.empty((S, k)), np.empty((S, k))
        self.gradient, self.direction = np.empty((S, P)), np.empty((S, P))
        self.factors = np.empty((S, k * (De**2 + Dg**2)))
        self.steps, self.falls = np.empty((S, PAIRS, P)), np.empty((S, PAIRS, P))
        self.products = np.empty((S, PAIRS))
        self._call("skmoe_batch_begin")
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
            self._call("skmoe_batch_steps", count, self._age, int(quasi_newton), shared=count * each >= SHARED_WORK)
            self._age, self._taken, steps = self._age + count, count, steps - count
            self.problem.rows.passes.count += count
            self.batch = self._unpack(self.vector)
            if self.on_step is not None:
                self.on_step(self)

    def _switch_to_lbfgs(self) -> None:
        self._call("skmoe_batch_switch", work=False)

    def _call(self, name: str, *arguments: int, work: bool = True, shared: bool = False) -> None:
        """Call a compiled function for all models, on as many threads as are allowed where there is much to do."""
        library, models = _library(), len(self)
        assert library is not None, "make_optimiser was not asked"
        function, state = getattr(library, name), self._struct()

        def some(first: int, last: int) -> None:
            space = _aligned((library.skmoe_batch_work(ctypes.byref(state)) if work else 0,))
            function(ctypes.byref(state), first, last, *arguments, *([space.ctypes.data] if work else []))

        threads = min(threads_allowed(), models) if shared else 1
        if threads == 1:
            some(0, models)
            return
        bounds = [models * i // (2 * threads) for i in range(2 * threads + 1)]
        for _ in in_order(some, [(a, b) for a, b in pairwise(bounds) if b > a], threads):
            pass

    def _struct(self) -> _Batch:
        _, k, De = self.batch.A.shape
        numbers = {
            "strips": self.U.shape[0],
            "inputs": self.U.shape[1],
            "De": De,
            "Dg": self.batch.W.shape[2],
            "gate_at": _padded(De) % self.U.shape[1],
            "k": k,
            "noise": 0 if self._known else KINDS[str(self.problem.settings.noise)],
            "pairs": self.steps.shape[1],
            "y_model": self.y.shape[1] if len(self.y) > 1 else 0,
            "weight_model": self.weight.shape[1] if len(self.weight) > 1 else 0,
            "single": int(self.precision is np.float32),
            "refresh": REFRESH,
            "total": self.problem.total,
            "floor": self.problem.least_scale,
            "spread": self.problem.y_std,
            "rounding": self.rounding,
            "sufficient": SUFFICIENT,
            "shrink": SHRINK,
            "give_up": GIVE_UP,
            "most_spreads": MOST_SPREADS,
            "least_weight": FEWEST_ROWS,
        }
        self._held = {name: np.ascontiguousarray(getattr(self.penalties, name)) for name in PENALTY}
        arrays = {name: getattr(self, name) for name in (*ROWS, "base", *STATE, *CURVATURE)} | self._held
        return _Batch(**numbers, **{name: array.ctypes.data for name, array in arrays.items()})

    def _keep(self, rows: np.ndarray) -> None:
        for name in (*STATE, *CURVATURE, "base"):
            setattr(self, name, getattr(self, name)[rows])
        for name in ("y", "weight"):
            if len(getattr(self, name)) > 1:
                setattr(self, name, getattr(self, name)[rows])


class Float32Optimiser(CompiledOptimiser):
    """The compiled optimiser with rows in float32."""

    precision = np.float32
    rounding = 1e-7
