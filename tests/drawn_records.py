"""Records as Hypothesis draws them: rows as JSON lines hold them, of every allowed shape."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Rows = list[dict[str, Any]]

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)
labels = st.sampled_from(["O", "B-x", "", "_", "a b"])
names = st.sampled_from(["shop", "labels", "probability", "Ort", "obs.n", "session.x", "step.t"])
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.booleans() | numbers | words,
    lambda inner: (
        st.lists(inner | st.none(), max_size=2)
        | st.dictionaries(words, inner | st.none(), max_size=2)
    ),
    max_leaves=4,
)
extras = st.dictionaries(names, values, max_size=2)
times = (
    st.integers(-(10**12), 10**12)
    | st.floats(-1e12, 1e12)
    | st.datetimes().map(lambda when: when.isoformat(" "))
)


def utterances() -> st.SearchStrategy[Rows]:
    """Draw rows of utterances."""
    return st.lists(_utterance(), max_size=5)


def sessions() -> st.SearchStrategy[Rows]:
    """Draw rows of sessions."""
    return st.lists(_session(), max_size=5)


def pages() -> st.SearchStrategy[Rows]:
    """Draw rows of result pages."""
    return st.lists(_page(), max_size=5)


def plain_rows(position: str) -> st.SearchStrategy[Rows]:
    """Draw rows that every format can hold, by what a position is called."""
    token = st.sampled_from(["fly", "to", "rome", "東京", "don't", "#", "O", "null", "1"])
    label = st.sampled_from(["O", "B-x", "I-x"])
    if position == "tokens":
        lists = st.lists(st.tuples(token, label, label), min_size=1, max_size=4)
        row = st.builds(
            lambda told, intent: (
                {
                    "tokens": [word for word, _, _ in told],
                    "slots": [slot for _, slot, _ in told],
                    "labels": [found for _, _, found in told],
                }
                | intent
            ),
            lists,
            st.fixed_dictionaries({}, optional={"intent": token, "domain": token}),
        )
    elif position == "docs":
        name = token.filter(lambda name: " " not in name) | st.sampled_from([7, 12, "07"])
        result = st.tuples(name, st.integers(0, 1))
        row = st.builds(
            lambda query, results, known: (
                {
                    "qid": query,
                    "docs": [doc for doc, _ in results],
                    "clicks": [click for _, click in results],
                }
                | known
            ),
            token | st.integers(0, 9),
            st.lists(result, min_size=1, max_size=4),
            st.fixed_dictionaries(
                {}, optional={"sid": token | st.integers(0, 3), "t": st.integers(0, 10**9)}
            ),
        )
    else:
        step = st.fixed_dictionaries(
            {"obs": token},
            optional={
                "features": st.dictionaries(
                    token, st.integers(-9, 9) | st.floats(-1, 1) | st.booleans() | token, min_size=1
                ),
                "clicked": st.lists(token, min_size=1, max_size=2),
                "label": label,
                "t": st.integers(0, 10**9),
                "who": token,
                "shop": token,
            },
        )
        row = st.lists(step, min_size=1, max_size=4).map(lambda steps: {"steps": steps})
    return st.lists(row, max_size=6).map(
        lambda rows: [{"id": f"r{number}"} | row for number, row in enumerate(rows)]
    )


def _optional(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | inner


@st.composite
def _utterance(draw: st.DrawFn) -> dict[str, Any]:
    tokens = draw(st.lists(words, max_size=4))
    told = st.lists(_optional(labels), min_size=len(tokens), max_size=len(tokens))
    row = draw(extras) | {
        "id": draw(_optional(words)),
        "tokens": tokens,
        "slots": draw(_optional(told)),
        "intent": draw(_optional(words)),
        "domain": draw(_optional(words)),
    }
    return row | draw(_predicted(len(tokens)))


@st.composite
def _session(draw: st.DrawFn) -> dict[str, Any]:
    steps = draw(st.lists(_step(), max_size=4))
    row = draw(extras) | {"id": draw(_optional(words)), "steps": steps}
    return row | draw(_predicted(len(steps)))


@st.composite
def _page(draw: st.DrawFn) -> dict[str, Any]:
    named = words.filter(bool) | st.integers(-2, 1 << 64) | st.sampled_from(["07", "7", "9" * 19])
    docs = draw(st.lists(named, min_size=1, max_size=4))
    clicks = st.lists(st.booleans() | st.integers(0, 1), min_size=len(docs), max_size=len(docs))
    numbers_ = st.integers(-(10**12), 10**12) | st.floats(-1e12, 1e12)
    return draw(extras) | {
        "id": draw(_optional(named)),
        "sid": draw(_optional(named)),
        "t": draw(_optional(numbers_)),
        "qid": draw(named),
        "docs": docs,
        "clicks": draw(clicks),
    }


def _predicted(length: int) -> st.SearchStrategy[dict[str, Any]]:
    share = st.floats(0, 1)
    told = st.lists(_optional(labels), min_size=length, max_size=length)
    each = st.lists(share, min_size=length, max_size=length)
    return st.fixed_dictionaries({}, optional={"labels": told, "probability": share | each})


def _step() -> st.SearchStrategy[dict[str, Any]]:
    features = st.dictionaries(words, numbers.filter(_fits) | st.booleans() | words, max_size=3)
    return st.builds(
        lambda extra, known: extra | known,
        extras,
        st.fixed_dictionaries(
            {},
            optional={
                "obs": words,
                "features": features,
                "clicked": st.lists(words, max_size=2),
                "label": labels,
                "t": times,
                "who": words,
            },
        ),
    )


def _fits(number: float) -> bool:
    return abs(number) < 2**53
