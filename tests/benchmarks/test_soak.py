"""Fits, saves and loads by several workers, with kills and a full disk: a short version of `make soak`."""

import json
from collections import Counter

from benchmarks.reliability import soak


def test_workers_never_see_a_damaged_file_or_a_wrong_answer(capsys):
    assert soak.main(["--fits", "32", "--kills", "16"]) == 0
    counts = json.loads(capsys.readouterr().out)["counts"]
    assert counts["fits"] == counts["saves"] == 32
    assert counts["kills"] == 16
    assert counts["saves to a full disk that failed"] + counts["saves to a full disk that had room"] == 4
    assert not any(counts.get(name) for name in soak.BAD)


def test_what_goes_wrong_is_counted(tmp_path):
    answers, counts = {soak.digest(soak.fitted(0)): 0}, Counter()
    path = tmp_path / "model0.skmoe"
    soak.look(path, answers, counts)
    assert not counts  # nobody saved there yet
    soak.fitted(0).save(path)
    soak.look(path, answers, counts)
    assert counts == {"loads": 1, "wrong answers": 0}
    soak.fitted(1).save(path)
    soak.look(path, answers, counts)
    assert counts["wrong answers"] == 1
    path.write_bytes(path.read_bytes()[:-100])
    soak.look(path, answers, counts)
    assert counts["damaged files"] == 1
