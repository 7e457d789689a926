"""Every public function and method says what it takes and what it returns, as numpydoc wants it."""

import inspect
import re
from pathlib import Path

import pytest
from numpydoc.validate import validate

import skmoe
from skmoe import datasets, decomposition, metrics, moments, plots, report, scores, spectral, tables

MODULES = {
    "skmoe.spectral": spectral,
    "skmoe": skmoe,
    "skmoe.datasets": datasets,
    "skmoe.spectral.decomposition": decomposition,
    "skmoe.metrics": metrics,
    "skmoe.spectral.moments": moments,
    "skmoe.plots": plots,
    "skmoe.report": report,
    "skmoe.tables": tables,
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
                for method in dir(value):
                    what = inspect.getattr_static(value, method)
                    function = what.__func__ if isinstance(what, classmethod | staticmethod) else what
                    ours = str(getattr(function, "__module__", "")).startswith("skmoe")
                    if not method.startswith("_") and inspect.isfunction(function) and ours:
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


PAPER = [
    *(f"skmoe.{name}" for name in ("label_transform", "learn_experts", "learn_gate", "plain_tensor_method")),
    *(f"skmoe.scores.{name}" for name in ("second_score", "third_score")),
    *(f"skmoe.moments.{name}" for name in ("score_moment", "second_moment", "third_moment")),
    *(f"skmoe.decomposition.{name}" for name in ("matching", "orth_als", "orth_als_t2", "power_method")),
    *(f"skmoe.spectral.{name}" for name in ("em_objective", "em_operator", "ratio", "SpectralOptions")),
    *(f"skmoe.spectral.{name}_constant" for name in ("robustness", "stability")),
    *(f"skmoe.spectral.{name}" for name in ("concavity_constants", "noise_threshold")),
]


@pytest.mark.parametrize("name", PAPER)
def test_pieces_of_the_paper_are_on_the_api_page_with_an_example(name):
    value = skmoe
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    assert ">>> " in inspect.getdoc(value)
    page = Path(__file__).parent.parent / "docs" / "api.md"
    assert f"   {name.removeprefix('skmoe.')}\n" in page.read_text()


def entries_of_the_api_page() -> list[tuple[str, str, str]]:
    """Return the heading, the modules that it names and the entry, for each entry of the page."""
    page = (Path(__file__).parent.parent / "docs" / "api.md").read_text()
    found = []
    for section in re.split(r"^##+ ", page, flags=re.MULTILINE)[1:]:
        heading, _, text = section.partition("\n")
        modules = " ".join(re.findall(r"`skmoe\.(\w+)`", heading))
        found += [(heading, modules, entry) for entry in re.findall(r"^   (\w[\w.]*)$", text, re.MULTILINE)]
    return found


@pytest.mark.parametrize(("heading", "modules", "entry"), entries_of_the_api_page())
def test_api_page_names_modules_one_way_and_cuts_no_first_sentence(heading, modules, entry):
    value = skmoe
    for part in entry.split("."):
        value = getattr(value, part)
    home = entry.rpartition(".")[0]
    assert not modules or not home or home in modules.split(), heading
    # the page shows the first sentence, which for Sphinx ends at a full stop with a space after it
    assert not re.search(r"\.\.\.\s", inspect.getdoc(value).partition("\n")[0])
