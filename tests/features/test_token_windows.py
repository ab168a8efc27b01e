"""TokenWindows against the strings that its slow twin writes, read by FeatureStrings."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from purport.errors import InputError, NotFittedError, ParameterError
from purport.estimator.base import State
from purport.features import keys
from purport.features.rows import Rows
from purport.features.strings import FeatureStrings
from purport.features.templates import shape
from purport.features.token_windows import TokenWindows
from purport.store.folders import load, save

RICH = TokenWindows(
    words=(-3, 3),
    conjunctions=((-2, -1), (-1, 0), (0, 1), (1, 2)),
    lengths=True,
    previous_words=6,
)


@dataclass
class Talk:
    """The least that token windows need of records."""

    vocabulary: list[str]
    token_codes: NDArray[np.int32]
    offsets: NDArray[np.int64]


def talk_of(sentences: list[list[str]], vocabulary: list[str] | None = None) -> Talk:
    known = vocabulary or list(dict.fromkeys(word for words in sentences for word in words))
    numbers = {word: number for number, word in enumerate(known)}
    codes = np.array([numbers[word] for words in sentences for word in words], np.int32)
    offsets = np.append(0, np.cumsum([len(words) for words in sentences])).astype(np.int64)
    return Talk(known, codes, offsets)


sentences = st.lists(
    st.lists(st.sampled_from(["a", "A", "ab", "Ab", "abc", "x9", "9", "é", "", "ß", "日本"])),
    max_size=6,
)
offsets = st.integers(-3, 3)
spans = st.tuples(offsets, st.integers(0, 2)).map(lambda span: (span[0], span[0] + span[1]))
lengths = st.lists(st.integers(1, 3), max_size=2, unique=True).map(tuple)
windows = st.builds(
    TokenWindows,
    words=st.none() | spans,
    conjunctions=st.lists(
        st.lists(offsets, min_size=2, max_size=4, unique=True).map(tuple), max_size=3, unique=True
    ).map(tuple),
    prefixes=lengths,
    suffixes=lengths,
    shapes=st.booleans(),
    digits=st.booleans(),
    lengths=st.booleans(),
    attribute_window=spans,
    previous_words=st.integers(0, 3),
    bias=st.booleans(),
    marks=st.booleans(),
    lowercase=st.booleans(),
    min_count=st.integers(1, 3),
    gazetteers=st.none()
    | st.dictionaries(
        st.sampled_from(["city", "size"]),
        st.lists(
            st.sampled_from(["a", "A ab", "ab a b", "ab  abc", "abc abc abc a", "ß", "never said"])
        ),
    ),
    token_classes=st.none()
    | st.dictionaries(st.sampled_from(["number", "any"]), st.sampled_from(["[0-9]+", ".*", "a"])),
    class_window=spans,
    prepositions=st.none() | st.just(True) | st.lists(st.sampled_from(["a", "AB", "9"])),
)


def spelled(features: list[str], rows: Rows) -> list[list[Counter[str]]]:
    """Write rows back as a count of features for each position."""
    assert rows.width == len(features)
    assert rows.values is None
    unique = [
        Counter(features[column] for column in rows.columns[start:stop])
        for start, stop in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    ]
    return [
        [unique[number] for number in rows.index[start:stop]]
        for start, stop in zip(rows.offsets[:-1], rows.offsets[1:], strict=True)
    ]


def same(left: Rows, right: Rows) -> bool:
    arrays = ("indptr", "columns", "index", "offsets")
    equal = all(np.array_equal(getattr(left, a), getattr(right, a)) for a in arrays)
    return equal and (left.width, left.unseen) == (right.width, right.unseen)


def often(strings: list[list[list[str]]], min_count: int) -> set[str]:
    counted = Counter(f for sentence in strings for position in sentence for f in position)
    return {feature for feature, count in counted.items() if count >= min_count}


@given(windows, sentences, sentences)
def test_rows_say_what_the_strings_say(
    encoder: TokenWindows, train: list[list[str]], later: list[list[str]]
) -> None:
    rows = encoder.fit_transform(talk_of(train))
    features = encoder.feature_names()
    known = often(encoder.strings(talk_of(train)), encoder.min_count)
    assert len(features) == len(set(features))
    assert set(features) == known
    assert same(encoder.transform(talk_of(train)), rows)
    for records, found in ((train, rows), (later, encoder.transform(talk_of(later)))):
        strings = encoder.strings(talk_of(records))
        assert spelled(features, found) == [
            [Counter(f for f in position if f in known) for position in sentence]
            for sentence in strings
        ]
        assert found.unseen == sum(
            f not in known for sentence in strings for position in sentence for f in position
        )


@given(windows, sentences)
def test_rows_are_those_of_feature_strings_with_other_numbers(
    encoder: TokenWindows, train: list[list[str]]
) -> None:
    encoder.set_params(min_count=1)
    rows = encoder.fit_transform(talk_of(train))
    other = FeatureStrings().fit_transform(encoder.strings(talk_of(train)))
    assert (rows.width, rows.unique, rows.unseen) == (other.width, other.unique, 0)
    # Unique rows are numbered as they come by both; only columns are numbered in other ways.
    assert rows.index.tolist() == other.index.tolist()
    assert rows.indptr.tolist() == other.indptr.tolist()


@given(windows, sentences, sentences)
def test_what_is_learnt_survives_saving(
    encoder: TokenWindows, train: list[list[str]], later: list[list[str]]
) -> None:
    encoder.fit(talk_of(train))
    state = encoder._to_state()
    parameters, settings = json.loads(json.dumps([encoder.get_params(), state.settings]))
    other = TokenWindows(**parameters)
    other._restore(State(state.arrays, settings))
    assert other.feature_names() == encoder.feature_names()
    assert same(other.transform(talk_of(later)), encoder.transform(talk_of(later)))
    other.fit(talk_of(train))


@given(windows, sentences, st.randoms(use_true_random=False))
def test_the_order_of_the_records_vocabulary_does_not_matter(
    encoder: TokenWindows, train: list[list[str]], random: Any
) -> None:
    talk = talk_of(train)
    shuffled = [*talk.vocabulary, "never", "said"]
    random.shuffle(shuffled)
    other = TokenWindows(**encoder.get_params())
    assert same(encoder.fit_transform(talk), other.fit_transform(talk_of(train, shuffled)))
    assert other.feature_names() == encoder.feature_names()


def test_large_numbers_are_searched_as_small_ones_are_looked_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(2)
    train = [[str(w) for w in rng.integers(0, 9, rng.integers(0, 7))] for _ in range(50)]
    later = [[str(w) for w in rng.integers(0, 12, rng.integers(0, 7))] for _ in range(50)]
    encoder = TokenWindows(conjunctions=((-1, 0), (-1, 0, 1), (-2, -1, 0, 1)), min_count=2)
    rows, found = encoder.fit_transform(talk_of(train)), encoder.transform(talk_of(later))
    monkeypatch.setattr(keys, "MOST_SLOTS", 0)
    other = TokenWindows(**encoder.get_params())
    assert same(other.fit_transform(talk_of(train)), rows)
    assert same(other.transform(talk_of(later)), found)
    assert same(
        other.fit(talk_of([[]])).transform(talk_of([])),
        encoder.fit(talk_of([])).transform(talk_of([])),
    )


@given(windows, sentences, st.integers(2, 20))
def test_hashed_columns_are_those_of_the_strings(
    encoder: TokenWindows, later: list[list[str]], hash_bits: int
) -> None:
    encoder.set_params(hash_bits=hash_bits, min_count=1)
    talk = talk_of(later)
    rows = encoder.fit_transform(talk)
    assert (rows.width, rows.unseen, encoder.values_, encoder.columns_) == (
        1 << hash_bits,
        0,
        {},
        [],
    )
    assert same(TokenWindows(**encoder.get_params()).learn([]).transform(talk), rows)
    said = [position for sentence in encoder.strings(talk) for position in sentence]
    for features, number in zip(said, rows.index, strict=True):
        columns = [column_of(feature, hash_bits) for feature in features]
        found = rows.columns[rows.indptr[number] : rows.indptr[number + 1]]
        assert sorted(columns) == found.tolist()


def column_of(feature: str, hash_bits: int) -> int:
    """Hash with Python's whole numbers what `hashing` does with arrays."""
    stem, mark, values = feature.partition("=")
    bits = hash_of(stem)
    for value in values.split("|") if mark else ():
        bits = (bits * 0x9E3779B97F4A7C15 & 2**64 - 1) ^ hash_of(value)
        bits = (bits ^ bits >> 32) * 0xFF51AFD7ED558CCD & 2**64 - 1
        bits ^= bits >> 32
    return bits & (1 << hash_bits) - 1


def hash_of(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def test_phrases_are_not_shown_whole() -> None:
    """Neither in the line that says what a model is, nor in an error."""
    phrases = [f"person {number}" for number in range(56)]
    assert repr(TokenWindows(gazetteers={"who": phrases})) == (
        "TokenWindows(gazetteers={'who': [56 items]})"
    )
    with pytest.raises(ParameterError, match=r"must be a dict.* got a dict of 2") as raised:
        TokenWindows(gazetteers={"who": ["ann"], "else": ["  "]}).fit(talk_of([["a"]]))
    assert "ann" not in str(raised.value)


def test_gazetteers_take_the_longest_phrase_from_the_left() -> None:
    encoder = TokenWindows(
        words=None,
        conjunctions=(),
        prefixes=(),
        suffixes=(),
        digits=False,
        bias=False,
        gazetteers={"city": ["New York", "york harbor", "new york city", "rome", "new"]},
        token_classes={"time": r"\d{1,2}:\d\d"},
        class_window=(0, 1),
        prepositions=True,
    )
    talk = talk_of([["From", "new", "york", "harbor", "10:30"], ["York"], ["NEW", "York", "City"]])
    assert encoder.strings(talk) == [
        [
            ["in:city[1]=B"],
            ["in:city=B", "in:city[1]=I", "preposition=from"],
            ["in:city=I", "preposition=from"],
            ["is:time[1]=yes", "preposition=from"],
            ["is:time=yes", "preposition=from"],
        ],
        [[]],
        [["in:city=B", "in:city[1]=I"], ["in:city=I", "in:city[1]=I"], ["in:city=I"]],
    ]
    assert spelled(encoder.fit(talk).feature_names(), encoder.transform(talk)) == [
        [Counter(position) for position in sentence] for sentence in encoder.strings(talk)
    ]


def test_a_large_gazetteer_is_fast_and_saved_with_the_model(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    words = [f"w{number}" for number in range(2000)]
    drawn = rng.choice(words, (30_000, 3)).tolist()
    phrases = [" ".join(three[: 1 + len(three[0]) % 3]) for three in drawn]
    talk = talk_of([rng.choice(words, 12).tolist() for _ in range(300)])
    encoder = TokenWindows(gazetteers={"things": phrases}, prefixes=(), suffixes=())
    rows = encoder.fit_transform(talk)
    save(encoder, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert same(loaded.transform(talk), rows)
    assert loaded.get_params() == encoder.get_params()
    assert spelled(encoder.feature_names(), rows) == [
        [Counter(position) for position in sentence] for sentence in encoder.strings(talk)
    ]


def test_features_of_one_sentence() -> None:
    talk = talk_of([["to", "San", "Jose"]])
    encoder = TokenWindows(shapes=True, lengths=True, previous_words=2)
    assert encoder.strings(talk)[0][2] == [
        "bias",
        "w[-2]=to",
        "w[-1]=San",
        "w[0]=Jose",
        "w[1]=</s>",
        "w[2]=</s>",
        "w[-1]|w[0]=San|Jose",
        "w[0]|w[1]=Jose|</s>",
        "before=San",
        "before=to",
        "prefix3=Jos",
        "suffix3=ose",
        "shape=Xx",
        "digit=no",
        "length=4",
    ]
    assert len(encoder.fit(talk).feature_names()) == len(set(encoder.feature_names()))


def test_without_marks_nothing_reaches_beyond_the_sentence() -> None:
    encoder = TokenWindows(marks=False, attribute_window=(0, 1))
    strings = encoder.strings(talk_of([["hi"]]))
    assert strings == [[["bias", "w[0]=hi", "prefix3=hi", "suffix3=hi", "digit=no"]]]


def test_lowercase_leaves_shapes_and_lengths_alone() -> None:
    encoder = TokenWindows(
        words=(0, 0), conjunctions=(), lowercase=True, shapes=True, lengths=True, bias=False
    )
    # The small letter of this capital is two characters long.
    assert encoder.strings(talk_of([["İX1"]]))[0][0] == [
        "w[0]=i̇x1",
        "prefix3=i̇x",
        "suffix3=̇x1",
        "shape=X0",
        "digit=yes",
        "length=3",
    ]


def test_everything_unseen() -> None:
    encoder = TokenWindows().fit(talk_of([["a"], ["b", "a"]]))
    rows = encoder.transform(talk_of([["x9"]]))
    # Only the bias and the four marks around the word are known.
    assert (rows.unseen, len(rows.columns)) == (6, 5)
    nothing = TokenWindows().fit(talk_of([]))
    assert nothing.feature_names() == []
    rows = nothing.transform(talk_of([["a"], []]))
    assert (rows.width, rows.unseen, rows.unique, len(rows)) == (0, 11, 1, 2)


def test_a_slice_that_shares_its_arrays() -> None:
    whole = talk_of([["a", "b"], ["c", "a"], ["b"]])
    part = Talk(whole.vocabulary, whole.token_codes, whole.offsets[1:3])
    encoder = TokenWindows()
    assert same(encoder.fit_transform(part), TokenWindows().fit_transform(talk_of([["c", "a"]])))
    assert encoder.strings(part) == encoder.strings(talk_of([["c", "a"]]))


def test_no_templates_at_all() -> None:
    encoder = TokenWindows(
        words=None, conjunctions=(), prefixes=(), suffixes=(), digits=False, bias=False
    )
    rows = encoder.fit_transform(talk_of([["a", "b"], []]))
    assert (rows.width, rows.unique, rows.index.tolist()) == (0, 1, [0, 0])


@pytest.mark.parametrize(
    "wrong",
    [
        {"words": (2, 1)},
        {"words": (0,)},
        {"words": 2},
        {"conjunctions": ((0,),)},
        {"conjunctions": ((0, 0),)},
        {"conjunctions": ((0, 1), (0, 1))},
        {"conjunctions": (0, 1)},
        {"prefixes": (0,)},
        {"prefixes": (3, 3)},
        {"suffixes": 3},
        {"digits": 1},
        {"attribute_window": None},
        {"previous_words": -1},
        {"min_count": 0},
        {"gazetteers": {"city": "rome"}},
        {"gazetteers": {"city": ["rome", " "]}},
        {"gazetteers": ["rome"]},
        {"gazetteers": {1: ["rome"]}},
        {"token_classes": {"time": "("}},
        {"token_classes": {"time": ["10:30"]}},
        {"class_window": (1, 0)},
        {"prepositions": False},
        {"prepositions": "from"},
        {"prepositions": [""]},
        {"hash_bits": 0},
        {"min_count": 2, "hash_bits": 8},
        {"hash_bits": 31},
    ],
    ids=repr,
)
def test_parameters_are_checked_at_fit(wrong: dict[str, Any]) -> None:
    encoder = TokenWindows(**wrong)
    for attempt in (encoder.fit, encoder.strings):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            attempt(talk_of([["a"]]))


def test_the_message_about_a_large_parameter_is_short() -> None:
    with pytest.raises(ParameterError) as caught:
        TokenWindows(gazetteers={"city": ["rome"] * 10_000, "town": 3}).fit(talk_of([["a"]]))  # type: ignore[dict-item]
    assert len(str(caught.value)) < 600


def test_other_things_than_records_are_refused() -> None:
    for wrong in ([["a"]], None, "a"):
        with pytest.raises(InputError, match="Utterances"):
            TokenWindows().fit(wrong)  # type: ignore[arg-type]


def test_nothing_before_fit() -> None:
    with pytest.raises(NotFittedError):
        TokenWindows().transform(talk_of([]))
    with pytest.raises(NotFittedError):
        TokenWindows().feature_names()
    with pytest.raises(NotFittedError):
        TokenWindows()._to_state()


def test_shapes() -> None:
    assert [shape(word) for word in ("", "NYC", "x-9", "日本", "٣", "\ud800")] == [
        "",
        "X",
        "x-0",
        "x",
        "0",
        "-",
    ]


def test_utterances_are_records() -> None:
    from purport.records.utterances import Utterances

    lists = [["a", "b"], [], ["b", "c", "a"]]
    talk = Utterances.from_lists(lists)
    assert same(TokenWindows().fit_transform(talk), TokenWindows().fit_transform(talk_of(lists)))
    assert same(
        TokenWindows().fit_transform(talk[1:]), TokenWindows().fit_transform(talk_of(lists[1:]))
    )


def test_the_figures_of_atis(real_data: Path) -> None:
    with gzip.open(real_data / "atis" / "train.jsonl.gz", "rt", encoding="utf-8") as file:
        lists = [json.loads(line)["tokens"] for line in file]
    talk = talk_of(lists)
    encoder = TokenWindows()
    rows = encoder.fit_transform(talk)
    assert (rows.positions, rows.unique, rows.width) == (50_497, 27_046, 16_995)
    assert set(np.diff(rows.indptr)) == {11}
    other = FeatureStrings().fit_transform(encoder.strings(talk))
    assert (other.unique, other.width) == (27_046, 16_995)
    assert other.index.tolist() == rows.index.tolist()
    rich = TokenWindows(**RICH.get_params()).fit_transform(talk)
    assert (rich.positions, rich.unseen, rich.values) == (50_497, 0, None)


@given(windows, sentences, st.lists(st.integers(0, 6), max_size=4))
def test_batches_teach_what_all_records_teach_at_once(
    encoder: TokenWindows, train: list[list[str]], cuts: list[int]
) -> None:
    rows = encoder.fit_transform(talk_of(train))
    ends = [0, *sorted(cuts), len(train)]
    batches = [talk_of(train[start:stop]) for start, stop in pairwise(ends)]
    other = TokenWindows(**encoder.get_params()).learn(iter(batches))
    assert other.feature_names() == encoder.feature_names()
    states = [each._to_state().arrays for each in (encoder, other)]
    assert states[0].keys() == states[1].keys()
    assert all(states[1][name].tolist() == array.tolist() for name, array in states[0].items())
    assert same(other.transform(talk_of(train)), rows)
