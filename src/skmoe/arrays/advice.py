"""Sentences on the caller's data, with what to do as a code and values, for which each surface has its own words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, unique
from typing import Any

__all__ = ["Advice", "Advised"]


@unique
class Advice(Enum):
    """What there is to do, by code, in the words of Python; those of the command line are in `skmoe.cli.advice`."""

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
    """A sentence with advice: as a text in the words of Python, by `worded` in those of another surface.

    Parameters
    ----------
    sentence : str
        What is so, without names of parameters or options.
    advice : Advice
        What to do.
    **values : object
        What the advice speaks of, such as names of columns.
    """

    sentence: str
    advice: Advice
    values: dict[str, Any]

    def __new__(cls, sentence: str, advice: Advice, **values: Any) -> Advised:
        """Word the advice for Python."""
        self = super().__new__(cls, f"{sentence}; {advice.value.format(**values)}")
        self.sentence, self.advice, self.values = sentence, advice, values
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[str, Advice], dict[str, Any]]:
        """Let copies and pickles, such as those of joblib's workers, keep the code."""
        return (self.sentence, self.advice), self.values

    def worded(self, words: Mapping[str, str | Callable[..., str]]) -> str:
        """Word the advice for another surface.

        Parameters
        ----------
        words : mapping
            Advice by the name of its code: a text with places for values, or a function of them.

        Returns
        -------
        str
            The sentence, and what to do.
        """
        text = words[self.advice.name]
        return f"{self.sentence}; {text(**self.values) if callable(text) else text.format(**self.values)}"
