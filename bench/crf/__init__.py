"""The linear-chain CRF beside CRFsuite's wrappers: speed, memory, optimum and accuracy."""

from bench.benchmark import Part
from bench.crf import (
    accuracy,
    gradient,
    memory,
    objective,
    optimiser,
    optimum,
    startup,
    tagging,
)

ABOUT = "the linear-chain CRF beside python-crfsuite, chaine and sklearn-crfsuite"

PARTS = {
    "gradient": Part(
        "one gradient on 120, 22 and 8 labels, and with all transitions", gradient.run
    ),
    "tagging": Part("tokens a second from lists of strings", tagging.run),
    "startup": Part("the first fit in a new process", startup.run),
    "memory": Part("peak memory of training", memory.run),
    "optimiser": Part("what L-BFGS costs beside the gradient", optimiser.run),
    "objective": Part("time to crfsuite's final objective", objective.run, slow=True),
    "optimum": Part("how low the objective gets", optimum.run, slow=True),
    "accuracy": Part("span F1 on ATIS, SNIPS and HWU64", accuracy.run, slow=True),
}
