"""What the tests of the sequence models share: small invented corpora, and how data are cut."""

from __future__ import annotations

import numpy as np
import pytest

from purport.sequence import partitions


@pytest.fixture
def cut_small(monkeypatch):
    """Return a function that makes fits cut their data after about so many positions."""
    return lambda positions: monkeypatch.setattr(partitions, "WORK", positions * partitions.BASE)


def invent(seed, sequences=60, longest=7, words=12, labels=("O", "B-x", "I-x", "B-y")):
    """Sequences of feature strings; their labels hang on the word, the word before, and chance."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for length in random.integers(0, longest + 1, sequences):
        drawn = random.integers(0, words, length).tolist()
        before = [words, *drawn][:length]
        X.append([[f"w={w}", f"before={b}", "bias"] for w, b in zip(drawn, before, strict=True)])
        noise = random.random(length) < 0.15
        y.append(
            [
                labels[(w + b * n) % len(labels)]
                for w, b, n in zip(drawn, before, noise.tolist(), strict=True)
            ]
        )
    return X, y


@pytest.fixture(scope="session")
def corpus():
    return invent(seed=4)


@pytest.fixture(scope="session")
def other_corpus():
    """Of the same kind, with words that the first never shows."""
    return invent(seed=5, words=15)
