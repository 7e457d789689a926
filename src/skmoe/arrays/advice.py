"""Messages on the caller's data, with advice as a code and values, which each surface renders by its own templates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, unique
from typing import Any

__all__ = ["Advice", "Advised"]


@unique
class Advice(Enum):
    """Codes of advice with the templates of Python; `skmoe.cli.advice` has those of the command line."""

    CLASSES = "MoEClassifier takes text as y"
    DATES = "leave it out and add columns of your own to have others"
    DECIMAL = 'skmoe.tables.open_table(path, decimal=".") overrules'
    DROP = "mend {it}, or leave {it} out of X"
    ENCODING = 'name its encoding: skmoe.tables.open_table(path, encoding="latin-1")'
    FOUND_ENCODING = "skmoe.tables.open_table(path, encoding=...) overrules"
    GIVEN_ENCODING = "leave encoding out"
    INPUT_LAW = 'input_law="gaussian" fits a law to them'
    ITERATIONS = "raise max_iter"
    MISSING = 'mend them, or use missing="level", or leave columns out'
    NUMBERS = "use MoERegressor for numbers"
    RAGGED = 'mend it, or name what separates cells: skmoe.tables.open_table(path, separator=";")'
    SEPARATOR = "skmoe.tables.open_table(path, separator=...) overrules"
    TRIALS = "give these as sample_weight, or y as two columns, successes and failures; single trials are 0 and 1"
    UNSEEN = 'mend it, or fit with unseen="other" to predict such rows'


class Advised(str):
    """A message with advice: as a string by the template of Python, by `rendered` by that of another surface.

    Parameters
    ----------
    sentence : str
        The finding, without names of parameters or options.
    advice : Advice
        What to do.
    **values : object
        Values of the template, such as names of columns.
    """

    sentence: str
    advice: Advice
    values: dict[str, Any]

    def __new__(cls, sentence: str, advice: Advice, **values: Any) -> Advised:
        """Render the advice for Python."""
        self = super().__new__(cls, f"{sentence}; {advice.value.format(**values)}")
        self.sentence, self.advice, self.values = sentence, advice, values
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[str, Advice], dict[str, Any]]:
        """Let copies and pickles, such as those of joblib's workers, keep the code."""
        return (self.sentence, self.advice), self.values

    def rendered(self, templates: Mapping[str, str | Callable[..., str]]) -> str:
        """Render the advice for another surface.

        Parameters
        ----------
        templates : mapping
            Advice by the name of its code: a format string of the values, or a function of them.

        Returns
        -------
        str
            The message with its advice.
        """
        text = templates[self.advice.name]
        return f"{self.sentence}; {text(**self.values) if callable(text) else text.format(**self.values)}"
