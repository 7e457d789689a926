"""Input laws: fitted to rows, chosen by the shape of their distribution, and mapped to other coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe.arrays.blocks import in_memory, take_rows
from skmoe.arrays.checks import generator
from skmoe.arrays.namespaces import Array, to_numpy
from skmoe.arrays.table_moments import table_moments
from skmoe.arrays.threads import one_openmp_thread
from skmoe.spectral.rows import some_rows
from skmoe.spectral.scores.gaussian import Gaussian, InputLaw
from skmoe.spectral.scores.mixture import GaussianMixture

__all__ = ["as_law", "choose_law", "fit_law", "mapped_law", "shape_of"]

FIT_ROWS = 20_000
"""A mixture is fitted on at most this many rows: its error is far below that of the moments."""
SHAPE_ROWS = 1_000
"""Rows on which it is tested whether inputs are about Gaussian, and on which a mixture is fitted for a start."""
MAX_COMPONENTS = 5
MOST_SKEWNESS, MOST_KURTOSIS = 0.5, 1.0  # of inputs that count as Gaussian


def fit_law(
    X: Array,
    kind: str,
    random_state: Any = None,
    *,
    weight: Array | None = None,
    max_components: int = MAX_COMPONENTS,
    n_init: int = 2,
) -> InputLaw:
    """Fit an input law to rows: "gaussian" by mean and covariance, "mixture" by scikit-learn, components by BIC.

    Parameters
    ----------
    X : (n, d) array
        Inputs.
    kind : {"gaussian", "mixture"}
        Family of laws.
    random_state : int, RandomState, Generator or None
        Draws the rows and the starts of a mixture.
    weight : (n,) array, optional
        Row weights.
    max_components : int
        Most components of a mixture.
    n_init : int
        Starts of each mixture.

    Returns
    -------
    Gaussian or GaussianMixture
        The law; a mixture of one component is a Gaussian.
    """
    if kind not in ("gaussian", "mixture"):
        raise ValueError(f'input_law must be "gaussian", "mixture", None or a law of skmoe.scores; got {kind!r}')
    d = X.shape[1]
    gaussian, n = _fit_gaussian(X, weight)  # refuses singular inputs
    if kind == "gaussian":
        return gaussian
    from sklearn.mixture import GaussianMixture as Fitter  # slow to import, needed here alone

    rng = generator(random_state, "fit_law")
    sample = _sampled(X, weight, FIT_ROWS, rng)
    (component,) = gaussian.components(d)
    standard = (sample - component.mean) @ component.whitener.T
    with one_openmp_thread():
        fits = [
            Fitter(m, n_init=n_init, random_state=int(rng.integers(2**31)), reg_covar=1e-6).fit(standard)
            for m in range(1, max_components + 1)
            if n >= 2 * m * (d + 1) ** 2
        ]
    best = min(fits, key=lambda fit: fit.bic(standard)) if fits else None
    if best is None or best.n_components == 1:
        return gaussian
    root = component.root
    return GaussianMixture(
        best.weights_ / best.weights_.sum(), component.mean + best.means_ @ root.T, root @ best.covariances_ @ root.T
    )


def _fit_gaussian(X: Array, weight: Array | None) -> tuple[Gaussian, float]:
    """Fit a Gaussian by mean and covariance; return it with the weight of all rows."""
    moments, d = table_moments(X, weight=weight), X.shape[1]
    if moments.total <= d:
        raise ValueError(
            f"input_law: {moments.total:g} rows do not determine the covariance of {d} columns; at least {d + 1} are "
            "needed"
        )
    mean = moments.mean if moments.origin is None else moments.mean + moments.origin
    return Gaussian(mean, moments.covariance), moments.total


def _sampled(X: Array, weight: Array | None, most: int, rng: np.random.Generator) -> np.ndarray:
    """Sample at most so many rows to the host, by their weights where they have some."""
    if weight is None:
        return some_rows((X,), most, rng)[0].astype(np.float64)
    w = to_numpy(in_memory(weight)[0])
    rows = np.sort(rng.choice(len(w), size=min(len(w), most), p=w / w.sum()))
    return to_numpy(take_rows((X,), rows)[0]).astype(np.float64)


def as_law(input_law: Any, X: Array, rng: np.random.Generator, weight: Array | None = None) -> InputLaw:
    """Return the law for a caller's `input_law`: None is the standard Gaussian, a name is fitted to X."""
    d = X.shape[1]
    if input_law is None:
        return Gaussian()
    if isinstance(input_law, str):
        if input_law == "auto":
            input_law = "gaussian" if _looks_gaussian(X, weight, rng) else "mixture"
        return fit_law(X, input_law, rng, weight=weight)
    if not hasattr(input_law, "components"):
        raise TypeError(f'input_law must be "gaussian", "mixture", None or a law of skmoe.scores; got {input_law!r}')
    input_law.components(d)  # refuses another number of columns
    return input_law


def _looks_gaussian(X: Array, weight: Array | None, rng: np.random.Generator) -> bool:
    """Return whether rows are about Gaussian, after whitening."""
    (component,) = _fit_gaussian(X, weight)[0].components(X.shape[1])
    sample, w = some_rows((X, weight), SHAPE_ROWS, rng)
    return looks_gaussian((sample - component.mean) @ component.whitener.T, w)


def shape_of(Z: np.ndarray, weight: np.ndarray | None = None) -> tuple[float, float, float]:
    """Return the largest skewness by size, and smallest and largest excess kurtosis, of the columns of Z."""
    if Z.shape[1] == 0:
        return 0.0, 0.0, 0.0
    w = np.ones(len(Z)) if weight is None else weight
    w = (w / w.sum())[:, None]
    centred = Z - np.sum(w * Z, axis=0)
    squares = centred * centred  # products: powers above the second take a hundred times as long
    variance = np.maximum(np.sum(w * squares, axis=0), np.finfo(float).tiny)
    skewness = np.sum(w * (squares * centred), axis=0) / variance**1.5
    kurtosis = np.sum(w * (squares * squares), axis=0) / variance**2 - 3
    return float(np.max(np.abs(skewness))), float(np.min(kurtosis)), float(np.max(kurtosis))


def looks_gaussian(Z: np.ndarray, weight: np.ndarray | None = None) -> bool:
    """Return whether no column has clear skewness, or clearly heavier or lighter tails than a Gaussian."""
    return is_gaussian(*shape_of(Z, weight))


def is_gaussian(skewness: float, light: float, heavy: float) -> bool:
    """Return whether a shape, as `shape_of` returns it, is about that of a Gaussian."""
    return skewness < MOST_SKEWNESS and max(-light, heavy) < MOST_KURTOSIS


def choose_law(Z: np.ndarray, rng: np.random.Generator) -> InputLaw | None:
    """Return a law for whitened inputs, for a start: standard Gaussian (None), or a mixture of few components."""
    (sample,) = some_rows((Z,), SHAPE_ROWS, rng)
    if looks_gaussian(sample):
        return None
    return fit_law(sample, "mixture", rng, max_components=3, n_init=1)


def mapped_law(law: InputLaw, center: np.ndarray, transform: np.ndarray) -> InputLaw:
    """Return the law of ``(x - center) @ transform`` where x follows `law`."""
    components = law.components(len(center))
    means = [(c.mean - center) @ transform for c in components]
    covariances = [transform.T @ c.covariance @ transform for c in components]
    if len(components) == 1:
        return Gaussian(means[0], covariances[0])
    return GaussianMixture([c.weight for c in components], means, covariances)
