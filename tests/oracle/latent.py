"""Models with hidden states written down: every path of states, every labelling."""

from __future__ import annotations

import itertools

import numpy as np
from oracle.crf import features_of
from oracle.enumeration import log_sum


def softmax(scores):
    """Normalise each column."""
    powers = np.exp(scores - scores.max(axis=0))
    return powers / powers.sum(axis=0)


class HiddenWrittenDown:
    """A fitted model with hidden states, its parameters given by name."""

    def __init__(self, model):
        self.labels = model.classes_.tolist()
        self.columns = {name: k for k, name in enumerate(model._encoder.feature_names())}
        self.states = model._shape.states
        self.fixed = None if model._shape.fixed is None else model._shape.fixed.shares
        self.joint = model._shape.joint

    def parts(self, theta):
        """Return weights (F, S), biases (S,), transitions (S, S) and p(y | h) (L, S)."""
        rows = theta.reshape(-1, self.states)
        F, S = len(self.columns), self.states
        weights, biases, transitions = rows[:F], rows[F], rows[F + 1 : F + 1 + S]
        labels = rows[F + 1 + S :]
        if self.joint:
            # p(y, h | x) is proportional to exp(all scores); the sum over y is the state's own.
            sums = np.log(np.exp(labels).sum(axis=0))
            biases = biases + sums - sums.mean()
        return (
            weights,
            biases,
            transitions,
            self.fixed if self.fixed is not None else (softmax(labels)),
        )

    def path_scores(self, theta, sequence):
        """Return every path of states and its log score."""
        weights, biases, transitions, _ = self.parts(theta)
        paths = list(itertools.product(range(self.states), repeat=len(sequence)))
        totals = []
        for path in paths:
            total = 0.0
            for position, state in zip(sequence, path, strict=True):
                total += biases[state]
                for feature, value in features_of(position).items():
                    if feature in self.columns:
                        total += value * weights[self.columns[feature], state]
            total += sum(transitions[pair] for pair in itertools.pairwise(path))
            totals.append(total)
        return paths, np.array(totals)

    def log_z(self, theta, sequence):
        return log_sum(self.path_scores(theta, sequence)[1])

    def log_a(self, theta, sequence, known):
        """Return log of the sum over paths, each times the probability that it gives labels."""
        *_, shares = self.parts(theta)
        paths, totals = self.path_scores(theta, sequence)
        agree = []
        for path in paths:
            factor = 1.0
            for state, label in zip(path, known, strict=True):
                factor *= sum(shares[self.labels.index(one), state] for one in self.possible(label))
            agree.append(np.log(factor) if factor > 0.0 else -np.inf)
        return log_sum(totals + np.array(agree))

    def possible(self, label):
        if label is None:
            return self.labels
        return [label] if isinstance(label, str) else list(label)

    def log_probability(self, theta, sequence, labels):
        return self.log_a(theta, sequence, labels) - self.log_z(theta, sequence)

    def state_posteriors(self, theta, sequence):
        paths, totals = self.path_scores(theta, sequence)
        shares = np.exp(totals - log_sum(totals))
        found = np.zeros((len(sequence), self.states))
        for path, share in zip(paths, shares, strict=True):
            for t, state in enumerate(path):
                found[t, state] += share
        return found

    def labellings(self, theta, sequence):
        """Return every labelling with its probability, the most probable first."""
        *_, shares = self.parts(theta)
        paths, totals = self.path_scores(theta, sequence)
        chosen = np.array(list(itertools.product(range(len(self.labels)), repeat=len(sequence))))
        agree = np.ones((len(chosen), len(paths)))
        for t in range(len(sequence)):
            agree *= shares[chosen[:, t]][:, np.array(paths)[:, t]]
        found = agree @ np.exp(totals - log_sum(totals))
        named = [[self.labels[label] for label in labels] for labels in chosen.tolist()]
        return sorted(zip(named, found.tolist(), strict=True), key=lambda one: -one[1])

    def objective(self, theta, X, y, weights, l2, sparsity, unlabeled=(), share=0.0):
        """Return what is minimised, as the documentation of the model states it."""
        told = [
            (sequence, known, weight)
            for sequence, known, weight in zip(X, y, weights, strict=True)
            if weight and any(label is not None for label in known)
        ]
        count = sum(weight for *_, weight in told)
        total = 0.0
        for sequence, known, weight in told:
            total -= weight * self.log_a(theta, sequence, known)
            total += (1.0 - share) * weight * self.log_z(theta, sequence)
        filled = [sequence for sequence in unlabeled if sequence]
        for sequence in filled:
            total += share * count / len(filled) * self.log_z(theta, sequence)
        rows = theta.reshape(-1, self.states)
        biases = rows[len(self.columns)]
        total += l2 * (float(theta @ theta) - float(biases @ biases))
        if self.fixed is None:
            *_, shares = self.parts(theta)
            terms = np.where(shares > 0.0, shares * np.log(np.maximum(shares, 1e-300)), 0.0)
            total += count * sparsity * -float(terms.sum())
        return total
