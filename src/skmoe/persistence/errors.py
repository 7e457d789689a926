"""The error for a file that cannot be used."""

from __future__ import annotations

from skmoe.arrays.visible import visible

__all__ = ["ModelFileError", "reason"]

MOST_REPORTED = 300  # characters of another library's message, or of a name in a file, that are passed on


class ModelFileError(ValueError):
    """A model file or checkpoint that is damaged, is none, or is of another format; the message says which.

    It is a `ValueError`. `skmoe.load` and the setting `checkpoint` of the estimators raise it for whatever is wrong
    inside a file; a file that is not there is a `FileNotFoundError`.

    Examples
    --------
    >>> import skmoe, tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     try:
    ...         skmoe.load(file.name)
    ...     except skmoe.ModelFileError as error:
    ...         print("refused:", "damaged or not a skmoe model file" in str(error))
    refused: True
    """


def reason(error: BaseException) -> str:
    """Return the message of an exception, in one line that a terminal can be given."""
    text = " ".join(str(error).split()) or type(error).__name__
    return visible(text if len(text) <= MOST_REPORTED else f"{text[:MOST_REPORTED]}...")
