"""Tokens a second from words to rows: token windows beside plain Python making the strings.

The peers stop at strings or dictionaries, which a CRF still has to encode; ours are rows of
numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

from bench.benchmark import Setting
from bench.crf.data import Sentences
from bench.tables import Row, Table
from bench.timing import Ratio, Samples, alternate
from purport.features.token_windows import TokenWindows

OURS, PLAIN, DICTIONARIES = (
    "purport, records to rows",
    "plain Python, the same strings",
    "word2features of sklearn-crfsuite",
)


def run(setting: Setting) -> Iterator[Table]:
    """Yield the tables of every class of features, one after the other."""
    yield from token_windows(setting)


def token_windows(setting: Setting) -> Iterator[Table]:
    """Yield a table for each set."""
    for name in ("atis", "snips"):
        sentences = Sentences.read(setting, name, "train", one_of=8 if setting.quick else 1)
        words = sentences.records.tokens
        windows = TokenWindows().fit(sentences.records)
        if plain_strings(words) != windows.strings(sentences.records):
            raise AssertionError("plain Python makes other strings than TokenWindows")
        systems: dict[str, Callable[[], Any]] = {
            OURS: lambda w=windows, s=sentences: w.transform(s.records),
            "purport, learning the columns too": lambda s=sentences: TokenWindows().fit_transform(
                s.records
            ),
            PLAIN: lambda w=words: plain_strings(w),
            DICTIONARIES: lambda w=words: [
                [word2features(sentence, place) for place in range(len(sentence))] for sentence in w
            ],
        }
        samples = alternate(systems, setting.rounds)
        yield Table(
            f"Features of {sentences.name}: {sentences.tokens} tokens",
            "tokens/s",
            list(_rows(samples, sentences.tokens)),
            [
                "Default TokenWindows; plain Python makes the very same strings, checked before."
                " word2features is the usual one of sklearn-crfsuite's tutorial, without tags of"
                " parts of speech. One thread; systems alternate; medians by the wall clock. The"
                " ratio is to plain Python.",
            ],
            judged=not setting.quick,
        )


def _rows(samples: dict[str, Samples], tokens: int) -> Iterator[Row]:
    for name, taken in samples.items():
        ratio = Ratio.of(samples[PLAIN].wall, taken.wall)
        by_cpu = Ratio.of(samples[PLAIN].cpu, taken.cpu)
        spread = None if name == PLAIN else ratio.spread
        note = f"by CPU time {by_cpu}; {taken}"
        yield Row(name, tokens / median(taken.wall), ratio.middle, spread, None, note)


def plain_strings(sentences: list[list[str]]) -> list[list[list[str]]]:
    """Make the strings of the default TokenWindows as one would by hand."""
    made = []
    for sentence in sentences:
        around = ["<s>", "<s>", *sentence, "</s>", "</s>"]
        rows = []
        for place, word in enumerate(sentence):
            w2, w1, w0, n1, n2 = around[place : place + 5]
            row = [
                "bias",
                f"w[-2]={w2}",
                f"w[-1]={w1}",
                f"w[0]={w0}",
                f"w[1]={n1}",
                f"w[2]={n2}",
                f"w[-1]|w[0]={w1}|{w0}",
                f"w[0]|w[1]={w0}|{n1}",
                f"prefix3={word[:3]}",
                f"suffix3={word[-3:]}",
                "digit=yes" if any(map(str.isdigit, word)) else "digit=no",
            ]
            rows.append(row)
        made.append(rows)
    return made


def word2features(sentence: list[str], place: int) -> dict[str, Any]:
    """Make the features of a word as the tutorial of sklearn-crfsuite does, but for its tags."""
    word = sentence[place]
    features = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word[-2:]": word[-2:],
        "word.isupper()": word.isupper(),
        "word.istitle()": word.istitle(),
        "word.isdigit()": word.isdigit(),
    }
    if place > 0:
        before = sentence[place - 1]
        features |= {
            "-1:word.lower()": before.lower(),
            "-1:word.istitle()": before.istitle(),
            "-1:word.isupper()": before.isupper(),
        }
    else:
        features["BOS"] = True
    if place < len(sentence) - 1:
        after = sentence[place + 1]
        features |= {
            "+1:word.lower()": after.lower(),
            "+1:word.istitle()": after.istitle(),
            "+1:word.isupper()": after.isupper(),
        }
    else:
        features["EOS"] = True
    return features
