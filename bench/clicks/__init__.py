"""Click models beside their peers, on real pages, and the tables of the paper on online EM."""

from bench.benchmark import Part
from bench.clicks import drift, online, reading, real, retraining, speed

ABOUT = "click models: speed, truth on real pages, and staying up to date"

PARTS = {
    "speed": Part("one iteration beside PyClick and clax-models", speed.run),
    "online": Part("online EM beside what memory allows", online.run),
    "reading": Part("from Parquet to a model, and ten million pages", reading.run, slow=True),
    "real": Part("every model on the Sogou pages", real.run),
    "models": Part("Table 1: which model foretells best", drift.models, slow=True),
    "drift": Part("Table 3 and Figure 1: ways to keep up to date", drift.run, slow=True),
    "retraining": Part("Table 2: what keeping up to date costs", retraining.run, slow=True),
}
