"""Model folders: what goes in comes out, and what was damaged is refused with a clear error."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import math
import os
import pkgutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

import purport
from purport.errors import (
    FormatError,
    InputError,
    ModelCorruptError,
    ModelTooNewError,
    NotFittedError,
    OutputExistsError,
    ParameterError,
)
from purport.estimator.base import Estimator, State
from purport.features.token_windows import TokenWindows
from purport.records.utterances import Utterances
from purport.sequence.crf import CRF
from purport.store import classes, folders
from purport.store.folders import describe, load, save
from purport.store.plain import parameters_of, plain_estimator, plain_settings, settings_of

X = [[["w=play"], ["w=some"], ["w=jazz"]], [["w=play"], ["w=blues"]]]
Y = [["O", "O", "B-genre"], ["O", "B-genre"]]
TALK = Utterances.from_lists([["play", "some", "jazz"], ["play", "blues"]], slots=Y)
FILES = ["arrays.safetensors", "model.json"]


def fitted() -> CRF:
    return CRF(l2=0.1, max_iter=5, tol=0.1).fit(X, Y)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the two files of a model."""
    folder = tmp_path_factory.mktemp("saved") / "model"
    save(fitted(), folder)
    return {name: (folder / name).read_bytes() for name in FILES}


def lay_out(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def with_checksum(description: dict[str, Any]) -> dict[str, Any]:
    """Return a description as somebody writes it who knows how."""
    content = {name: value for name, value in description.items() if name != "checksum"}
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return content | {"checksum": hashlib.sha256(canonical.encode("ascii")).hexdigest()}


def rewrite(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    description = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    change(description)
    text = json.dumps(with_checksum(description))
    (folder / "model.json").write_text(text, encoding="utf-8")


# What goes in comes out.


def test_a_model_comes_back(tmp_path: Path) -> None:
    model = fitted()
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert type(loaded) is CRF
    assert loaded.get_params() == model.get_params()
    assert loaded.predict(X) == model.predict(X)
    assert loaded.history_ == model.history_
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == FILES


def test_nested_estimators_and_tuples_come_back(tmp_path: Path) -> None:
    windows = TokenWindows(
        words=(-1, 1),
        prefixes=[2, 3],
        conjunctions=((-1, 0), [0, 1]),
        gazetteers={"object": ["some jazz"]},
        token_classes={"number": "[0-9]+"},
        prepositions=["by"],
    )
    model = CRF(features=windows, max_iter=5, tol=0.1).fit(TALK)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    inner = loaded.features.get_params()
    assert type(loaded.features) is TokenWindows
    assert inner == windows.get_params()
    assert type(inner["words"]) is tuple
    assert type(inner["prefixes"]) is list
    assert repr(loaded) == repr(model)
    assert loaded.label(TALK).labels == model.label(TALK).labels
    save(loaded, tmp_path / "again")
    for name in ("parameters", "arrays", "settings"):
        assert describe(tmp_path / "again")[name] == describe(tmp_path / "model")[name]


def test_numpy_numbers_become_plain(tmp_path: Path) -> None:
    save(CRF(l2=np.float32(0.5), max_iter=np.int64(9)).fit(X, Y), tmp_path / "model")
    found = load(tmp_path / "model").get_params()
    assert (type(found["l2"]), found["l2"]) == (float, 0.5)
    assert (type(found["max_iter"]), found["max_iter"]) == (int, 9)


class Holder(Estimator):
    """An estimator with arrays of all kinds."""

    def __init__(self, value: object = None) -> None:
        self.value = value

    def fit(self, arrays: dict[str, Any], settings: dict[str, Any] | None = None) -> Holder:
        self.state_ = State(arrays, settings or {})
        return self

    def _trained_on(self) -> dict[str, Any]:
        return self.state_.settings.get("trained_on", {})

    def _to_state(self) -> State:
        self._check_fitted()
        return self.state_

    def _restore(self, state: State) -> None:
        self.state_ = state


@pytest.fixture
def holder(monkeypatch: pytest.MonkeyPatch) -> type[Holder]:
    """Let Holder be saved."""
    monkeypatch.setitem(classes.CLASSES, "Holder", Holder.__module__)
    return Holder


def test_arrays_of_every_kind(tmp_path: Path, holder: type[Holder]) -> None:
    given = {
        kind: np.arange(6).reshape(2, 3).astype(kind)
        for kind in ("bool", "uint8", "int8", "int16", "uint16", "int32", "uint32", "int64")
    }
    given |= {kind: np.linspace(-1, 1, 5).astype(kind) for kind in ("f2", "f4", "f8", "u8")}
    given |= {
        "big-endian": np.arange(3, dtype=">f8"),
        "columns first": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "every other": np.arange(10)[::2],
        "nothing": np.zeros((0, 3)),
        "a/single/é": np.array(3.5),
        "special": np.array([np.nan, np.inf, -np.inf, -0.0]),
    }
    read_only = np.arange(3)
    read_only.flags.writeable = False
    given["read-only"] = read_only
    save(holder().fit(given), tmp_path / "model")
    found = load(tmp_path / "model").state_.arrays
    assert found.keys() == given.keys()
    for name, array in given.items():
        assert found[name].dtype == array.dtype.newbyteorder("=")
        assert found[name].dtype.isnative
        assert found[name].shape == array.shape
        assert found[name].flags.c_contiguous
        assert found[name].flags.writeable
        assert found[name].flags.aligned
        np.testing.assert_array_equal(found[name], array)


def test_no_arrays_at_all(tmp_path: Path, holder: type[Holder]) -> None:
    save(holder().fit({}), tmp_path / "model")
    assert load(tmp_path / "model").state_ == State()


@pytest.mark.parametrize(
    "array", [np.array(["text"]), np.array([None]), np.array([1j]), np.array("2020", "M8[D]")]
)
def test_arrays_of_other_kinds_are_a_mistake_of_the_class(
    tmp_path: Path, holder: type[Holder], array: Any
) -> None:
    with pytest.raises(TypeError, match="cannot hold the array 'a'"):
        save(holder().fit({"a": array}), tmp_path / "model")
    assert not list(tmp_path.iterdir())


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec=None))
)


def dicts_of(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(["a", "number", "object", "tuple", "class"]), inner)


@given(
    st.recursive(
        scalars,
        lambda inner: (
            st.lists(inner)
            | st.lists(inner).map(tuple)
            | dicts_of(inner)
            | st.dictionaries(st.integers() | st.booleans() | st.none(), inner)
        ),
    )
)
def test_every_parameter_comes_back(value: object) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(classes.CLASSES, "Holder", Holder.__module__)
        written = json.loads(json.dumps(plain_estimator(Holder(value)), allow_nan=False))
    found = parameters_of(written["parameters"], lambda name, parameters: None)["value"]
    assert found == value
    assert repr(found) == repr(value)


@given(st.recursive(scalars, lambda inner: st.lists(inner) | dicts_of(inner)))
def test_all_settings_come_back(value: object) -> None:
    written = json.loads(json.dumps(plain_settings(value), allow_nan=False))
    assert repr(settings_of(written)) == repr(value)


def test_what_settings_cannot_hold_is_a_mistake_of_the_class() -> None:
    for value in (np.zeros(2), {1: 2}, object()):
        with pytest.raises(TypeError):
            plain_settings(value)
    assert math.isnan(settings_of(plain_settings(math.nan)))


def test_a_parameter_that_cannot_be_saved_is_named(tmp_path: Path, holder: type[Holder]) -> None:
    with pytest.raises(ParameterError, match="Holder: parameter 'value' must be None, a number"):
        save(holder({(1, 2): "a"}).fit({}), tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    class CRF(Estimator):  # the name alone is not enough
        pass

    for model in (CRF(), "model", Holder()):
        with pytest.raises(InputError, match="save takes"):
            save(model, tmp_path / "model")  # type: ignore[arg-type]
    with pytest.raises(NotFittedError):
        save(purport.CRF(), tmp_path / "model")
    assert not list(tmp_path.iterdir())


# What a folder says.


def test_a_folder_describes_itself(tmp_path: Path) -> None:
    save(CRF(features=TokenWindows(words=(0, 1))).fit(TALK), tmp_path / "model")
    told = describe(tmp_path / "model")
    assert told["class"] == "CRF"
    assert told["format"] == folders.FORMAT
    assert told["purport"] == purport.__version__
    assert told["saved"].endswith("+00:00")
    assert told["parameters"]["features"]["class"] == "TokenWindows"
    assert told["parameters"]["features"]["parameters"]["words"] == (0, 1)
    assert told["arrays"]["theta"].keys() == {"dtype", "shape", "sha256"}
    assert "checksum" not in told


def test_words_of_the_training_data_are_where_the_guide_says(tmp_path: Path) -> None:
    # docs/privacy.md: the vocabulary is in the arrays, never in model.json.
    model = CRF(features=TokenWindows(min_count=2), max_iter=5, tol=0.1)
    save(model.fit(TALK), tmp_path / "records")
    save(fitted(), tmp_path / "lists")
    for name in ("records", "lists"):
        description = (tmp_path / name / "model.json").read_bytes()
        arrays = (tmp_path / name / "arrays.safetensors").read_bytes()
        for word in (b"play", b"some", b"jazz", b"blues"):
            assert word not in description
            assert word in arrays


def test_describing_loads_no_model(tmp_path: Path) -> None:
    save(fitted(), tmp_path / "model")
    code = (
        "import sys; from purport.store.folders import describe; describe(sys.argv[1])\n"
        "print([m for m in ('numba', 'safetensors', 'purport.sequence') if m in sys.modules])"
    )
    run = [sys.executable, "-c", code, str(tmp_path / "model")]
    assert subprocess.run(run, check=True, capture_output=True).stdout.strip() == b"[]"


def test_what_it_was_trained_on_is_counts_and_times(tmp_path: Path, holder: type[Holder]) -> None:
    counts = {"sequences": np.int64(3), "share": 0.5, "last": "2024-05-01T12:00:00+00:00"}
    save(holder().fit({}, {"trained_on": counts}), tmp_path / "model")
    assert describe(tmp_path / "model")["trained_on"] == counts
    for told in ({"query": "cheap flights"}, {"queries": ["a"]}, {"share": math.nan}):
        with pytest.raises((TypeError, ValueError)):
            save(holder().fit({}, {"trained_on": told}), tmp_path / "other")


def test_every_public_estimator_is_in_the_table() -> None:
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(purport.__path__, "purport.")
        if not found.name.startswith("purport.cli")
    ]
    estimators = {
        thing
        for module in modules
        for thing in vars(module).values()
        if inspect.isclass(thing) and issubclass(thing, Estimator)
    }
    public = {thing for thing in estimators if getattr(purport, thing.__name__, None) is thing}
    assert public
    assert {thing.__name__: thing.__module__ for thing in public}.items() <= classes.CLASSES.items()
    # And no name in the table leads nowhere.
    assert {classes.class_named(name).__name__ for name in classes.CLASSES} == set(classes.CLASSES)


# What stands there is kept.


def test_a_model_is_kept_unless_told_otherwise(tmp_path: Path) -> None:
    save(CRF(l2=0.5).fit(X, Y), tmp_path / "model")
    with pytest.raises(OutputExistsError, match="overwrite=True"):
        save(fitted(), tmp_path / "model")
    assert load(tmp_path / "model").l2 == 0.5
    save(fitted(), tmp_path / "model", overwrite=True)
    assert load(tmp_path / "model").l2 == 0.1
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_overwriting_never_removes_what_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "one.txt").touch()
    with pytest.raises(OutputExistsError, match="not a model folder"):
        save(fitted(), tmp_path / "photos", overwrite=True)
    with pytest.raises(FormatError, match="a file has that name"):
        save(fitted(), tmp_path / "photos" / "one.txt", overwrite=True)
    assert (tmp_path / "photos" / "one.txt").exists()
    (tmp_path / "empty").mkdir()
    save(fitted(), tmp_path / "empty", overwrite=True)
    assert load(tmp_path / "empty").predict(X) == Y


def test_a_full_disk_leaves_the_old_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(CRF(l2=0.5).fit(X, Y), tmp_path / "model")

    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        with pytest.raises(FormatError, match="cannot be written: No space left on device"):
            save(fitted(), tmp_path / "model", overwrite=True)
    assert load(tmp_path / "model").l2 == 0.5
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


SAVER = """
import sys
from purport.store.folders import load, save
models = [load(sys.argv[1]), load(sys.argv[2])]
for number in range(60):
    save(models[number % 2], sys.argv[3], overwrite=True)
"""


def test_a_reader_never_meets_half_a_model(tmp_path: Path) -> None:
    for name, l2 in (("a", 0.25), ("b", 0.5), ("shared", 0.5)):
        save(CRF(l2=l2).fit(X, Y), tmp_path / name)
    places = [str(tmp_path / name) for name in ("a", "b", "shared")]
    expected = {model.l2: model.transitions_.tobytes() for model in map(load, places)}
    saver = subprocess.Popen([sys.executable, "-c", SAVER, *places])
    reads = 0
    while saver.poll() is None:
        model = load(places[2])
        assert model.transitions_.tobytes() == expected[model.l2]
        reads += 1
    assert saver.returncode == 0
    assert reads > 0


# What was damaged is refused.


def refused(folder: Path, reason: str) -> None:
    with pytest.raises(ModelCorruptError, match=reason) as caught:
        load(folder)
    assert str(folder) in str(caught.value)


def test_missing_things(tmp_path: Path, saved: dict[str, bytes]) -> None:
    for read in (load, describe):
        with pytest.raises(ModelCorruptError, match="there is no such model folder"):
            read(tmp_path / "nothing")
        (tmp_path / "file").touch()
        with pytest.raises(ModelCorruptError, match="it is a file, not a folder"):
            read(tmp_path / "file")
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(ModelCorruptError, match=r"model\.json is missing"):
            read(tmp_path / "empty")
    folder = lay_out(tmp_path / "model", {"model.json": saved["model.json"]})
    refused(folder, r"arrays\.safetensors is missing")
    (folder / "arrays.safetensors").mkdir()
    with pytest.raises(FormatError, match="cannot be read"):
        load(folder)


def test_a_newer_format_is_told_apart(tmp_path: Path, saved: dict[str, bytes]) -> None:
    folder = lay_out(tmp_path / "model", saved)
    (folder / "model.json").write_text('{"format": 7, "what": "ever"}', encoding="utf-8")
    said = f"format 7, this purport reads up to {folders.FORMAT}"
    for read in (load, describe):
        with pytest.raises(ModelTooNewError, match=said):
            read(folder)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"null",
        b"[]",
        b"{",
        b'{"format": 1}',
        b'{"format": true}',
        b'{"format": "1"}',
        b'{"format": 0}',
        b'{"format": 1.0}',
        b'{"format": NaN}',
        b'"\xff"',
        b"\xff\xfe{\x00}\x00",
        b"[" * 100_000,
        b'{"format": ' + b"9" * 10_000 + b"}",
    ],
)
def test_other_json(tmp_path: Path, saved: dict[str, bytes], text: bytes) -> None:
    folder = lay_out(tmp_path / "model", saved | {"model.json": text})
    refused(folder, "not a usable model")


def changed(*path: str, to: object) -> Callable[[dict[str, Any]], None]:
    def change(description: dict[str, Any]) -> None:
        place = description
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = to

    return change


FORGED = {
    "no longer a class": changed("class", to="os"),
    "a class that is not text": changed("class", to=["CRF"]),
    "another class": changed("class", to="TokenWindows"),
    "an inner class that does not exist": changed(
        "parameters", "features", to={"class": "Path", "parameters": {}}
    ),
    "parameters that are not an object": changed("parameters", to=[]),
    "an unknown parameter": changed("parameters", "l3", to=1.0),
    "a parameter of the wrong kind": changed("parameters", "l2", to="1"),
    "a parameter out of range": changed("parameters", "l2", to=-1.0),
    "a parameter that is an object": changed("parameters", "l2", to={"a": 1}),
    "a number that is none": changed("parameters", "l2", to={"number": "ten"}),
    "arrays that are not an object": changed("arrays", to=None),
    "an array too many in the list": changed("arrays", "more", to={}),
    "an array described as nothing": changed("arrays", "theta", to=None),
    "another shape": changed("arrays", "theta", "shape", to=[2, 3]),
    "another dtype": changed("arrays", "theta", "dtype", to="int64"),
    "settings that are not an object": changed("settings", to=3),
    "no classes": changed("settings", "classes", to=None),
    "an unknown form": changed("settings", "form", to="records"),
    "an object in the settings that is none": changed("settings", "form", to={"object": 3}),
    "a number in the settings that is none": changed("settings", "form", to={"number": 3}),
    "a field too many": changed("more", to=1),
    "a field too few": lambda description: description.pop("saved"),
    "a setting too few": lambda description: description["settings"].pop("history"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_description_that_fits_its_checksum_but_no_model(
    tmp_path: Path, saved: dict[str, bytes], name: str
) -> None:
    folder = lay_out(tmp_path / "model", saved)
    rewrite(folder, FORGED[name])
    refused(folder, "not a usable model")


@pytest.mark.parametrize("change", ["lacking", "more", "other values", "other name", "swapped"])
def test_other_arrays(tmp_path: Path, saved: dict[str, bytes], change: str) -> None:
    folder = lay_out(tmp_path / "model", saved)
    arrays = load_file(folder / "arrays.safetensors")
    if change == "lacking":
        del arrays["theta"]
    elif change == "more":
        arrays["more"] = np.zeros(1)
    elif change == "other values":
        arrays["theta"] = arrays["theta"] + 1.0
    elif change == "other name":
        arrays["thета"] = arrays.pop("theta")
    else:
        swapped = {"arc_sources": "arc_targets", "arc_targets": "arc_sources"}
        arrays = {swapped.get(name, name): array for name, array in arrays.items()}
    save_file(arrays, folder / "arrays.safetensors")
    refused(folder, "other arrays than were saved|was altered")


def test_other_arrays_that_fit_their_list(tmp_path: Path, saved: dict[str, bytes]) -> None:
    from purport.store.arrays import packed

    folder = lay_out(tmp_path / "model", saved)
    arrays = load_file(folder / "arrays.safetensors")
    del arrays["theta"]
    data, listed = packed(arrays)
    (folder / "arrays.safetensors").write_bytes(data)
    rewrite(folder, changed("arrays", to=listed))
    refused(folder, "do not fit together")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return one folder for all examples that Hypothesis draws."""
    return tmp_path_factory.mktemp("damaged") / "model"


def load_or_refuse(folder: Path, saved: dict[str, bytes]) -> str:
    """Return what became of a damaged folder; a model that loads must be the one that was saved."""
    try:
        model = load(folder)
    except ModelCorruptError:
        return "corrupt"
    except ModelTooNewError:
        return "too new"
    original = json.loads(saved["model.json"])
    assert describe(folder)["arrays"] == original["arrays"]
    assert describe(folder)["settings"] == original["settings"]
    assert model.predict(X) == Y
    return "model"


@given(st.sampled_from(FILES), st.integers(min_value=0), st.data())
def test_cut_short_anywhere(
    place: Path, saved: dict[str, bytes], name: str, where: int, data: st.DataObject
) -> None:
    length = data.draw(st.integers(0, len(saved[name]) - 1))
    folder = lay_out(place, saved | {name: saved[name][:length]})
    # Without the line end at its end nothing is lost.
    expected = "model" if name == "model.json" and length == len(saved[name]) - 1 else "corrupt"
    assert load_or_refuse(folder, saved) == expected


@given(st.sampled_from(FILES), st.integers(0, 255), st.data())
def test_any_byte_altered(
    place: Path, saved: dict[str, bytes], name: str, byte: int, data: st.DataObject
) -> None:
    altered = bytearray(saved[name])
    altered[data.draw(st.integers(0, len(altered) - 1))] = byte
    folder = lay_out(place, saved | {name: bytes(altered)})
    load_or_refuse(folder, saved)


@pytest.mark.parametrize("name", FILES)
def test_one_bit_of_every_third_byte_altered(
    place: Path, saved: dict[str, bytes], name: str
) -> None:
    outcomes = []
    for where in range(0, len(saved[name]), 3):
        altered = bytearray(saved[name])
        altered[where] ^= 1 << (where % 8)
        outcomes.append(load_or_refuse(lay_out(place, saved | {name: bytes(altered)}), saved))
    # Blanks between the parts may turn into others; nothing else is let through.
    assert outcomes.count("corrupt") > 0.9 * len(outcomes)


@given(st.sampled_from(FILES), st.binary(max_size=40), st.data())
def test_bytes_put_in(
    place: Path, saved: dict[str, bytes], name: str, more: bytes, data: st.DataObject
) -> None:
    where = data.draw(st.integers(0, len(saved[name])))
    altered = saved[name][:where] + more + saved[name][where:]
    load_or_refuse(lay_out(place, saved | {name: altered}), saved)


@given(st.binary(max_size=200))
def test_anything_at_all(place: Path, saved: dict[str, bytes], data: bytes) -> None:
    for name in FILES:
        assert load_or_refuse(lay_out(place, saved | {name: data}), saved) == "corrupt"


anything = st.recursive(
    scalars.filter(lambda value: value != math.inf and value != -math.inf),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
fields = st.sampled_from(
    [
        ("class",),
        ("parameters",),
        ("parameters", "l2"),
        ("parameters", "features"),
        ("arrays",),
        ("arrays", "theta"),
        ("arrays", "theta", "shape"),
        ("settings",),
        ("settings", "classes"),
        ("settings", "form"),
        ("settings", "encoder"),
        ("trained_on",),
    ]
)


@given(fields, anything)
def test_any_value_anywhere_under_a_checksum_that_fits(
    place: Path, saved: dict[str, bytes], path: tuple[str, ...], value: object
) -> None:
    folder = lay_out(place, saved)
    rewrite(folder, changed(*path, to=value))
    for read in (load, describe):
        try:
            read(folder)
        except (ModelCorruptError, ModelTooNewError):
            continue


def test_nothing_but_the_table_is_imported(tmp_path: Path, saved: dict[str, bytes]) -> None:
    folder = lay_out(tmp_path / "model", saved)
    (tmp_path / "evil.py").write_text("raise SystemExit(3)", encoding="utf-8")
    for name in ("evil", "evil:CRF", "evil.CRF", "purport.sequence.crf", "../evil", "__class__"):
        rewrite(folder, changed("class", to=name))
        refused(folder, "names a class that is not a model of purport")


def test_loading_is_fast(tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    words = random.integers(3000, size=(1500, 10)).tolist()
    X = [[["bias", f"w={word}", f"v={word * 7 % 3000}"] for word in words_] for words_ in words]
    y = [[f"L{label}" for label in row] for row in random.integers(20, size=(1500, 10)).tolist()]
    model = CRF(max_iter=30, tol=0.5).fit(X, y)
    assert model.n_features_ > 25_000
    save(model, tmp_path / "model")
    seconds = []
    for _ in range(5):
        started = time.perf_counter()
        load(tmp_path / "model")
        seconds.append(time.perf_counter() - started)
    assert min(seconds) < 0.05


@pytest.mark.skipif(os.name != "posix", reason="symbolic links")
def test_a_model_behind_a_link(tmp_path: Path) -> None:
    save(CRF(l2=0.5).fit(X, Y), tmp_path / "first")
    (tmp_path / "current").symlink_to("first", target_is_directory=True)
    assert load(tmp_path / "current").l2 == 0.5
    save(fitted(), tmp_path / "current", overwrite=True)
    assert (tmp_path / "current").is_symlink()
    assert load(tmp_path / "first").l2 == 0.1
