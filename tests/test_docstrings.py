"""Every public function and method says what it takes and what it returns, as numpydoc wants it."""

import inspect

import pytest
from numpydoc.validate import validate

import skmoe
from skmoe import datasets, decomposition, metrics, moments, plots, report, rows, scores

MODULES = {
    "skmoe": skmoe,
    "skmoe.datasets": datasets,
    "skmoe.spectral.decomposition": decomposition,
    "skmoe.metrics": metrics,
    "skmoe.spectral.moments": moments,
    "skmoe.plots": plots,
    "skmoe.report": report,
    "skmoe.rows": rows,
    "skmoe.spectral.scores": scores,
}
RECORDS = {"PR01", "RT01", "RT03"}  # a class says its fields under Parameters or Attributes, as it likes
CODES = {
    "GL08": "no docstring",
    "PR01": "parameters that are not documented",
    "PR02": "parameters that do not exist",
    "PR03": "parameters in another order",
    "PR10": "no space before the colon",
    "RT01": "no Returns section",
    "RT03": "a return value without a description",
    "SS01": "no summary",
}


def _is_protocol(value: type) -> bool:
    return getattr(value, "_is_protocol", False)


def public_names() -> list[str]:
    found = {}
    for home, module in MODULES.items():
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isfunction(value):
                found[value] = f"{home}.{name}"
            elif inspect.isclass(value) and value.__module__.startswith("skmoe") and not _is_protocol(value):
                found[value] = f"{home}.{name}"
                for method, what in vars(value).items():
                    function = what.__func__ if isinstance(what, classmethod | staticmethod) else what
                    if not method.startswith("_") and inspect.isfunction(function):
                        found[function] = f"{home}.{name}.{method}"
    return sorted(found.values())


@pytest.mark.parametrize("name", public_names())
def test_docstring_tells_parameters_and_returns(name):
    found = validate(name)
    codes = set(CODES) - (RECORDS if found["type"] == "type" else set())
    assert not [f"{code}: {text}" for code, text in found["errors"] if code in codes]


def test_public_functions_are_found():
    names = public_names()
    assert "skmoe.learn_experts" in names
    assert "skmoe.MoERegressor.predict_interval" in names
    assert len(names) > 60
