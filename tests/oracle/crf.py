"""The CRF written down: features as dicts, every labelling enumerated."""

from __future__ import annotations

import itertools

import numpy as np
from oracle.enumeration import log_sum


def features_of(position):
    """Return {feature: value} of a position, a list of strings or a flat dict."""
    if not isinstance(position, dict):
        found = {}
        for name in position:
            found[name] = found.get(name, 0.0) + 1.0
        return found
    return {
        f"{name}:{value}" if isinstance(value, str) else name: 1.0
        if isinstance(value, str)
        else float(value)
        for name, value in position.items()
    }


class WrittenDown:
    """The weights of a fitted CRF by name, in the order of theta."""

    def __init__(self, crf):
        self.labels = crf.classes_.tolist()
        layout, arcs = crf._layout, crf._arcs
        self.names = [
            (feature, self.labels[layout.targets[place]])
            for column, feature in enumerate(crf.attributes_)
            for place in range(layout.pointers[column], layout.pointers[column + 1])
        ]
        self.pairs = [
            (self.labels[i], self.labels[j])
            for i, j in zip(arcs.sources.tolist(), arcs.targets.tolist(), strict=True)
        ]

    def __len__(self):
        return len(self.names) + len(self.pairs)

    def score(self, theta, sequence, path):
        weights = dict(zip(self.names, theta, strict=False))
        of_pairs = dict(zip(self.pairs, theta[len(self.names) :], strict=True))
        total = 0.0
        for position, label in zip(sequence, path, strict=True):
            for feature, value in features_of(position).items():
                total += value * weights.get((feature, label), 0.0)
        for pair in itertools.pairwise(path):
            total += of_pairs.get(pair, 0.0)
        return total

    def labellings(self, sequence, known=None):
        """Yield every labelling that agrees with the labels known."""
        known = [None] * len(sequence) if known is None else known
        choices = [self.labels if label is None else [label] for label in known]
        return itertools.product(*choices)

    def log_sum(self, theta, sequence, known=None):
        paths = self.labellings(sequence, known)
        return log_sum(np.array([self.score(theta, sequence, path) for path in paths]))

    def negative_log_likelihood(self, theta, X, y, weights, l2):
        total = l2 * float(theta @ theta)
        for sequence, known, weight in zip(X, y, weights, strict=True):
            free = self.log_sum(theta, sequence)
            total += weight * (free - self.log_sum(theta, sequence, known))
        return total
