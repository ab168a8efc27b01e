"""Hidden states beside labels alone: tables on invented and real sessions, and speed."""

from bench.benchmark import Part
from bench.shdcrf import figures, knobs, latency, margins, meaning, real, speed

ABOUT = "LDCRF, SHDCRF and SHDCRF* beside the SVM and the CRF"

PARTS = {
    "speed": Part("one gradient beside python-crfsuite, and how its cost grows", speed.run),
    "latency": Part("labelling one session from Python", latency.run),
    "zero": Part("one sub-intent a label: no gain may appear", knobs.zero, slow=True),
    "knobs": Part("which property of a log the gain comes from", knobs.run, slow=True),
    "margins": Part("Tables 4 and 5 on an invented log", margins.run, slow=True),
    "states": Part("Figure 3: the number of hidden states", figures.states, slow=True),
    "sparsity": Part("Figures 4 and 5: the sparsity, and the start", figures.sparsity, slow=True),
    "real": Part("Table 4 on dialogues, calls and real search sessions", real.run, slow=True),
    "meaning": Part("whether hidden states tell fine labels never seen", meaning.run, slow=True),
}
