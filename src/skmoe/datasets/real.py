"""The paper's three real tables, packaged with their source and licence (see ``data/README.md``)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
from sklearn.utils import Bunch

__all__ = ["load_airfoil", "load_concrete", "load_stock_portfolio"]


@dataclass(frozen=True)
class Table:
    """A packaged CSV: inputs first, target last, other outcomes between."""

    name: str
    n_features: int
    sha256: str


CONCRETE = Table("concrete", 8, "dae41a60ef5c4f58b443c95cc1ff005c6f6a2d76abd60ca7a9962350521bec7c")
AIRFOIL = Table("airfoil", 5, "85ac3c2273421113fa615e293c804f05d59fafd1ce68bfdc52db715428e39986")
STOCK_PORTFOLIO = Table("stock_portfolio", 6, "e43e0b6a4192d5dc605c27eee8d74089b427ba6c6750709a8e6fea90177140c6")


def _packaged(name: str) -> bytes:
    # A checkout may have turned line ends into the system's own: that is no change of the data.
    return resources.files("skmoe.datasets").joinpath("data", name).read_bytes().replace(b"\r\n", b"\n")


def read_table(table: Table) -> tuple[list[str], np.ndarray]:
    """Return column names and values of a packaged table, after its checksum was verified."""
    content = _packaged(f"{table.name}.csv")
    found = hashlib.sha256(content).hexdigest()
    if found != table.sha256:
        raise ValueError(
            f"the packaged file {table.name}.csv has SHA-256 {found}, expected {table.sha256}: it was changed or cut "
            "short; install skmoe again"
        )
    header, *lines = content.decode("ascii").splitlines()
    return header.split(","), np.loadtxt(lines, delimiter=",", dtype=np.float64, ndmin=2)


def _description(table: Table) -> str:
    """Return the section of the data's README that speaks of `table`."""
    sections = _packaged("README.md").decode("utf-8").split("\n## ")
    return next(section for section in sections if section.startswith(f"{table.name}\n"))


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "as_frame=True needs pandas, which is not installed; install it with `pip install pandas`, or leave "
            "as_frame out to get NumPy arrays"
        ) from error
    return pandas


def _load(table: Table, *, return_X_y: bool, as_frame: bool) -> Any:
    pandas = _pandas() if as_frame else None
    names, values = read_table(table)
    d = table.n_features
    features, others, target_name = names[:d], names[d:-1], names[-1]
    X, y, outcomes = np.ascontiguousarray(values[:, :d]), values[:, -1].copy(), values[:, d:-1]
    frame = None
    if pandas is not None:
        frame = pandas.DataFrame(values, columns=names)
        X, y, outcomes = frame[features], frame[target_name], frame[others]
    if return_X_y:
        return X, y
    bunch = Bunch(
        data=X,
        target=y,
        frame=frame,
        feature_names=features,
        target_name=target_name,
        DESCR=_description(table),
    )
    if others:
        bunch.outcomes = (
            Bunch(**{name: outcomes[:, j].copy() for j, name in enumerate(others)}) if frame is None else outcomes
        )
    return bunch


def load_concrete(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load compressive strength of concrete (MPa) from seven components (kg/m3) and age (days): 1030 rows, 8 inputs.

    UCI data set 165, I-Cheng Yeh, CC BY 4.0.

    Parameters
    ----------
    return_X_y : bool
        Return ``(data, target)`` alone.
    as_frame : bool
        Give pandas objects instead of NumPy arrays; needs pandas.

    Returns
    -------
    Bunch
        ``data`` (1030, 8), ``target`` (1030,), ``feature_names``, ``target_name``, ``DESCR`` with source, licence,
        citation and units, and ``frame``: the whole table if `as_frame`, else None.

    Examples
    --------
    >>> from skmoe.datasets import load_concrete
    >>> concrete = load_concrete()
    >>> concrete.data.shape, concrete.target_name
    ((1030, 8), 'compressive_strength_mpa')
    """
    return _load(CONCRETE, return_X_y=return_X_y, as_frame=as_frame)


def load_airfoil(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load noise of airfoil sections (dB) from frequency, angle, chord, speed and thickness: 1503 rows, 5 inputs.

    UCI data set 291, Brooks, Pope and Marcolini (NASA), CC BY 4.0.

    Parameters
    ----------
    return_X_y : bool
        Return ``(data, target)`` alone.
    as_frame : bool
        Give pandas objects instead of NumPy arrays; needs pandas.

    Returns
    -------
    Bunch
        ``data`` (1503, 5), ``target`` (1503,) and the rest as in `load_concrete`.

    Examples
    --------
    >>> from skmoe.datasets import load_airfoil
    >>> X, y = load_airfoil(return_X_y=True)
    >>> X.shape, y.shape
    ((1503, 5), (1503,))
    """
    return _load(AIRFOIL, return_X_y=return_X_y, as_frame=as_frame)


def load_stock_portfolio(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load excess returns of stock portfolios from the weights of six stock-picking concepts: 63 rows, 6 inputs.

    UCI data set 390, Liu and Yeh, CC BY 4.0. The weights of a row sum to one but for rounding, so that with an
    intercept the inputs are collinear: leave one column out, or the intercept.

    Parameters
    ----------
    return_X_y : bool
        Return ``(data, target)`` alone.
    as_frame : bool
        Give pandas objects instead of NumPy arrays; needs pandas.

    Returns
    -------
    Bunch
        ``data`` (63, 6), ``target`` (63,) and the rest as in `load_concrete`; besides, ``outcomes`` holds the eleven
        other outcomes by name (arrays, or a DataFrame if `as_frame`): ``annual_return``, ``systematic_risk``,
        ``total_risk``, ``absolute_win_rate``, ``relative_win_rate``, and these and the target as normalized by the
        authors, ``excess_return_normalized`` and so on.

    Examples
    --------
    >>> from skmoe.datasets import load_stock_portfolio
    >>> stock = load_stock_portfolio()
    >>> stock.data.shape, stock.target_name, stock.outcomes["annual_return"].shape
    ((63, 6), 'excess_return', (63,))
    """
    return _load(STOCK_PORTFOLIO, return_X_y=return_X_y, as_frame=as_frame)
