"""Learning to label records: all at once or in batches, with a penalty given or chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from purport.errors import InputError
from purport.measure.tags import marks_spans
from purport.records.labelled import LabelledRecords
from purport.records.sources import OnError
from purport.report.findings import Evaluation
from purport.report.told import headline, numbers
from purport.sequence.crf import CRF
from purport.sequence.shdcrf import SHDCRF
from purport.study.evaluation import evaluate
from purport.study.inspection import rounds_of
from purport.study.session_models import SequenceModel, not_taken
from purport.study.tested_records import WORDINGS, values_of_field, with_known_labels
from purport.study.tuning import Tuned, choose_l2

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Course:
    """How a model learns.

    Attributes
    ----------
    train : list of str
        Files with labels; "-" is standard input.
    dev : str or None
        A file to test the model on.
    early_stop : bool
        Whether training stops when these become less likely.
    tune : bool
        Whether the penalty is chosen by cross-validation.
    budget : float or None
        Seconds that the choice may take.
    groups : str or None
        The field with the user, call or day of a record, which no fold cuts apart.
    passes : int
        How often the files are gone through in batches; 0 holds all records at once.
    batch : int
        Records in a batch.
    on_error : "raise" or "skip"
        What happens to a bad row.
    columns : dict
        Their names of columns by ours.
    unlabeled : str or None
        A file without labels to learn from as well.

    Examples
    --------
    >>> Course(["train.jsonl"]).passes
    0
    """

    train: Sequence[str]
    dev: str | None = None
    early_stop: bool = False
    tune: bool = False
    budget: float | None = None
    groups: str | None = None
    passes: int = 0
    batch: int = 10_000
    on_error: OnError = "raise"
    columns: Mapping[str, str] = field(default_factory=dict)
    unlabeled: str | None = None

    def check(self, model: SequenceModel) -> None:
        """Refuse wishes that do not go together, or not with the model."""
        if not isinstance(model, CRF) and (self.early_stop or self.passes):
            option = "--early-stop" if self.early_stop else "--passes"
            raise InputError(not_taken(option, ("crf",)))
        if self.unlabeled is not None and not isinstance(model, SHDCRF):
            raise InputError(not_taken("--unlabeled", ("shdcrf",)))
        if self.early_stop and self.dev is None:
            raise InputError("--early-stop needs --dev: the records to stop early on.")
        if not self.tune and (self.budget is not None or self.groups is not None):
            raise InputError("--budget and --groups belong to --tune.")
        if self.passes and self.tune:
            raise InputError("--tune holds all records at once, so it does not go with --passes.")
        if self.passes and "-" in self.train:
            raise InputError("--passes reads the records several times; give files, not -.")


@dataclass(frozen=True)
class Learnt:
    """What learning came to.

    Attributes
    ----------
    crf : CRF, LDCRF or SHDCRF
        The model.
    records : int
        How many with labels it learnt from.
    word : str
        What records of this class are called.
    tuned : Tuned or None
        How the penalty was chosen.
    tested : Evaluation or None
        How well it does on the dev records.
    """

    crf: SequenceModel
    records: int
    word: str
    tuned: Tuned | None
    tested: Evaluation | None

    def lines(self) -> list[str]:
        """Say it in a few lines."""
        lines = [] if isinstance(self.crf, CRF) else [described(self.crf)]
        if self.tuned is not None:
            tuned = self.tuned
            lines.append(f"cross-validation in {tuned.folds} folds:\n{tuned.table()}")
            if tuned.stopped:
                lines.append(f"no more was tried: {tuned.stopped}.")
            if tuned.edge:
                lines.append(
                    f"the best is the {tuned.edge} one that was tried: others may be better."
                )
        count, rounds = rounds_of(self.crf)
        lines.append(
            f"learnt {len(self.crf.classes_)} labels from {self.records:,} {self.word} in"
            f" {count} {rounds}, {self.crf.history_[-1]['seconds']:.2f} s."
        )
        unlabeled = self.crf._trained_on().get("unlabeled_sequences")
        if unlabeled:
            lines.append(f"learnt from {unlabeled:,} {self.word} without labels, too.")
        if self.tested is not None:
            lines.append(f"dev: {headline(self.tested)}")
        return lines

    def numbers(self) -> dict[str, Any]:
        """Return everything, as JSON can hold it."""
        crf, last = self.crf, self.crf.history_[-1]
        told: dict[str, Any] = {
            self.word: self.records,
            "labels": len(crf.classes_),
            "weights": crf.n_features_,
            "l2": crf.l2,
            "iterations": rounds_of(crf)[0],
            "converged": crf.converged_,
            "objective": last["objective"],
            "seconds": last["seconds"],
        }
        if not isinstance(crf, CRF):
            told["states"] = crf.label_given_state_.shape[1]
        if self.tuned is not None:
            told["tuned"] = [asdict(trial) for trial in self.tuned.trials]
            told["tuning"] = {
                "folds": self.tuned.folds,
                "measure": self.tuned.measure,
                "stopped": self.tuned.stopped,
                "edge": self.tuned.edge,
            }
        if self.tested is not None:
            told["dev"] = numbers(self.tested)
        return told


def described(model: SequenceModel) -> str:
    """Return a model with those parameters that decide what is learnt.

    Examples
    --------
    >>> described(CRF(l2=0.5, n_threads=1, verbose=True))
    'CRF(l2=0.5)'
    """
    unseen = {"n_threads": None, "verbose": False}
    return repr(type(model)(**model.get_params(deep=False) | unseen))


def learn(kind: type[LabelledRecords], crf: SequenceModel, course: Course) -> Learnt:
    """Train a model on the records of files.

    Parameters
    ----------
    kind : Utterances or Sessions
        What the files hold.
    crf : CRF, LDCRF or SHDCRF
        With its parameters; it is trained in place.
    course : Course
        How.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from purport.records.utterances import Utterances
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "talk.jsonl"
    >>> Utterances.from_lists([["to", "rome"]] * 9, slots=[["O", "B-city"]] * 9).write(path)
    >>> learn(Utterances, CRF(), Course([str(path)])).records
    9
    """
    course.check(crf)

    def read(source: Any) -> Any:
        return kind.read(source, course.on_error, columns=course.columns)

    # Asked for before training, so that nothing wrong costs the time that training takes.
    dev = None if course.dev is None else read(course.dev)
    if dev is not None:
        _check_dev(dev)
    stop = dev if course.early_stop else None
    more = None if course.unlabeled is None else read(course.unlabeled)
    tuned = None
    if course.passes and isinstance(crf, CRF):
        crf.fit_batches(
            lambda: kind.batches(
                list(course.train), course.batch, course.on_error, columns=course.columns
            ),
            course.passes,
            dev=stop,
        )
    else:
        records = read(list(course.train))
        if course.tune:
            tuned = choose_l2(
                crf,
                records,
                groups=None if course.groups is None else values_of_field(records, course.groups),
                budget=course.budget,
            )
            crf.set_params(l2=tuned.l2)
        if isinstance(crf, CRF):
            crf.fit(records, dev=stop)
        elif isinstance(crf, SHDCRF):
            crf.fit(records, unlabeled=more)
        else:
            crf.fit(records)
    crf.set_params(verbose=False)
    tested = None if dev is None else evaluate(crf, dev)
    return Learnt(crf, crf._trained_on()["sequences"], WORDINGS[kind].records, tuned, tested)


def _check_dev(dev: LabelledRecords) -> None:
    labels = {label for told in dev.known_labels or () for label in told or () if label is not None}
    with_known_labels(dev, "--dev", "spans" if marks_spans(map(str, labels)) else "tokens")
