"""Known weaknesses of installed packages: pip-audit's, and the index's own record where pip-audit finds none.

    python -m benchmarks.reliability.audit --pip-audit PROGRAM --path SITE_PACKAGES

pip-audit asks the index for the record of every installed version. An index may keep the record of the newest release
alone; where that one is installed, its advisories are taken from there. The exit code is 0 if all packages were looked
up and none has a known weakness, 1 if one has, and 2 if some could not be looked up: those are not clean either.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import distributions
from typing import Any
from urllib.request import urlopen

INDEX = "https://pypi.org/pypi"
SECONDS = 30  # that the index has for an answer
CLEAN, WEAK, UNKNOWN = 0, 1, 2


@dataclass(frozen=True)
class Finding:
    """What is known of an installed package: its advisories, or why they are not known."""

    name: str
    version: str
    advisories: tuple[str, ...] = ()
    unknown: str = ""


def by_pip_audit(program: str, path: str) -> dict[str, tuple[str, ...]]:
    """Advisories of the packages that pip-audit could look up, by their names."""
    command = [program, "--format", "json", "--progress-spinner", "off", "--path", path]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    try:
        answer = json.loads(said)
    except json.JSONDecodeError:  # it could reach nobody, and said so at length
        return {}
    looked_up = [package for package in answer["dependencies"] if "vulns" in package]
    return {package["name"]: tuple(v["id"] for v in package["vulns"]) for package in looked_up}


def newest(name: str) -> dict[str, Any]:
    """The index's record of the newest release of a package."""
    with urlopen(f"{INDEX}/{name}/json", timeout=SECONDS) as answer:
        return json.load(answer)


def by_index(name: str, version: str, fetch: Callable[[str], dict[str, Any]]) -> Finding:
    """What the index's record of the newest release tells of an installed version."""
    try:
        record = fetch(name)
    except OSError as error:  # of urllib too
        return Finding(name, version, unknown=f"no service of advisories could be reached ({error})")
    there = record["info"]["version"]
    if there != version:
        return Finding(name, version, unknown=f"the index tells only of {there}")
    return Finding(name, version, tuple(v["id"] for v in record["vulnerabilities"] if not v.get("withdrawn")))


def findings(path: str, known: dict[str, tuple[str, ...]], fetch: Callable[[str], dict[str, Any]]) -> list[Finding]:
    """What is known of every package below a path."""
    found = []
    for package in sorted(distributions(path=[path]), key=lambda one: one.name.lower()):
        name, version = package.name.lower().replace("_", "-"), package.version
        if name in known:
            found.append(Finding(name, version, known[name]))
        else:
            found.append(by_index(name, version, fetch))
    return found


def report(found: list[Finding], own: int) -> int:
    """Print what was found, and give the exit code."""
    weak, unknown = [f for f in found if f.advisories], [f for f in found if f.unknown]
    for finding in weak:
        print(f"{finding.name} {finding.version} has known weaknesses: {', '.join(finding.advisories)}")
    for finding in unknown:
        print(f"{finding.name} {finding.version} could not be looked up: {finding.unknown}")
    looked_up = len(found) - len(unknown)
    print(
        f"{looked_up} of {len(found)} packages were looked up ({own} by pip-audit, {looked_up - own} in the index's "
        f"record of the newest release); {len(weak)} have known weaknesses"
    )
    if weak:
        return WEAK
    return UNKNOWN if unknown or not found else CLEAN


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pip-audit", required=True, help="the program")
    parser.add_argument("--path", required=True, help="folder of the installed packages")
    given = parser.parse_args(arguments)
    known = by_pip_audit(given.pip_audit, given.path)
    found = findings(given.path, known, newest)
    return report(found, sum(finding.name in known for finding in found))


if __name__ == "__main__":
    sys.exit(main())
