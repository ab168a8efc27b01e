"""Click models trained and measured with plain loops and dictionaries, as PyClick does it.

A page is (query, docs, clicks). Parameters are a dictionary: of a name and a key its value, 1/2
where nothing is kept. Keys are (query, doc), a rank, (rank, j) for UBM's examination (j = 0: no
click before, k + 1: the last click at rank k), or () for what all pages share. Names are those of
`oracle.clicks`.

PyClick's posteriors of DBN and CCM are not exact. `DEVIATIONS` says where; with none of them the
counts here are those of enumeration, with all of them those of PyClick. Of its measures only the
conditional ones of CM are its own; see `chances_of_what_was_seen`.
"""

from __future__ import annotations

import math
from collections import defaultdict

DEVIATIONS = {
    "top": "P(clicks after a rank) takes the parameters of the results at the page's top",
    "unclicked": "a page without a click counts as if its last click were still to come",
    "forgetful": "attraction after the last click takes examination without the clicks before",
    "earlier": "CCM: of clicks before the last, none satisfied",
    "certain": "CCM: a last click's satisfaction lacks the factor of no click after it",
    "skip": "a skip that was not examined gets the chance of one that was",
    "last": "going on is counted at the last rank too",
}
TOP = 1 - 1e-6
NOTHING_CLICKED = 1e-6  # what PyClick's CM gives to anything after the first click


def keys(model, page):
    """Return of each rank the keys of the result and of UBM's cell."""
    query, docs, clicks = page
    pairs = [(query, doc) for doc in docs]
    last, cells = -1, []
    for r, clicked in enumerate(clicks):
        cells.append((r, last + 1) if model == "UBM" else r)
        last = r if clicked else last
    return pairs, cells


def value(parameters, name, key=()):
    return parameters.get((name, key), 0.5)


def counts(model, page, parameters, deviations=frozenset()):
    """Yield what a page adds: name, key, to the numerator, to the denominator."""
    pairs, cells = keys(model, page)
    clicks = page[2]
    last = max((r for r, clicked in enumerate(clicks) if clicked), default=len(clicks))
    if model in {"UBM", "PBM"}:
        for pair, cell, clicked in zip(pairs, cells, clicks, strict=True):
            a, e = value(parameters, "attractiveness", pair), value(parameters, "examination", cell)
            yield "attractiveness", pair, 1 if clicked else (1 - e) * a / (1 - a * e), 1
            yield "examination", cell, 1 if clicked else (1 - a) * e / (1 - a * e), 1
    elif model in {"DBN", "CCM"}:
        yield from chain_counts(model, pairs, clicks, parameters, deviations)
    for r, (pair, clicked) in enumerate(zip(pairs, clicks, strict=True)):
        if model in {"SDBN", "DCM"} and r <= last:
            yield "attractiveness", pair, clicked, 1
        if model == "SDBN" and clicked:
            yield "satisfaction", pair, int(r == last), 1
        if model == "DCM" and clicked:
            yield "continuation", r, int(r != last), 1
        if model == "CM" and not any(clicks[:r]):
            yield "attractiveness", pair, clicked, 1
        if model in {"GCTR", "RCTR"}:
            yield "rate", () if model == "GCTR" else r, clicked, 1
        if model == "DCTR":
            yield "attractiveness", pair, clicked, 1


def chain(model, pairs, parameters):
    """Return a, the chance s that a click satisfies, and the chances to go on: t1, t2, t3."""
    a = [value(parameters, "attractiveness", pair) for pair in pairs]
    if model == "CCM":
        names = ("after_skip", "after_click", "after_satisfaction")
        return a, a, *(value(parameters, name) for name in names)
    s = [value(parameters, "satisfaction", pair) for pair in pairs]
    k = value(parameters, "continuation")
    return a, s, k, k, 0.0


def chain_counts(model, pairs, clicks, parameters, deviations=frozenset()):
    """Yield what a page adds to DBN or CCM, rank by rank; see `DEVIATIONS`."""
    a, s, t1, t2, t3 = chain(model, pairs, parameters)
    n = len(clicks)
    m = [(1 - s[r]) * t2 + s[r] * t3 for r in range(n)]
    last = max((r for r in range(n) if clicks[r]), default=-1)
    unclicked = last == -1
    if unclicked and "unclicked" in deviations:
        last = n
    # P(any click at r or after | E_r), P(E_r), and P(E_r | clicks before r).
    later, plain, filtered = [0.0] * (n + 1), [1.0] * (n + 1), [1.0] * (n + 1)
    for r in reversed(range(n)):
        later[r] = a[r] + (1 - a[r]) * t1 * later[r + 1]
    for r in range(n):
        plain[r + 1] = plain[r] * ((1 - a[r]) * t1 + a[r] * m[r])
        went_on = (1 - a[r]) * t1 / (1 - a[r] * filtered[r])
        filtered[r + 1] = m[r] if clicks[r] else filtered[r] * went_on
    examined = plain if "forgetful" in deviations else filtered

    for r in range(n):
        # Of each way in which a user may have left this rank: satisfied or not, on or not.
        seen = clicks_seen_from(r + 1, clicks, a, m, t1, "top" in deviations)
        unseen = float(r >= last)
        ways = {}
        if clicks[r]:
            for y, p, t in ((0, 1 - s[r], t2), (1, s[r], t3)):
                ways[y, 1], ways[y, 0] = p * t * seen, p * (1 - t) * unseen
            total = sum(ways.values())
        else:
            ways[0, 1] = filtered[r] * (1 - a[r]) * t1 * seen
            ways[0, 0] = filtered[r] * (1 - a[r]) * (1 - t1) * unseen
            passed = (1 - filtered[r]) * unseen
            total = sum(ways.values()) + passed * (1 - a[r] if "skip" in deviations else 1.0)

        if clicks[r] or r < last:
            attracted = float(clicks[r])
        else:
            attracted = (1 - examined[r]) * a[r] / (1 - examined[r] * later[r])
        satisfied = 0.0
        if clicks[r]:
            # Here PyClick takes a formula of its own, so what is wrong above does not enter.
            seen = clicks_seen_from(r + 1, clicks, a, m, t1)
            both = [p * (t * seen + (1 - t) * unseen) for p, t in ((1 - s[r], t2), (s[r], t3))]
            satisfied = both[1] / sum(both)
        if model == "CCM" and clicks[r]:
            if "earlier" in deviations and r < last:
                satisfied = 0.0
            if "certain" in deviations and r == last:
                satisfied = s[r] / (1 - m[r] * later[r + 1])
        if model == "DBN":
            yield "attractiveness", pairs[r], attracted, 1
            if clicks[r]:
                yield "satisfaction", pairs[r], satisfied, 1
        else:
            yield "attractiveness", pairs[r], attracted + satisfied, 1 + clicks[r]

        if r < n - 1 or "last" in deviations:
            after = {0: "continuation"} if model == "DBN" else {0: "after_skip"}
            if model == "CCM" and clicks[r]:
                after = {0: "after_click", 1: "after_satisfaction"}
            for y, name in after.items():
                yield name, (), ways[y, 1] / total, (ways[y, 1] + ways[y, 0]) / total


def clicks_seen_from(start, clicks, a, m, t1, from_the_top=False):
    """Return P(clicks from a rank on | that rank is examined)."""
    examined = chance = 1.0
    for r in range(start, len(clicks)):
        at = r - start if from_the_top else r
        if clicks[r]:
            chance *= examined * a[at]
            examined = m[at]
        else:
            skipped = 1 - examined * a[at]
            chance *= skipped
            examined *= (1 - a[at]) * t1 / skipped
    return chance


def train(model, pages, iterations=1, deviations=frozenset()):
    """Return the parameters after so many iterations from 1/2, with one head in two beforehand."""
    parameters = {}
    top = TOP if model in {"UBM", "PBM", "DBN", "CCM"} else 1.0
    for _ in range(iterations):
        sums = defaultdict(lambda: [1.0, 2.0])
        for page in pages:
            for name, key, numerator, denominator in counts(model, page, parameters, deviations):
                sums[name, key][0] += numerator
                sums[name, key][1] += denominator
        parameters = {place: min(top, n / d) for place, (n, d) in sums.items()}
    return parameters


def conditional(model, page, parameters):
    """Return P(click at r | clicks before r) of each rank."""
    pairs, cells = keys(model, page)
    clicks = page[2]
    if model not in {"DBN", "CCM", "SDBN", "DCM", "CM"}:
        return [plain_chance(model, *places, parameters) for places in enumerate_of(pairs, cells)]
    found, examined = [], 1.0
    for r, pair in enumerate(pairs):
        a = value(parameters, "attractiveness", pair)
        skip, click = onward(model, r, pair, parameters)
        found.append(a * examined)
        examined = click if clicks[r] else examined * (1 - a) * skip / (1 - a * examined)
    return found


def marginal(model, page, parameters):
    """Return P(click at r) of each rank."""
    pairs, cells = keys(model, page)
    if model == "UBM":
        return ubm_marginal(pairs, parameters)
    if model not in {"DBN", "CCM", "SDBN", "DCM", "CM"}:
        return [plain_chance(model, *places, parameters) for places in enumerate_of(pairs, cells)]
    found, examined = [], 1.0
    for r, pair in enumerate(pairs):
        a = value(parameters, "attractiveness", pair)
        skip, click = onward(model, r, pair, parameters)
        found.append(a * examined)
        examined *= (1 - a) * skip + a * click
    return found


def enumerate_of(pairs, cells):
    return [(r, pair, cell) for r, (pair, cell) in enumerate(zip(pairs, cells, strict=True))]


def plain_chance(model, r, pair, cell, parameters):
    if model in {"UBM", "PBM"}:
        return value(parameters, "attractiveness", pair) * value(parameters, "examination", cell)
    if model == "DCTR":
        return value(parameters, "attractiveness", pair)
    return value(parameters, "rate", () if model == "GCTR" else r)


def onward(model, r, pair, parameters):
    """Return the chances to examine the next rank: after a skip, after a click."""
    if model in {"DBN", "CCM"}:
        _, (s,), t1, t2, t3 = chain(model, [pair], parameters)
        return t1, (1 - s) * t2 + s * t3
    if model == "SDBN":
        return 1.0, 1 - value(parameters, "satisfaction", pair)
    return 1.0, 0.0 if model == "CM" else value(parameters, "continuation", r)


def ubm_marginal(pairs, parameters):
    """Return marginals by the rank of the last click before."""
    last = {-1: 1.0}  # how probable it is that the last click so far was there
    found = []
    for r, pair in enumerate(pairs):
        a = value(parameters, "attractiveness", pair)
        chance = {k: a * value(parameters, "examination", (r, k + 1)) for k in last}
        found.append(sum(p * chance[k] for k, p in last.items()))
        last = {k: p * (1 - chance[k]) for k, p in last.items()} | {r: found[-1]}
    return found


def chances_of_what_was_seen(model, page, parameters, kind):
    """Return of each rank the probability of its click or skip."""
    clicks = page[2]
    # What PyClick's CM calls conditional is marginal up to the first click.
    chances = conditional if kind == "conditional" and model != "CM" else marginal
    clicked = chances(model, page, parameters)
    seen = [p if c else 1 - p for p, c in zip(clicked, clicks, strict=True)]
    if model == "CM" and kind == "conditional" and any(clicks):
        first = clicks.index(1)
        seen[first + 1 :] = [NOTHING_CLICKED] * (len(seen) - first - 1)
    return seen


def log_likelihood(model, pages, parameters):
    """Return the mean over pages of the mean over ranks, natural log."""
    total = 0.0
    for page in pages:
        seen = chances_of_what_was_seen(model, page, parameters, "conditional")
        total += sum(map(math.log, seen)) / len(seen)
    return total / len(pages)


def perplexity_at_rank(model, pages, parameters, kind):
    """Return 2 to the mean of -log2 at each rank; all pages are of one length."""
    seen = [chances_of_what_was_seen(model, page, parameters, kind) for page in pages]
    return [2 ** -(sum(map(math.log2, at)) / len(at)) for at in zip(*seen, strict=True)]
