"""Labelled sentences in the forms that the systems take: records, and lists of feature strings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from zlib import crc32

from bench.benchmark import BenchError, Setting
from purport.features.token_windows import TokenWindows
from purport.records.utterances import Utterances

Tags = list[list[str]]


@dataclass(frozen=True)
class Sentences:
    """Sentences of one split, with their labels and the features of their tokens.

    Attributes
    ----------
    name : str
        Set and split.
    records : Utterances
        The sentences.
    labels : list of lists of str
        One label a token, as a rule the slots of the records.
    windows : TokenWindows
        The features.
    """

    name: str
    records: Utterances
    labels: Tags
    windows: TokenWindows

    @classmethod
    def read(
        cls,
        setting: Setting,
        name: str,
        split: str,
        windows: TokenWindows | None = None,
        one_of: int = 1,
    ) -> Sentences:
        """Read a split; `one_of` = k keeps every k-th sentence."""
        records = Utterances.read(setting.folder(name) / f"{split}.jsonl.gz")[::one_of]
        slots = records.slots
        if slots is None:
            raise BenchError(f"{name}, {split}: the sentences have no slots.")
        said = f"{name} {split}" if one_of == 1 else f"{name} {split}, one sentence of {one_of}"
        labels = [[label or "O" for label in sentence] for sentence in slots]
        return cls(said, records, labels, windows or TokenWindows())

    @cached_property
    def strings(self) -> list[list[list[str]]]:
        """The features as lists of strings, the same as the records give."""
        return self.windows.strings(self.records)

    @property
    def tokens(self) -> int:
        return sum(map(len, self.labels))

    @property
    def label_count(self) -> int:
        return len({label for sentence in self.labels for label in sentence})

    def relabelled(self, mapping: Callable[[str], str]) -> Sentences:
        """Return the same sentences with other labels; the strings are shared."""
        labels = [[mapping(label) for label in sentence] for sentence in self.labels]
        made = replace(self, labels=labels)
        made.__dict__["strings"] = self.strings
        return made

    def merged_by_hash(self, count: int) -> Sentences:
        """Merge labels into `count` by a hash: a synthetic mapping, without meaning."""
        return self.relabelled(lambda label: f"{crc32(label.encode()) % count}")

    def merged_by_slot(self, count: int) -> Sentences:
        """Keep the most frequent first parts of slot names, see `coarse`; the rest become O."""
        told = Counter(coarse(label) for sentence in self.labels for label in sentence)
        del told["O"]
        kept = {label for label, _ in told.most_common(count - 1)}
        return self.relabelled(lambda label: coarse(label) if coarse(label) in kept else "O")


def coarse(label: str) -> str:
    """Return the first part of a slot's name.

    >>> coarse("B-toloc.city_name"), coarse("O")
    ('toloc', 'O')
    """
    return label[2:].split(".")[0] if label != "O" else label
