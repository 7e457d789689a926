"""Errors of a command as one line and an exit code; a traceback is shown only where it is asked for."""

from __future__ import annotations

import errno
import os
import secrets
from typing import TYPE_CHECKING

import typer

from skmoe.cli.advice import worded

if TYPE_CHECKING:
    from skmoe.estimators import MoERegressor

__all__ = [
    "DEBUG",
    "FAILED",
    "INTERRUPTED",
    "MISTAKE",
    "UNRELIABLE",
    "NotWrittenError",
    "exit_code_of",
    "one_line",
    "save_or_keep",
    "shown",
]

UNRELIABLE, MISTAKE, FAILED, INTERRUPTED = 1, 2, 3, 130
DEBUG = "SKMOE_DEBUG"  # variable of the environment that lets errors through, with their traceback
OF_THE_MACHINE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.ENOMEM, errno.EMFILE)
# the base of typer's errors has no public name, and where it lives changed between versions
ClickError = typer.BadParameter.__mro__[2]


class NotWrittenError(OSError):
    """A model that was fitted and could not be written to the place asked for; the message says where it is."""


def shown(text: str, *, keep: str = "") -> str:
    """Return a text as a terminal may be given it, see `skmoe.arrays.visible`; most texts need no import for that."""
    if text.isprintable():
        return text
    from skmoe.arrays.visible import visible

    return visible(text, keep=keep)


def exit_code_of(error: Exception) -> int:
    """Return the exit code of a command that ended with an exception."""
    if isinstance(error, NotWrittenError) or (isinstance(error, OSError) and error.errno in OF_THE_MACHINE):
        return FAILED
    return MISTAKE if isinstance(error, ClickError | ValueError | OSError | ImportError) else FAILED


def one_line(error: Exception) -> str:
    """Return the message of an exception, in one line without characters that would steer the terminal."""
    if hasattr(error, "format_message"):  # typer's own errors have it
        text = error.format_message()
    elif isinstance(error, OSError) and error.strerror:
        text = f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    elif isinstance(error, MemoryError):
        text = f"there is not enough memory ({error})" if str(error) else "there is not enough memory"
    elif exit_code_of(error) == FAILED and not isinstance(error, OSError):
        text = f"this is a defect of skmoe, please report it: {type(error).__name__}: {error} ({DEBUG}=1 shows where)"
    else:
        text = worded(error) or type(error).__name__
    return shown("; ".join(line.strip() for line in text.splitlines() if line.strip()))


def save_or_keep(model: MoERegressor, path: str) -> None:
    """Save a model; where that fails keep it elsewhere, and name the place: the fit may have taken hours."""
    try:
        model.save(path)
    except OSError as error:
        kept = _keep(model)
        where = f"the model is in {kept}" if kept else "and it could not be kept in any other place either"
        raise NotWrittenError(
            f"the fit is done, but {path} could not be written ({error.strerror or error}); {where}"
        ) from error


def _keep(model: MoERegressor) -> str | None:
    """Save a model to the first of a few folders that takes it, and return its path."""
    import tempfile
    from pathlib import Path

    for folder in (tempfile.gettempdir(), os.curdir, Path.home()):
        kept = Path(folder).absolute() / f"skmoe-kept-{secrets.token_hex(8)}.skmoe"
        try:
            model.save(kept)
        except OSError:  # this folder is full, or not ours, as well
            continue
        return str(kept)
    return None
