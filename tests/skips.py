"""Skipped tests are failures where all that tests need is installed, unless a list allows them.

Where ``SKMOE_ALLOWED_SKIPS`` names a list, as in continuous integration, pytest prints it with the number of tests that
each line let pass, and fails if a test was skipped that no line allows. A line holds a test (its id or the beginning of
it), the condition under which it may be skipped (``CONDITIONS``) and the reason, between bars.
"""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

LIST = "SKMOE_ALLOWED_SKIPS"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def is_browser_there() -> bool:
    return any(map(shutil.which, BROWSERS)) and shutil.which("chromedriver") is not None


CONDITIONS = {
    "no browser": lambda: not is_browser_there(),
    "user is root": lambda: hasattr(os, "geteuid") and os.geteuid() == 0,
}


@dataclass(frozen=True)
class Allowed:
    test: str
    condition: str
    reason: str

    def holds(self) -> bool:
        return CONDITIONS[self.condition]()

    def __str__(self):
        return f"{self.test} where {self.condition}: {self.reason}"


def allowed_skips(path: Path) -> list[Allowed]:
    lines = [line.strip() for line in path.read_text().splitlines()]
    rows = [[part.strip() for part in line.split("|")] for line in lines if line and not line.startswith("#")]
    for row in rows:
        if len(row) != 3 or row[1] not in CONDITIONS or not all(row):
            raise pytest.UsageError(f"{path}: {row} is not a test, one of {list(CONDITIONS)} and a reason")
    return [Allowed(*row) for row in rows]


class SkipCheck:
    """Counts skipped tests, and fails on those that no line allows."""

    def __init__(self, allowed: list[Allowed]):
        self.counts = {line: 0 for line in allowed}
        self.others: list[str] = []

    def pytest_runtest_logreport(self, report):
        self._add(report)

    def pytest_collectreport(self, report):
        self._add(report)

    def _add(self, report):
        if not report.skipped or hasattr(report, "wasxfail"):
            return
        lines = [line for line in self.counts if report.nodeid.startswith(line.test) and line.holds()]
        for line in lines[:1]:
            self.counts[line] += 1
        if not lines:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
            self.others.append(f"{report.nodeid}: {reason}")

    def pytest_sessionfinish(self, session, exitstatus):
        if self.others and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.section("tests that may be skipped")
        for line, count in self.counts.items():
            terminalreporter.write_line(f"{count} skipped: {line}")
        if self.others:
            terminalreporter.section("skipped, and not on the list", red=True)
            for text in self.others:
                terminalreporter.write_line(text)


def pytest_configure(config):
    """Check skips in the process that writes the report; workers of pytest-xdist send it what they skip."""
    if LIST in os.environ and not hasattr(config, "workerinput"):
        config.pluginmanager.register(SkipCheck(allowed_skips(Path(os.environ[LIST]))), "skips")
