"""Weights of a model file of CRFsuite, to the last bit: `Tagger.dump` rounds them to six digits."""

from __future__ import annotations

import struct

STATE, TRANSITION = 0, 1


def read_weights(path, tagger):
    """Return the state weights by (attribute, label) and the transitions by (label, next label)."""
    content = path.read_bytes()
    assert content[:4] == b"lCRF"
    start = struct.unpack_from("<I", content, 28)[0]
    assert content[start : start + 4] == b"FEAT"
    count = struct.unpack_from("<I", content, start + 8)[0]
    info = tagger.info()
    labels = {int(number): name for name, number in info.labels.items()}
    attributes = {int(number): name for name, number in info.attributes.items()}
    states, transitions = {}, {}
    for kind, source, target, weight in struct.iter_unpack(
        "<IIId", content[start + 12 : start + 12 + 20 * count]
    ):
        if kind == STATE:
            states[attributes[source], labels[target]] = weight
        else:
            assert kind == TRANSITION
            transitions[labels[source], labels[target]] = weight
    return states, transitions
