"""Building a wheel, or installing a checkout: compiles what skmoe calls of C, where there is a compiler.

Nothing of Python's is needed for it, so that one library serves all versions of Python. Without a compiler skmoe is
installed all the same, and NumPy does the work.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import mac_platforms

PACKAGE = Path("src", "skmoe")
SOURCES = PACKAGE / "likelihood" / "fused.c", PACKAGE / "search" / "batch_optimiser.c"
HEADERS = PACKAGE / "likelihood" / "strips.h", PACKAGE / "search" / "estep.h"
LIBRARY = PACKAGE / "likelihood" / "libfused.so"
COMMAND = "-std=gnu99 -O3 -shared -fPIC -fopenmp-simd -fno-math-errno -fno-trapping-math"
WIDEST_VECTORS = "-DSKMOE_CLONES"
"""Code for several processors, which not every compiler and system can choose from."""


def compiled(root: Path, library: Path) -> bool:
    """Compile the library, unless it is newer than its sources under `root`; False where no compiler does it."""
    newest = max((root / source).stat().st_mtime for source in (*SOURCES, *HEADERS))
    if library.exists() and library.stat().st_mtime > newest:
        return True
    sources = [root / source for source in SOURCES]
    compilers = [os.environ["CC"]] if os.environ.get("CC") else ["cc", "gcc", "clang"]
    for compiler in compilers:
        for choice in (WIDEST_VECTORS, ""):
            # beside its place, then moved there: a process that has the old one open keeps it
            with tempfile.TemporaryDirectory(dir=library.parent) as folder:
                made = Path(folder, library.name)
                command = [*shlex.split(compiler), *shlex.split(f"{COMMAND} {choice}"), "-o", made, *sources, "-lm"]
                try:
                    done = subprocess.run(command, capture_output=True, check=False)
                except OSError:  # no such compiler
                    break
                if done.returncode == 0:
                    made.replace(library)
                    return True
    return False


def platform_tag() -> str:
    """Return what the library runs on; on macOS the one processor compiled for, though Python may be for two."""
    return next(mac_platforms()) if sys.platform == "darwin" else re.sub("[-.]", "_", sysconfig.get_platform())


class CompileHook(BuildHookInterface):
    """Adds the compiled library to a wheel, which is then one of this platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before files are gathered."""
        root = Path(self.root)
        if os.name != "posix" or not compiled(root, root / LIBRARY):
            print(
                "skmoe: no C compiler found; installed without compiled code, fits take up to five times as long",
                file=sys.stderr,
            )
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag()}"
        build_data["artifacts"].append(LIBRARY.as_posix())
