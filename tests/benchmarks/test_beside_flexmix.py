"""What flexmix found on simulated tables, by ``benchmarks/families/beside_flexmix.py --record``, is reached."""

import json

import pytest

from skmoe import MoERegressor
from skmoe.cli import checkout

if checkout.root() is None:
    pytest.skip("not in a checkout of the repository", allow_module_level=True)

RECORDED = json.loads((checkout.root() / "benchmarks" / "results" / "family_flexmix.json").read_text())


@pytest.mark.parametrize("case", [name for name in RECORDED if name.startswith("simulated, poisson")])
def test_log_likelihood_is_at_least_that_of_flexmix(case):
    family, k = case.split(", ")[1], int(case[-1])
    X, y, _ = checkout.load("benchmarks.families.simulated_families").simulated(family, 5000, 3, k, 0)
    model = MoERegressor(k, family=family, penalty=0, calibration=None, random_state=0).fit(X, y)
    assert model.log_likelihood_ * len(X) >= RECORDED[case]["flexmix"] - 1e-3
