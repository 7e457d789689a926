"""Records of fitted models, changed for a test."""

from dataclasses import replace

from skmoe.model.record import NumberTried


def change_record(monkeypatch, model, **fields):
    """Give fields of a model's record other values until the end of the test."""
    monkeypatch.setattr(model, "record_", replace(model.record_, **fields))


def change_search(monkeypatch, model, **fields):
    """Do the same with fields of its search."""
    change_record(monkeypatch, model, search=replace(model.record_.search, **fields))


def change_run(monkeypatch, model, **fields):
    """Do the same with fields of its last run."""
    change_record(monkeypatch, model, run=replace(model.record_.run, **fields))


def numbers_tried(*held_out):
    """Return numbers of experts tried, of which (k, log density, error) are given."""
    return tuple(NumberTried(k, density, error, 20.0 + k, 30.0 + k) for k, density, error in held_out)
