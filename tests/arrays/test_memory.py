"""Memory that is freed is kept for the next arrays."""

import os
import platform
import subprocess
import sys

import pytest

PASSES = """
import resource
import numpy as np
{}
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def one_pass():
    for _ in range(3):
        parts = [np.ones(2**18) for _ in range(6)]
one_pass()
before = faults()
for _ in range(10):
    one_pass()
print(faults() - before)
"""


def _faults(first: str) -> int:
    """Pages that were had anew in ten passes over blocks of twelve megabytes.

    Dask's workers set a threshold of the allocator for the processes that come after them, which is another matter.
    """
    own = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    command = [sys.executable, "-c", PASSES.format(first)]
    found = subprocess.run(command, capture_output=True, text=True, check=True, env=own)
    return int(found.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="is about the allocator of glibc")
def test_blocks_of_rows_take_the_memory_of_those_before():
    by_itself, kept = _faults(""), _faults("import skmoe.arrays.blocks")
    assert kept < by_itself / 10
