"""The lower bounds of pyproject.toml as constraints for pip: what `make test-oldest` installs.

python tests/lower_bounds.py > constraints.txt
"""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[[\w,.-]+\])?>=(?P<version>[\d.]+)")


def lower_bounds(text: str, *, extras: bool = True) -> dict[str, str]:
    """The least version of each package that is needed, by extras too; one without a bound is refused."""
    project = tomllib.loads(text)["project"]
    found: dict[str, str] = {}
    more = project["optional-dependencies"].values() if extras else ()
    for requirement in [*project["dependencies"], *(one for extra in more for one in extra)]:
        parts = REQUIREMENT.fullmatch(requirement)
        if parts is None:
            raise ValueError(f"{requirement!r} has no lower bound; write it as name>=version")
        name, version = parts["name"], parts["version"]
        if found.setdefault(name, version) != version:
            raise ValueError(f"{name} has two lower bounds, {found[name]} and {version}; give it one")
    return found


if __name__ == "__main__":
    for package, least in lower_bounds(PROJECT.read_text()).items():
        sys.stdout.write(f"{package}=={least}\n")
