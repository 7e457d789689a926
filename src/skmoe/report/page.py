"""The page: its sections in the order in which a reader asks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skmoe.estimators.base import MixtureOfExperts
from skmoe.report.data import report_data
from skmoe.report.records import Block
from skmoe.report.rendering import render
from skmoe.report.sections.certainty import certainty
from skmoe.report.sections.coefficients import coefficients, numbers
from skmoe.report.sections.diagnosis import diagnosis
from skmoe.report.sections.gate import gate
from skmoe.report.sections.overview import overview
from skmoe.report.sections.prediction import prediction
from skmoe.report.sections.regimes import regimes
from skmoe.report.sections.trust import trust

__all__ = ["Page", "Section", "html", "write"]

SECTIONS = (
    ("regimes", "What the regimes are", regimes),
    ("prediction", "How well it predicts", prediction),
    ("trust", "How far to trust it", trust),
    ("gate", "Where each regime holds", gate),
    ("coefficients", "What each input does", coefficients),
    ("certainty", "How it was found", certainty),
    ("diagnosis", "Every check", diagnosis),
    ("numbers", "All numbers", numbers),
)


@dataclass(frozen=True)
class Section:
    """A section: `name` is its anchor."""

    name: str
    heading: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Page:
    """All that the page holds."""

    title: str
    overview: tuple[Block, ...]
    sections: tuple[Section, ...]


def write(
    model: MixtureOfExperts,
    path: Any,
    X: Any = None,
    y: Any = None,
    *,
    title: str | None = None,
    target: str | None = None,
    test: tuple[Any, Any] | None = None,
    folds: int = 5,
    sample_weight: Any = None,
) -> Path:
    """Write a report on a fitted model to one HTML file, which loads nothing else.

    Parameters
    ----------
    model : MoERegressor or MoEClassifier
        A fitted model.
    path : str or path
        Where to write; a file that is there is replaced.
    X : (n, d) rows, optional
        Those the model was fitted to, or some of them; of more than 20,000 so many are looked at, evenly spaced. They
        may be any holder of rows that `MoERegressor.fit` takes. Without rows the report holds what the model alone can
        say.
    y : (n,) outputs, optional
        Outputs of the rows, labels for a classifier, or the name of their column. Without them the report does not say
        how well the model predicts.
    title : str, optional
        Heading of the page.
    target : str, optional
        Name of the output, by default that of `y` if it has one.
    test : (X, y), optional
        Rows that were held out of the fit, to evaluate predictions by. Least squares (for classes logistic regression)
        and boosting are fitted to X and y or, without those, cross-fitted on the rows of `test`.
    folds : int
        Without `test`, predictions are evaluated by cross-fitting: each row is predicted by models fitted to the other
        folds of X and y, with the number of experts of `model` and its settings. 0 leaves that out. All rows take part
        as long as rows times parameters stay below 10,000,000, and 2,000 in any case; else so many, evenly spaced.
    sample_weight : (n,) array, optional
        Weights of the rows X that the fit had; fits to part of the rows have them too, and errors are weighted.

    Returns
    -------
    Path
        The path written to.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skmoe import MoERegressor, make_moe, report
    >>> X, y, truth = make_moe(500, 3, 2, random_state=0)
    >>> model = MoERegressor(n_experts=2, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report.write(model, Path(folder) / "report.html", X, y, target="yield").name
    'report.html'
    """
    text = html(model, X, y, title=title, target=target, test=test, folds=folds, sample_weight=sample_weight)
    path = Path(path)
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def html(
    model: MixtureOfExperts,
    X: Any = None,
    y: Any = None,
    *,
    title: str | None = None,
    target: str | None = None,
    test: tuple[Any, Any] | None = None,
    folds: int = 5,
    sample_weight: Any = None,
) -> str:
    """Return a report on a fitted model as the text of one HTML page; the parameters are those of `write`.

    Parameters
    ----------
    model : MoERegressor or MoEClassifier
        A fitted model.
    X : (n, d) rows, optional
        Rows.
    y : (n,) outputs, optional
        Outputs of the rows.
    title : str, optional
        Heading of the page.
    target : str, optional
        Name of the output.
    test : (X, y), optional
        Rows that were held out of the fit.
    folds : int
        Folds by which predictions are evaluated without `test`; 0 for none.
    sample_weight : (n,) array, optional
        Weights of the rows X.

    Returns
    -------
    str
        The page; the same arguments give the same text.
    """
    data = report_data(model, X, y, target, test, folds, sample_weight)
    sections = tuple(
        Section(name, heading, tuple(block for block in section(data) if block is not None))
        for name, heading, section in SECTIONS
    )
    heading = str(title) if title is not None else f"Regimes of {data.target}"
    return render(Page(heading, overview(data), sections))
