"""The look-up of known weaknesses: what is not looked at is not clean."""

import json

import pytest

from benchmarks.reliability import audit


@pytest.fixture
def packages(tmp_path):
    """A folder with two installed packages."""
    for name, version in (("Apple_Tree", "1.2"), ("pear", "3.0")):
        folder = tmp_path / f"{name}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return str(tmp_path)


def record(version, *advisories):
    return {"info": {"version": version}, "vulnerabilities": [{"id": a, "withdrawn": None} for a in advisories]}


def looked_up(packages, known, answers, capsys):
    found = audit.findings(packages, known, answers.__getitem__)
    code = audit.report(found, sum(f.name in known for f in found))
    return code, capsys.readouterr().out


def test_packages_without_advisories_are_clean(packages, capsys):
    code, said = looked_up(packages, {"apple-tree": ()}, {"pear": record("3.0")}, capsys)
    assert code == audit.CLEAN
    assert "2 of 2 packages were looked up (1 by pip-audit, 1 in the index's record" in said


@pytest.mark.parametrize("known", [{"apple-tree": ("PYSEC-1",)}, {}], ids=["pip-audit", "index"])
def test_weaknesses_are_told_by_either(packages, known, capsys):
    answers = {"apple-tree": record("1.2", "PYSEC-1"), "pear": record("3.0")}
    code, said = looked_up(packages, known, answers, capsys)
    assert code == audit.WEAK
    assert "apple-tree 1.2 has known weaknesses: PYSEC-1" in said


def test_version_that_the_index_does_not_tell_of_is_not_clean(packages, capsys):
    code, said = looked_up(packages, {}, {"apple-tree": record("1.3"), "pear": record("3.0")}, capsys)
    assert code == audit.UNKNOWN
    assert "apple-tree 1.2 could not be looked up: the index tells only of 1.3" in said


def test_without_a_service_nothing_is_clean_and_it_is_said(packages, capsys, monkeypatch):
    def unreachable(*_, **__):
        raise OSError("no route to host")

    monkeypatch.setattr(audit, "urlopen", unreachable)
    code = audit.main(["--pip-audit", "false", "--path", packages])
    said = capsys.readouterr().out
    assert code == audit.UNKNOWN
    assert "pear 3.0 could not be looked up: no service of advisories could be reached (no route to host)" in said
    assert "0 of 2 packages were looked up" in said


def test_answers_of_pip_audit_are_those_of_packages_it_found(tmp_path):
    answer = {
        "dependencies": [{"name": "pear", "version": "3.0", "vulns": [{"id": "A"}]}, {"name": "b", "skip_reason": ""}]
    }
    program = tmp_path / "pip-audit"
    program.write_text(f"#!/bin/sh\necho '{json.dumps(answer)}'\nexit 1\n")
    program.chmod(0o755)
    assert audit.by_pip_audit(str(program), ".") == {"pear": ("A",)}
