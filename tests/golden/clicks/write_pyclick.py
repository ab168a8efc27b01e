"""Writes what PyClick gives on a log of drawn clicks, to be met without PyClick.

    PURPORT_PEERS=DIR python tests/golden/clicks/write_pyclick.py

run once from the root of the checkout, with a checkout of PyClick in ``DIR/PyClick``. It writes

* ``pyclick.json``: a log of 300 pages and one held out of 60, and of each model its parameters, its
  log-likelihood, and both perplexities on both, by rank too;
* ``pyclick_pages.json``: what PyClick counts on a few pages made by hand, which tell apart where
  its DBN and CCM leave the exact posterior.

Everything is numbers drawn here. `bench.clicks.pyclick` says how PyClick trains and measures.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from bench.clicks import pyclick

HERE = Path(__file__).parent
SEED, HELD_OUT_SEED, PARAMETER_SEED = 20, 21, 22
PAGES, HELD_OUT, QUERIES, DOCS, RANKS = 300, 60, 6, 14, 10
ITERATIONS = {"UBM": (1, 5, 20), "PBM": (1, 5, 20), "DBN": (5,), "CCM": (5,)}


def log(seed, count, docs):
    """Draw pages; users read on by rank and by how far down their last click lies.

    The same document is good for one query and bad for another, and is seen at many ranks.
    """
    rng = np.random.default_rng(seed)
    attractiveness = np.random.default_rng(PARAMETER_SEED).beta(0.8, 1.6, (QUERIES, DOCS + 2))
    pages = []
    for _ in range(count):
        query = int(rng.choice(QUERIES, p=np.array([8, 5, 3, 2, 1, 1]) / 20))
        order = np.argsort(-attractiveness[query, :docs] + rng.normal(0.0, 0.5, docs))
        shown = [int(doc) for doc in order[:RANKS]]
        last, clicks = -1, []
        for rank, doc in enumerate(shown):
            examined = 0.95 * (0.85 if last < 0 else 0.75) ** (rank - max(last, 0))
            clicks.append(int(rng.random() < examined * attractiveness[query, doc]))
            last = rank if clicks[-1] else last
        pages.append({"query": query, "docs": shown, "clicks": clicks})
    return pages


def plain(values):
    """Return parameters as JSON can hold them: pairs as {query: {doc: value}}."""
    if not isinstance(values, dict):
        return values
    told: dict[str, dict[str, float]] = {}
    for (query, doc), value in sorted(values.items()):
        told.setdefault(str(query), {})[str(doc)] = value
    return told


def measured(model, sessions):
    return {
        "log_likelihood": model.log_likelihood(sessions),
        **{
            f"{kind}_perplexity": dict(
                zip(("mean", "at_rank"), model.perplexity(sessions, kind), strict=True)
            )
            for kind in ("conditional", "marginal")
        },
    }


def trained(name, iterations, train, test):
    model = pyclick.train(name, train, iterations)
    # To measure held-out pages makes parameters of new pairs, so those of training come first.
    parameters = {key: plain(values) for key, values in model.parameters().items()}
    return {
        "parameters": parameters,
        "train": measured(model, train),
        "held_out": measured(model, test),
    }


UNEQUAL = {"attractiveness": [0.3, 0.6, 0.45, 0.2], "satisfaction": [0.35, 0.55, 0.7, 0.15]}
EQUAL = {"attractiveness": [0.4] * 4, "satisfaction": [0.3] * 4}
SHARED = {
    "continuation": 0.8,
    "after_skip": 0.8,
    "after_click": 0.7,
    "after_satisfaction": 0.25,
}
EXAMINATION = [[0.9], [0.7, 0.8], [0.5, 0.6, 0.75], [0.35, 0.4, 0.5, 0.65]]
HAND_MADE = [
    ("a skip after a click", [1, 0], UNEQUAL),
    ("equal results, skips after a click", [1, 0, 0], EQUAL),
    ("no click", [0, 0], UNEQUAL),
    ("two clicks", [1, 1], UNEQUAL),
    ("a skip before a click", [0, 1], UNEQUAL),
    ("all at once", [0, 1, 1, 0], UNEQUAL),
]


def by_hand():
    """Return PyClick's counts of the pages made by hand, rank by rank."""
    pages = []
    for about, clicks, results in HAND_MADE:
        n = len(clicks)
        counts, given = {}, {}
        for name in pyclick.EM:
            parameters = {key: values[:n] for key, values in results.items()} | SHARED
            if name in {"UBM", "PBM"}:
                rows = EXAMINATION[:n]
                parameters["examination"] = rows if name == "UBM" else [row[0] for row in rows]
            given[name] = {key: parameters[key] for key in pyclick.NAMES[name].values()}
            counts[name] = {
                key: dict(zip(("numerator", "denominator"), sums, strict=True))
                for key, sums in pyclick.page_counts(name, clicks, given[name]).items()
            }
        pages.append({"about": about, "clicks": clicks, "parameters": given, "counts": counts})
    return pages


def write(name, content):
    """Write JSON with a line for each page and each model."""

    def lines(value, depth):
        if depth == 0 or not isinstance(value, dict | list):
            return json.dumps(value, separators=(",", ":"))
        inner = (
            [f"{json.dumps(key)}: {lines(one, depth - 1)}" for key, one in value.items()]
            if isinstance(value, dict)
            else [lines(one, depth - 1) for one in value]
        )
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        return f"{opening}\n" + ",\n".join(inner) + f"\n{closing}"

    (HERE / name).write_text(lines(content, 2) + "\n", encoding="utf-8")


def main():
    pages, held_out = log(SEED, PAGES, DOCS), log(HELD_OUT_SEED, HELD_OUT, DOCS + 2)
    train, test = (
        pyclick.sessions((page["query"], page["docs"], page["clicks"]) for page in one)
        for one in (pages, held_out)
    )
    source = f"PyClick, commit {pyclick.version()}"
    conventions = {
        "start": "parameters at 1/2; before each iteration each is 1 over 2, pages add to both",
        "value": "numerator / denominator, in EM at most 1 - 1e-6; in counting unbounded",
        "order": "all pages of an iteration see the parameters of the iteration before",
        "unseen": "1/2",
        "examination": "UBM: [rank][j], j = 0 no click before, k + 1 the last click at rank k",
        "continuation": "DCM: [rank]; its last is counted too",
        "cascade": "CM: conditional is marginal up to the first click, then 1e-6",
        "log_likelihood": "mean over pages of the mean over ranks, natural log",
        "perplexity": "at a rank 2 ** -(mean over pages of log2), then the mean over the ten ranks",
        "seeds": {"pages": SEED, "held_out": HELD_OUT_SEED, "attractiveness": PARAMETER_SEED},
    }
    models = {
        name: {str(n): trained(name, n, train, test) for n in ITERATIONS.get(name, (1,))}
        for name in (*pyclick.EM, *pyclick.COUNTING)
    }
    write(
        "pyclick.json",
        {
            "source": source,
            "conventions": conventions,
            "pages": pages,
            "held_out": held_out,
            "models": models,
        },
    )
    write("pyclick_pages.json", {"source": source, "pages": by_hand()})


if __name__ == "__main__":
    main()
