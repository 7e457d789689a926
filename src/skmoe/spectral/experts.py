"""Algorithm 1: the experts from the moments of inputs and transformed outputs, without the gate."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from skmoe.arrays.checks import check_enough_rows, check_unit_rows, check_varies, check_weight, generator
from skmoe.arrays.namespaces import Array
from skmoe.arrays.threads import with_one_blas_thread
from skmoe.model.checks import check_outputs
from skmoe.model.families import get_family
from skmoe.model.family import Family
from skmoe.model.gaussian import GaussianFamily
from skmoe.spectral.algorithm1 import Decomposer, ExpertsResult, Task, by_averages, by_regression
from skmoe.spectral.decomposition import RankWarning
from skmoe.spectral.options import NOT_NEGATIVE, validated
from skmoe.spectral.outputs import IndexLaw, Outputs, check_one_number, outputs_of
from skmoe.spectral.rows import Rows, some_rows
from skmoe.spectral.scores.fitting import as_law

__all__ = ["ExpertsResult", "experts_of", "learn_experts"]

OUTPUT_SAMPLE = 20_000  # rows whose outputs bound the bins of a family's label transforms


@validated(
    "n_experts",
    "activation",
    "decomposition",
    "moments",
    "random_state",
    family=[str, Family],
    noise_scale=[NOT_NEGATIVE, None],
)
@with_one_blas_thread
def learn_experts(
    X: Any,
    y: Any,
    n_experts: int,
    *,
    family: str | Family = "gaussian",
    activation: Any = "linear",
    noise_scale: float | None = None,
    input_law: Any = None,
    decomposition: str | Callable[..., Any] = "matching",
    moments: str = "regression",
    sample_weight: Any = None,
    random_state: Any = None,
) -> ExpertsResult:
    r"""Learn the experts of a mixture without knowing its gate (paper: Algorithm 1).

    Assumes experts of unit length without intercepts, as the paper does. ``moments="plain"`` with
    ``decomposition="orth-als"`` is what the paper ran, ``decomposition="power"`` the method of its theory; the default
    is ours and estimates the same moments with less noise.

    The label transform is that of the index :math:`a_i^\top x`, whose variance under :math:`N(0, \Sigma)` inputs is
    :math:`a_i^\top \Sigma a_i`. Where that differs between experts, rows are weighted to a law under which it does not,
    found from a first estimate by Hermite regression. That is ours: the paper has inputs of covariance I only.

    Parameters
    ----------
    X : (n, d) array
        Inputs.
    y : (n,) array
        Outputs.
    n_experts : int
        Number of experts k, at most d.
    family : str or Family
        Law of an expert's output given its index: "gaussian", the paper's, or another that `skmoe.MoERegressor` takes,
        such as "poisson", "gamma", "lognormal", "negative-binomial" or "student". Its label transforms are the
        functions of y of least variance that meet the paper's conditions. That is ours. Degrees of freedom of "student"
        are those that the family has, 4 unless given; they are not learned, since experts hardly depend on them.
    activation : str, callable or Activation
        The activation g of Gaussian experts.
    noise_scale : float, optional
        Standard deviation of the noise, which may be 0, or the scale of another family; estimated if not given, from
        the second moment of y, or the distribution of y for other families.
    input_law : law of `skmoe.scores`, "gaussian", "mixture", "auto" or None
        The law of the inputs. A name fits it to X, "auto" chooses between the two, None is the standard Gaussian.
    decomposition : {"matching", "orth-als", "orth-als-t2", "power"} or callable
        "orth-als" decomposes all of T3, as the paper did; of plain moments the other three take T3 inside the leading
        space of T2. A callable is given T2 and T3 in full, k and a Generator, and returns a
        `skmoe.decomposition.Decomposition`.
    moments : {"regression", "plain"}
        Hermite regression under a reference law, which is ours, or the paper's averages.
    sample_weight : (n,) array, optional
        Row weights: whole numbers are the same as repeated rows, others are scaled to a mean of one.
    random_state : int, RandomState, Generator or None
        Draws the starts of the decomposition, and rows where there are many.

    Returns
    -------
    ExpertsResult
        ``coef`` (k, d), unit experts; ``weights`` (k,), their shares of the rows, falling (all but
        "matching" give fewer than k where T2 has fewer positive eigenvalues); ``noise_scale``;
        ``spectrum``, the eigenvalues of T2 in units of shares, ``gap``, the relative difference of the k-th and
        the next, ``noise_level``, the largest eigenvalue of sampling noise alone, and ``rank``, the number of
        eigenvalues above it.

    Examples
    --------
    >>> from skmoe import learn_experts, make_moe, metrics
    >>> X, y, truth = make_moe(5000, 5, 2, random_state=0)
    >>> experts = learn_experts(X, y, 2, noise_scale=0.1, random_state=0)
    >>> bool(metrics.regressor_fit(experts.coef, truth.expert_coef) > 0.99)
    True

    Counts, whose mean is the exponential of the index:

    >>> X, y, truth = make_moe(20_000, 5, 2, family="poisson", random_state=0)
    >>> experts = learn_experts(X, y, 2, family="poisson", random_state=0)
    >>> bool(metrics.regressor_fit(experts.coef, truth.expert_coef) > 0.98)
    True
    """
    law = get_family(family, activation).any_experts
    check_one_number(law)
    X, y = check_unit_rows(X, y, standard=input_law is None)
    check_varies(y)
    weight = None if sample_weight is None else check_weight(X, sample_weight)
    check_outputs(law, y, weight)
    if law.base is not law:  # lognormal outputs are Gaussian in their logs
        law, y = law.base, law.transform_response(y)
    rng = generator(random_state, "learn_experts")
    # the label transforms of Gaussian experts need no outputs
    some_y = np.empty(0) if isinstance(law, GaussianFamily) else some_rows((y,), OUTPUT_SAMPLE, rng)[0]
    return experts_of(
        X,
        y,
        weight,
        int(n_experts),
        outputs_of(law, some_y),
        noise_scale=noise_scale,
        input_law=input_law,
        decomposition=decomposition,
        moments=moments,
        rng=rng,
        settle=True,
    )


def experts_of(
    X: Array,
    y: Array,
    weight: Array | None,
    k: int,
    outputs: Outputs,
    *,
    noise_scale: float | None,
    input_law: Any,
    rng: np.random.Generator,
    decomposition: Decomposer = "matching",
    moments: str = "regression",
    settle: bool = False,
) -> ExpertsResult:
    """Run Algorithm 1 on rows and settings that were checked; see `learn_experts`.

    With `settle`, a law far from isotropic gets further rounds; without, the result is a start for other methods.
    """
    d = X.shape[1]
    check_spectral_rank(k, d)
    rows = Rows.of(X, y, weight)
    check_enough_rows(rows.total, d + 2, f"the moments of {k} experts over {d} columns")
    # refuse a law that does not qualify before any work
    outputs.transform(1.0 if noise_scale is None else noise_scale, IndexLaw())
    task = Task(rows, k, outputs, noise_scale, as_law(input_law, X, rng, weight), decomposition, settle)
    result = (by_regression if moments == "regression" else by_averages)(task, rng)
    if result.rank < k:
        warnings.warn(
            f"T2 shows {result.rank} directions above its sampling noise ({result.noise_level:.2g}), fewer than the "
            f"{k} experts requested (spectrum {np.array2string(result.spectrum[:k], precision=2)}): the weakest "
            "experts may be noise; use more rows or fewer experts",
            RankWarning,
            stacklevel=4,
        )
    return result


def check_spectral_rank(k: int, d: int) -> None:
    """Refuse more experts than inputs, which no moment matrix of rank d can hold."""
    if k > d:
        raise ValueError(
            f"{k} experts are more than the {d} columns of X (n_features={d}), and the moment method finds at most "
            f"one expert per column; use at most {d} experts, or fit by likelihood"
        )
