"""Click models beside PyClick and clax-models: speed, real pages, and streams that drift."""

from bench.benchmark import Part
from bench.clicks import online, reading, real, speed

ABOUT = "click models: speed, truth on real pages, and staying up to date"

PARTS = {
    "speed": Part("one iteration beside PyClick and clax-models", speed.run),
    "online": Part("online EM beside what memory allows", online.run),
    "reading": Part("from Parquet to a model, and ten million pages", reading.run, slow=True),
    "real": Part("every model on the Sogou pages", real.run),
}
