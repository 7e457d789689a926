"""Columns that name rows or groups of rows."""

import numpy as np
import pytest

from skmoe.tables.groups import groups_of_text, identifiers


def told(name, values):
    return identifiers(np.asarray(values, dtype=float)[:, None], [name], [name])


PANEL = np.repeat(np.arange(308, 380), 10)
UNEVEN = np.repeat(np.arange(40), np.arange(40) % 7 + 1)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("Subject", PANEL),
        ("nr", UNEVEN),
        ("patientID", UNEVEN[::-1]),
        ("ad_id", np.random.default_rng(0).permutation(500)),
        ("PlantNo", np.tile(np.arange(12), 6)),
        ("firm", UNEVEN),
        ("unit", PANEL),
    ],
)
def test_identifiers_are_seen(name, values):
    assert told(name, values) == [(name, len(np.unique(values)))]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("year", PANEL),
        ("nrAdvE", np.random.default_rng(0).poisson(4, size=400)),
        ("child", np.random.default_rng(0).poisson(4, size=400)),
        ("unit", np.tile(np.arange(40), 10)),
        ("speed", np.sort(np.random.default_rng(0).poisson(40, size=400))),
        ("Subject", PANEL + 0.5),
        ("Subject", np.arange(720) % 3),
        ("humid", np.random.default_rng(0).integers(0, 100, size=400)),
    ],
)
def test_quantities_are_not(name, values):
    assert told(name, values) == []


def test_text_that_names_groups_is_seen():
    counts = {
        "country": dict.fromkeys(map(str, range(12)), 10),
        "make": dict.fromkeys(map(str, range(30)), 4),
        "name": dict.fromkeys(map(str, range(300)), 1),
        "colour": dict.fromkeys(map(str, range(12)), 30),
        "month": dict.fromkeys(map(str, range(48)), 30),
        "note": None,
    }
    assert groups_of_text(counts) == [("country", 12, 120), ("make", 30, 120)]
