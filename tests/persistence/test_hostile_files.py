"""Model files that somebody damaged or made up: refused by one exception with one sentence, before memory is taken."""

import io
import json
import pickle
import struct
import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest

import skmoe
from archives import SUMS, as_npy, parts_of, rewrite, write_parts
from skmoe import ModelFileError, MoEClassifier, MoERegressor, families, make_moe
from skmoe.estimators.base import MOST_MEMBERS, MOST_STARTS


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    X, y, _ = make_moe(300, 3, 2, random_state=0)
    path = tmp_path_factory.mktemp("model") / "m.skmoe"
    MoERegressor(2, averaging=2, random_state=0).fit(X, y).save(path)
    return path


@pytest.fixture
def path(saved, tmp_path):
    copy = tmp_path / "m.skmoe"
    copy.write_bytes(saved.read_bytes())
    return copy


def refuse(path, words=""):
    with pytest.raises(ModelFileError, match="damaged or not a skmoe model file") as caught:
        skmoe.load(path)
    said = str(caught.value)
    assert words in said
    assert len(said.splitlines()) == 1
    assert "pickle" not in said
    assert str(path) in said


ONES = np.ones((6, 3))  # of two experts, and of two models of two that are averaged with them


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("noise_scale_", np.array([1.0, -1.0])),
        ("noise_scale_", np.array([1.0, 0.0])),
        ("noise_scale_", np.array([1.0, np.nan])),
        ("noise_scale_", np.array([1.0, np.inf])),
        ("sigma", np.arange(6.0)),
        ("A", ONES * np.nan),
        ("A", ONES * np.inf),
        ("A", ONES > 0),
        ("A", ONES.astype("datetime64[s]")),
        ("A", ONES.astype(complex)),
        ("A", ONES.astype(np.float32)),
        ("A", ONES.astype(">f8")),
        ("A", ONES.astype(object)),
        ("A", np.asfortranarray(ONES)),
        ("A", np.ones((6, 4))),
        ("A", np.ones(18)),
        ("A", ONES * 1e308),
        ("b", np.full(6, -1e200)),
        ("W", ONES * -1e308),
        ("noise_scale_", np.full(2, 1e300)),
        ("b", np.ones(5)),
        ("W", np.ones((7, 3))),
        ("largest", np.full(6, np.nan)),
        ("shares_", np.full(5, 0.2)),
        ("shares_", np.array([0.9, 0.9])),
        ("shares_", np.array([-0.5, 1.5])),
        ("dof_", np.array([0.0, 3.0])),
        ("dof_", np.array([np.nan, 3.0])),
        ("stability_", np.array([0.5, 2.0])),
        ("covariance_", np.eye(17)),
        ("covariance_", np.arange(18.0**2).reshape(18, 18)),
        ("covariance_", -np.eye(18)),
        ("covariance_robust_", np.full((18, 18), np.nan)),
        ("member_weights_", np.array([0.5, 0.6])),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_arrays_that_no_model_has_are_refused(path, name, values):
    skmoe.load(path)
    rewrite(path, arrays={name: values})
    refuse(path, name)


ZEROS = [0.0, 0.0, 0.0]  # one for each input
SHAPE = {"skewness": 0.0, "kurtosis": 0.0, "gaussian": True, "rank": 3, "columns": 3, "gate_along_experts": 0.0}
SHAPE |= {"total": 300.0, "low": ZEROS, "high": ZEROS}
RUN = {"log_likelihood": -1.0, "n_parameters": 14, "converged": True, "identified": True, "at_floor": False}
RUN |= {"objective": [-1.0], "passes": 3}
REGIME = dict.fromkeys(("share", "probability", "its_rows", "all_rows", "prediction"), 0.5)
REGIME |= {"conditions": [], "span": [0.0, 1.0], "center": ZEROS, "spread": ZEROS}


def test_parts_of_a_record_that_are_right_are_read(path):
    """So that the same ones with one thing wrong are refused for it."""
    rewrite(path, change={"record": {"inputs": SHAPE, "run": RUN, "regimes": [REGIME, REGIME | {"like": 0}]}})
    assert skmoe.load(path).record_.regimes[1].like == 0


@pytest.mark.parametrize(
    "change",
    [
        {"format": -5},
        {"format": 0},
        {"format": True},
        {"format": 3.0},
        {"format": "4"},
        {"record": {"run": RUN | {"n_parameters": 0}}},
        {"record": {"run": RUN | {"n_parameters": 10**30}}},
        {"record": {"run": RUN | {"log_likelihood": float("nan")}}},
        {"record": {"run": RUN | {"log_likelihood": 10**400}}},
        {"record": {"step": 10**30}},
        {"record": {"run": RUN | {"converged": "yes"}}},
        {"record": {"run": RUN | {"identified": False}}},
        {"record": {"run": RUN | {"extra": 1}}},
        {"record": {"run": {}}},
        {"record": {"penalty": -1.0}},
        {"settings": {"noise": -1.0}},
        {"settings": {"activation": "system"}},
        {"settings": {"n_experts": 0}},
        {"settings": {"expert_features": [7]}},
        {"settings": {"spectral_options": {"moments": "none"}}},
        {"settings": {"checkpoint": "somewhere.npz"}},
        {"settings": {"verbose": 1}},
        {"settings": {"random_state": 3}},
        {"calibration": {"shift": 0.0, "scale": -1.0, "dof": 5.0}},
        {"calibration": {"shift": 1e300, "scale": 1.0, "dof": 5.0}},
        {"calibration": {"shift": 0.0, "scale": 1e300, "dof": 5.0}},
        {"calibration": {"shift": 0.0, "scale": 1.0, "dof": 1e-300}},
        {"calibration": [1, 2, 3]},
        {"experts": [2, 2, 3]},
        {"experts": [2, 10**18, 10**18]},
        {"experts": [2, -2, 6]},
        {"experts": [4, 2]},
        {"experts": [2]},
        {"experts": []},
        {"kind": "regressor"},
        {"origin": [0.0]},
        {"profiled": True},
        {"classes": [0, 1]},
        {"record": {}},
        {"record": {"rows": "many"}},
        {"record": {"rows": 0}},
        {"record": {"step": -1.0}},
        {"record": {"step": float("inf")}},
        {"record": {"run": RUN | {"passes": -1}}},
        {"record": {"run": RUN | {"at_floor": 1}}},
        {"record": {"run": RUN | {"objective": ["a"]}}},
        {"record": {"search": {"starts": [["a", 1.0]]}}},
        {"record": {"search": {"starts": [{"name": "a", "kind": "own", "log_likelihood": 1.0, "stage": "race"}]}}},
        {"record": {"search": {"agreement": -1}}},
        {"record": {"search": {"unknown": 1}}},
        {"record": {"tried": [[1, 2.0]]}},
        {"record": {"penalties": [[-1.0, 2.0]]}},
        {"record": {"coverage": [[0.9, float("nan")]]}},
        {"record": {"inputs": SHAPE | {"low": [0.0]}}},
        {"record": {"inputs": SHAPE | {"low": [], "high": []}, "regimes": [REGIME | {"center": [], "spread": []}] * 2}},
        {"record": {"inputs": SHAPE | {"high": [0.0, 0.0, float("nan")]}}},
        {"record": {"inputs": SHAPE | {"total": 0.0}}},
        {"record": {"regimes": []}},
        {"record": {"regimes": [REGIME | {"center": [0.0]}] * 2}},
        {"record": {"regimes": [REGIME | {"like": -1}] * 2}},
        {"record": {"regimes": [REGIME | {"conditions": ["a"]}] * 2}},
        {"record": {"unknown": 1}},
        {"feature_names": ["a", "b"]},
        {"feature_names": [1, 2, 3]},
        {"feature_names": "abc"},
    ],
    ids=str,
)
def test_texts_that_no_model_has_are_refused(path, change):
    rewrite(path, change=change)
    refuse(path)


@pytest.mark.parametrize(("name", "most"), [("n_init", MOST_STARTS), ("averaging", MOST_MEMBERS)])
def test_work_that_an_estimator_would_refuse_is_refused_in_a_file(path, name, most):
    rewrite(path, change={"settings": {name: most}})
    assert skmoe.load(path).get_params()[name] == most
    rewrite(path, change={"settings": {name: most + 1}})
    refuse(path, name)


def test_numbers_that_a_file_leads_out_of_range_are_refused_where_they_are_used(path, others):
    """Sizes that a fit may give, though not to such rows: their squares are beyond floating-point numbers."""
    X, y, _ = make_moe(20, 3, 2, random_state=1)
    rewrite(path, arrays={"A": ONES * 1e155})
    forged = skmoe.load(path)
    for function in (forged.responsibilities, forged.log_density):
        with pytest.raises(ValueError, match=r"no number for \d+ of 20 rows"), np.errstate(all="ignore"):
            function(X, y)
    labels = skmoe.load(others / "classifier")
    labels.parameters_.A[:] = np.nan
    with pytest.raises(ValueError, match="no number for 5 of 5 rows"):
        labels.predict(X[:5, :2])


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"null", b"{}", b"[" * 100_000, b'{"format": ' + b"9" * 5000 + b"}", b"\xff\xfe"]
)
def test_texts_that_are_no_record_are_refused(path, content):
    write_parts(path, parts_of(path) | {"model.json": content})
    refuse(path)


def test_path_named_in_a_file_is_never_written_to(path, tmp_path):
    rewrite(path, change={"settings": {"checkpoint": str(tmp_path / "notes.npz")}})
    refuse(path, "checkpoint")


def test_members_that_are_not_known_missing_or_there_twice_are_refused(path):
    parts = parts_of(path)
    write_parts(path, parts | {"unused.npy": as_npy(np.zeros(3))})
    refuse(path, "unused.npy")
    for name in set(parts) - {SUMS}:
        write_parts(path, {n: content for n, content in parts.items() if n != name})
        refuse(path)
    write_parts(path, parts)
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(path, "a") as file:
        file.writestr("shares_.npy", as_npy(np.array([0.3, 0.7])))
    refuse(path, "twice")


def test_change_that_leaves_the_checksums_is_refused(path):
    parts = parts_of(path)
    coef = np.load(io.BytesIO(parts["A.npy"]))
    rewrite(path, arrays={"A": coef + 1e-3}, sums=False)
    refuse(path, "checksum of A.npy is wrong")
    write_parts(path, parts)
    rewrite(path, change={"record": {"rows": 301}}, sums=False)
    refuse(path, "checksum of model.json is wrong")
    write_parts(path, {name: content for name, content in parts.items() if name != SUMS})
    refuse(path, "checksums are missing")


@pytest.mark.parametrize("name", ["unused.npy", "A.npy"])
def test_zip_bomb_is_refused_before_memory_is_taken(path, name):
    """256 MiB of zeros in 256 kB, as a member that is not known and as an array that is."""
    parts = {n: content for n, content in parts_of(path).items() if n != name}
    zeros = b"".join([array_header((2**12, 2**13)), bytes(2**28)])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for other, content in (parts | {name: zeros}).items():
            file.writestr(other, content)
    del zeros
    tracemalloc.start()
    refuse(path, "is packed")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**23


def array_header(shape):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return header.getvalue()


@pytest.mark.parametrize("size", [48, 144])
@pytest.mark.parametrize("shape", [(10**12,), (10**6, 10**6), (6, 3, 1), (0, 3)])
def test_declared_shape_is_not_believed(path, shape, size):
    write_parts(path, parts_of(path) | {"A.npy": array_header(shape) + bytes(size)})
    refuse(path, "A.npy must")


def test_size_in_the_directory_is_not_believed(path):
    """Of a member that says it is 40 MB and holds 48 bytes, and of one that holds more than it says."""
    content = bytearray(path.read_bytes())
    entry = content.rindex(b"PK\x01\x02", 0, content.rindex(b"shares_.npy"))
    for size in (40_000_000, 8):
        content[entry + 24 : entry + 28] = struct.pack("<I", size)
        path.write_bytes(content)
        refuse(path)


def test_huge_directory_is_refused(path):
    with zipfile.ZipFile(path, "a") as file:
        for i in range(10_000):
            file.writestr(f"{i:060}", b"")
    refuse(path, "directory of the archive is too large")


def test_object_is_refused_without_advice_and_runs_nothing(path, tmp_path):
    class Code:
        def __reduce__(self):
            return (open, (str(tmp_path / "ran"), "w"))

    rewrite(path, arrays={"A": np.array([Code()], dtype=object)})
    refuse(path, "A.npy must be as long as (6, 3) doubles")
    path.write_bytes(pickle.dumps(Code()))
    refuse(path)
    assert not (tmp_path / "ran").exists()


def test_directory_and_device_are_no_model_files(tmp_path):
    for place in (tmp_path, "/dev/null"):
        with pytest.raises(ModelFileError):
            skmoe.load(place)


def test_names_in_a_file_reach_the_message_escaped(path):
    write_parts(path, parts_of(path) | {"\x1b[31mred.npy": b"x"})
    refuse(path, "x1b[31mred")


def test_load_stays_small_in_a_process_of_its_own(path):
    """Zeros in place of the covariances of a wide model, which are packed a thousandfold."""
    parts = parts_of(path)
    header = json.loads(parts["model.json"])
    header["record"]["inputs"]["low"] = [0.0] * 700
    zeros = as_npy(np.zeros((2 * 1403, 2 * 1403)))
    parts |= {"model.json": json.dumps(header).encode(), "covariance_.npy": zeros, "covariance_robust_.npy": zeros}
    write_parts(path, parts, compression=zipfile.ZIP_DEFLATED)
    code = (
        "import resource, sys, skmoe, skmoe.estimators\n"
        "base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n    skmoe.load(sys.argv[1])\nexcept skmoe.ModelFileError as error:\n    print(error)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base)"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert "is packed" in done.stdout
    assert int(done.stdout.splitlines()[-1]) < 50_000 * (1 if sys.platform == "linux" else 1024)  # macOS counts bytes


# -- families and classifiers -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    """Files of a classifier and of families, by name."""
    folder, rng = tmp_path_factory.mktemp("others"), np.random.default_rng(0)
    X, how = rng.standard_normal((60, 2)), {"calibration": None, "random_state": 0}
    y, counts = X[:, 0] + rng.standard_normal(60), rng.poisson(2, 60)
    models = {
        "classifier": MoEClassifier(1, random_state=0).fit(X, rng.integers(0, 3, 60)),
        "poisson": MoERegressor(1, family="poisson", **how).fit(X, counts),
        "student": MoERegressor(1, family=families.StudentFamily(4.0), **how).fit(X, y),
        "truncated": MoERegressor(1, family=families.TruncatedFamily(lower=-9.0), **how).fit(X, y),
    }
    for name, model in models.items():
        model.save(folder / name)
    return folder


@pytest.mark.parametrize(
    ("name", "change"),
    [
        *(("classifier", {"classes": labels}) for labels in ([0, 0, 1], [2, 1, 0], [0, 1, "a"], [0, 1, 1.5], [0, 1])),
        *(("classifier", {"classes": labels}) for labels in ([False, True, 2], [0, 1, None], ["a", "b", ["c"]], "abc")),
        *((name, {"calibration": {"shift": 0.5, "scale": 2.0, "dof": 3.0}}) for name in ("classifier", "poisson")),
        *(("student", {"family": {"dof": dof}}) for dof in (float("nan"), 0.0, -1.0, 1e-300, float("inf"), True, "4")),
        *(("truncated", {"family": {"lower": low}}) for low in (float("nan"), float("inf"), "0", [0])),
        ("truncated", {"family": {"lower": 5.0, "upper": 1.0}}),
        *(("poisson", {"family": family}) for family in ("poisson", {"name": "own"}, {"name": "gaussian"})),
        *(("poisson", {"settings": {name: 10**12}}) for name in ("n_init", "averaging")),
        *(("poisson", {"settings": {"categorical": value}}) for value in ({"a": 1}, [[1]], 3)),
        ("poisson", {"classes": [0, 1]}),
        ("classifier", {"classes": None}),
        ("classifier", {"family": {"name": "poisson"}}),
        ("classifier", {"settings": {"activation": "linear"}}),
    ],
)
def test_families_and_classifiers_that_no_fit_gives_are_refused(others, tmp_path, name, change):
    path = tmp_path / "model.skmoe"
    path.write_bytes((others / name).read_bytes())
    skmoe.load(path)
    rewrite(path, change=change)
    refuse(path)


def test_name_that_is_there_twice_in_a_text_is_refused(path):
    text = parts_of(path)["model.json"].replace(b'"format"', b'"format": 99, "format"', 1)
    write_parts(path, parts_of(path) | {"model.json": text})
    refuse(path, "a name is there twice")


def test_path_may_be_bytes(path):
    assert skmoe.load(str(path).encode()).n_features_in_ == skmoe.load(path).n_features_in_
