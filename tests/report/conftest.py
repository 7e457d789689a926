"""A fitted model and its page, for the tests of the report."""

import pytest

from report.pages import problem
from skmoe import MoERegressor, report


@pytest.fixture(scope="session")
def data():
    return problem()


@pytest.fixture(scope="session")
def model(data):
    return MoERegressor(n_experts=2, random_state=0).fit(*data)


@pytest.fixture(scope="session")
def one_expert(data):
    return MoERegressor(n_experts=1, random_state=0).fit(*data)


@pytest.fixture(scope="session")
def page(model, data):
    return report.html(model, *data, folds=2)
