"""The way to ``experiments/`` and ``benchmarks/``, which are in the repository and not in the installed package.

They are loaded from the checkout this package runs from and from nowhere else, as submodules of a package that exists
only in memory: nothing is put on the import path, and no top-level name is taken.
"""

from __future__ import annotations

import importlib
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["call", "load", "root"]

PACKAGE = "skmoe_checkout"


def root() -> Path | None:
    """The checkout this package runs from: the directory above ``src``; None where there is none."""
    source = Path(__file__).resolve().parents[2]
    settings = source.parent / "pyproject.toml"
    if source.name != "src" or not settings.is_file():
        return None
    project = tomllib.loads(settings.read_text(encoding="utf-8")).get("project", {})
    return source.parent if project.get("name") == "skmoe" else None


def load(name: str) -> ModuleType:
    """A module of the checkout, such as ``experiments.runner`` or ``benchmarks.scale``."""
    folder, (top, *_) = root(), name.split(".")
    if folder is None or not (folder / top).is_dir():
        raise FileNotFoundError(
            f"the {top} are in skmoe's repository, not in the installed package: clone it, run "
            "`pip install --editable .` there, and try again"
        )
    if PACKAGE not in sys.modules:
        package = ModuleType(PACKAGE, "Folders of the checkout.")
        package.__path__ = [str(folder)]
        sys.modules[PACKAGE] = package
    return importlib.import_module(f"{PACKAGE}.{name}")


def call(module: str, function: str, *args: Any, **kwargs: Any) -> Any:
    """Call a function of a module of the checkout.

    This is what another process is given: it can import this function, but not one of a module that was not loaded.
    """
    return getattr(load(module), function)(*args, **kwargs)
