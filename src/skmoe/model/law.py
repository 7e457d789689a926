r"""The distribution of each expert's output at a block of rows, with its derivatives.

With :math:`f` the log density of an expert, :math:`\eta` its predictor and :math:`\tau` the log of its scale:

==================  ======================================================
``score``           :math:`\partial f / \partial \eta`
``curvature``       :math:`-\partial^2 f / \partial \eta^2`
``scale_score``     :math:`\partial f / \partial \tau`
``scale_curvature`` :math:`-\partial^2 f / \partial \tau^2`
``cross_curvature`` :math:`-\partial^2 f / \partial \eta\, \partial \tau`
==================  ======================================================

Shapes broadcast: predictors are (..., k, b), scales (..., k, 1), outputs (b,).

A `Law` has the defaults of a distribution without a scale. An EM step moves an expert by one guarded Newton step: Gram
matrices weighted by ``step_weight``, right sides by ``step_score``.
"""

from __future__ import annotations

from skmoe.arrays.namespaces import Array, array_namespace

__all__ = ["Law"]


class Law:
    """The distribution of each expert at the rows of a block; see the module for the names of derivatives.

    A subclass has at least `log_density`, `score` and `curvature`.
    """

    @property
    def log_density(self) -> Array:
        """Log density of the outputs, less the part shared by all experts (`Family.log_base`); a new array."""
        raise NotImplementedError

    @property
    def score(self) -> Array:
        """First derivative over the predictor."""
        raise NotImplementedError

    @property
    def curvature(self) -> Array:
        """Negative second derivative over the predictor."""
        raise NotImplementedError

    @property
    def scale_score(self) -> Array:
        """First derivative over the log scale."""
        return array_namespace(self.score).zeros_like(self.score)

    @property
    def scale_curvature(self) -> Array:
        """Negative second derivative over the log scale."""
        return array_namespace(self.score).zeros_like(self.score)

    @property
    def cross_curvature(self) -> Array:
        """Negative mixed derivative."""
        return array_namespace(self.score).zeros_like(self.score)

    @property
    def step_score(self) -> Array:
        """Right side of the M-step's least squares, before responsibilities."""
        return self.score

    @property
    def step_weight(self) -> Array | None:
        """Weights of the M-step's Gram matrix, before responsibilities, not negative; None stands for ones."""
        return self.curvature

    @property
    def scale_statistic(self) -> Array:
        """Statistic of a row that, summed with responsibilities, updates the scale."""
        return array_namespace(self.score).zeros_like(self.score)
