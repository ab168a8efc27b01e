"""What the CRF learns beyond fully labelled data in memory: batches, labels in part, rules."""

from bench.benchmark import Part
from bench.learning import batches, partial, rules

ABOUT = "a CRF on more data than memory holds, on labels known in part, and under rules"

PARTS = {
    "rules": Part("what holding every path to BIO costs and brings", rules.run, slow=True),
    "partial": Part("labels known in part, beside leaving such sentences out", partial.run, True),
    "batches": Part("a million sequences in batches, beside the optimum", batches.run, slow=True),
}
