"""Rows from the words around each token: a specification, learnt and applied in whole columns.

Words are handled once for each different word, templates once for each batch: an attribute of a
word is a whole number, a template's feature is a number made of those, and its column is the rank
of that number among the ones met in training. No Python code runs for a token.

Symbols: N sentences, P tokens of all sentences together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np

from purport.estimator.base import Estimator, State
from purport.estimator.constraints import (
    BOOLEAN,
    Constraint,
    Either,
    Named,
    OneOf,
    Pattern,
    Phrases,
    Several,
    Span,
    Whole,
    optional,
)
from purport.features.clues import PREPOSITIONS, Clue, NearestBefore, TokenClass
from purport.features.combinations import Combinations
from purport.features.gazetteers import Gazetteer
from purport.features.hashing import MOST_BITS, check_hashing, hashed, hashed_names
from purport.features.keys import UNSEEN
from purport.features.rows import Rows
from purport.features.surroundings import Surroundings, Tokenized
from purport.features.template_columns import (
    AFTER,
    BEFORE,
    TemplateColumns,
    hashed_template,
)
from purport.features.templates import BEGIN, END, Template, attributes
from purport.features.unique import unique_rows
from purport.features.vocabulary import Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

PREPOSITION = "preposition"


class TokenWindows(Estimator):
    """The words around a token, alone and together, and what they look like.

    Parameters
    ----------
    words : (first, last) or None
        The offsets of the words that are features each by itself: ``(-2, 2)`` takes the word, two
        before and two after it. None for no words.
    conjunctions : tuple of tuples of int
        Offsets of words that make one feature together: ``(-1, 0)`` is the word with the one before
        it.
    prefixes, suffixes : tuple of int
        Lengths of the beginnings and ends of words; a shorter word stands for itself.
    shapes : bool
        The pattern of capitals, other letters, digits and the rest, as "Xx" for "San".
    digits : bool
        Whether a digit is in the word.
    lengths : bool
        How many characters the word has.
    attribute_window : (first, last)
        The offsets of the words whose prefixes, suffixes, shapes, digits and lengths are features.
    previous_words : int
        How many words before the token are features without regard to their order.
    bias : bool
        One feature that every token has.
    marks : bool
        Places before the first and after the last word count as words of their own, so that a model
        knows where a sentence begins and ends. False leaves out each feature that reaches beyond
        the sentence.
    lowercase : bool
        Words, prefixes and suffixes without regard to capitals; shapes keep them.
    min_count : int
        A feature that training shows less often is left out.
    gazetteers : dict of lists of str, or None
        Phrases by name, as ``{"city": ["new york", "rome"]}``: whether a token begins ("B") or goes
        on with ("I") a phrase, the longest at each place, from the left, without regard to
        capitals. They are saved with the model. One phrase a line of a file comes with
        ``Path(name).read_text(encoding="utf-8").splitlines()``.
    token_classes : dict of str, or None
        Regular expressions by name, as ``{"time": "[0-9]+:[0-9]{2}"}``: whether one describes the
        whole token. Where words can simply be listed, make them a gazetteer.
    class_window : (first, last)
        The offsets of the words whose gazetteers and classes are features.
    prepositions : True, list of str, or None
        The nearest preposition before the token, in its sentence: "from" for each word of "new
        york" in "from new york". True takes those of English (`clues.PREPOSITIONS`); a list, these.
    hash_bits : int or None
        Hash features into 2 to the power of this many columns and keep no vocabulary: any feature
        then has a column, which it may share, `min_count` must be 1, and more data need no new
        fit. None gives each feature a column of its own.

    Attributes
    ----------
    values_ : dict of Vocabulary
        The values of each attribute, the word itself included; empty when features are hashed.
    columns_ : list of TemplateColumns
        The templates, each with the columns that it has learnt; empty when features are hashed.

    Examples
    --------
    >>> from purport.records.utterances import Utterances
    >>> talk = Utterances.from_lists([["to", "san", "jose"], ["jose"]])
    >>> windows = TokenWindows(
    ...     words=(-1, 0), conjunctions=(), prefixes=(), suffixes=(), digits=False
    ... )
    >>> rows = windows.fit_transform(talk)
    >>> windows.feature_names()
    ['bias', 'w[-1]=to', 'w[-1]=san', 'w[-1]=<s>', 'w[0]=to', 'w[0]=san', 'w[0]=jose']
    >>> windows.strings(talk)[1]
    [['bias', 'w[-1]=<s>', 'w[0]=jose']]
    >>> rows.positions, rows.unique
    (4, 4)
    """

    _constraints: ClassVar[Mapping[str, Constraint]] = {
        "words": optional(Span()),
        "conjunctions": Several(Several(Whole(), least=2)),
        "prefixes": Several(Whole(1)),
        "suffixes": Several(Whole(1)),
        "shapes": BOOLEAN,
        "digits": BOOLEAN,
        "lengths": BOOLEAN,
        "attribute_window": Span(),
        "previous_words": Whole(0),
        "bias": BOOLEAN,
        "marks": BOOLEAN,
        "lowercase": BOOLEAN,
        "min_count": Whole(1),
        "gazetteers": optional(Named(Phrases())),
        "token_classes": optional(Named(Pattern())),
        "class_window": Span(),
        "prepositions": Either((OneOf((True, None)), Phrases())),
        "hash_bits": optional(Whole(1, MOST_BITS)),
    }

    values_: dict[str, Vocabulary]
    columns_: list[TemplateColumns]

    def __init__(
        self,
        words: tuple[int, int] | None = (-2, 2),
        conjunctions: Sequence[Sequence[int]] = ((-1, 0), (0, 1)),
        prefixes: Sequence[int] = (3,),
        suffixes: Sequence[int] = (3,),
        shapes: bool = False,
        digits: bool = True,
        lengths: bool = False,
        attribute_window: tuple[int, int] = (0, 0),
        previous_words: int = 0,
        bias: bool = True,
        marks: bool = True,
        lowercase: bool = False,
        min_count: int = 1,
        gazetteers: Mapping[str, Sequence[str]] | None = None,
        token_classes: Mapping[str, str] | None = None,
        class_window: tuple[int, int] = (0, 0),
        prepositions: Literal[True] | Sequence[str] | None = None,
        hash_bits: int | None = None,
    ) -> None:
        self.words = words
        self.conjunctions = conjunctions
        self.prefixes = prefixes
        self.suffixes = suffixes
        self.shapes = shapes
        self.digits = digits
        self.lengths = lengths
        self.attribute_window = attribute_window
        self.previous_words = previous_words
        self.bias = bias
        self.marks = marks
        self.lowercase = lowercase
        self.min_count = min_count
        self.gazetteers = gazetteers
        self.token_classes = token_classes
        self.class_window = class_window
        self.prepositions = prepositions
        self.hash_bits = hash_bits

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_hashing(type(self).__name__, self.hash_bits, self.min_count)

    def fit(self, records: Tokenized) -> Self:
        """Learn the columns from records.

        Examples
        --------
        >>> from purport.records.utterances import Utterances
        >>> talk = Utterances.from_lists([["hi"]])
        >>> len(TokenWindows().fit(talk).feature_names())
        11
        """
        return self.learn([records])

    def fit_transform(self, records: Tokenized) -> Rows:
        """Learn the columns from records and return the rows of their tokens.

        Examples
        --------
        >>> from purport.records.utterances import Utterances
        >>> rows = TokenWindows().fit_transform(Utterances.from_lists([["ha", "ha", "ha", "ha"]]))
        >>> rows.positions, rows.unique
        (4, 4)
        """
        return self.fit(records).transform(records)

    def learn(self, batches: Iterable[Tokenized]) -> Self:
        """Learn the columns from batches of records, as `fit` does from all of them at once.

        No more than one batch, and the features that training shows, are held at a time.

        Examples
        --------
        >>> from purport.records.utterances import Utterances
        >>> talk = Utterances.from_lists([["hi"], ["ha"]])
        >>> windows = TokenWindows(words=(0, 0), conjunctions=(), prefixes=(), suffixes=())
        >>> windows.learn([talk[:1], talk[1:]]).feature_names()
        ['bias', 'w[0]=hi', 'w[0]=ha', 'digit=no']
        """
        self._check_parameters()
        asked, templates, clues = self._attributes(), self._templates(), self._all_clues()
        values = {name: Vocabulary() for name in asked}
        met = [Combinations(1 if each.bag else len(each.offsets)) for each in templates]
        for records in batches:
            around = Surroundings(records)
            if self.hash_bits is not None:
                continue
            used = around.words_as_they_come()
            told = {name: clue.codes(around) for name, clue in clues.items()}
            for name, of in asked.items():
                values[name].learn(map(of, used))
                told[name] = around.table(of, values[name])
                told[name][-2:] = BEFORE, AFTER
            for template, combinations in zip(templates, met, strict=True):
                codes = self._codes(around, told[template.attribute], template)
                together = np.empty((around.positions, len(codes)), np.int32)
                for place, code in enumerate(codes):
                    together[:, place] = code
                combinations.add(together.reshape(-1, 1) if template.bag else together)
        self._clues = clues
        self.values_, self.columns_ = {}, []
        if self.hash_bits is None:
            self.values_ = values
            self.columns_ = self._fresh_columns()
            for columns, combinations in zip(self.columns_, met, strict=True):
                columns.learn(*combinations.finish(), self.min_count)
        return self

    def transform(self, records: Tokenized) -> Rows:
        """Return the rows of tokens; features that training has not shown are left out and counted.

        Examples
        --------
        >>> from purport.records.utterances import Utterances
        >>> talk = Utterances.from_lists([["hi"]])
        >>> TokenWindows().fit(talk).transform(talk).unseen
        0
        """
        self._check_fitted()
        around = Surroundings(records)
        return self._rows(around) if self.hash_bits is None else self._hashed_rows(around)

    @property
    def width(self) -> int:
        """How many columns there are."""
        self._check_fitted()
        return sum(map(len, self.columns_)) if self.hash_bits is None else 1 << self.hash_bits

    def feature_names(self) -> list[str]:
        """Return what each column stands for; hashed columns have numbers only.

        Examples
        --------
        >>> from purport.records.utterances import Utterances
        >>> talk = Utterances.from_lists([["hi"]])
        >>> TokenWindows(words=(-1, 0), conjunctions=()).fit(talk).feature_names()
        ['bias', 'w[-1]=<s>', 'w[0]=hi', 'prefix3=hi', 'suffix3=hi', 'digit=no']
        """
        self._check_fitted()
        if self.hash_bits is not None:
            return hashed_names(self.hash_bits)
        values = {name: vocabulary.strings() for name, vocabulary in self.values_.items()}
        values |= {name: list(clue.values) for name, clue in self._clues.items()}
        return [
            name
            for columns in self.columns_
            for name in columns.names(values[columns.template.attribute])
        ]

    def strings(self, records: Tokenized) -> list[list[list[str]]]:
        """Return the features of each token as strings, whether learnt or not; slow.

        Two features with one name (words with "|" or "<s>" in them) are two columns, but equal
        strings.

        Examples
        --------
        >>> from purport.records.utterances import Utterances
        >>> windows = TokenWindows(words=None, prefixes=(), digits=False, bias=False)
        >>> windows.strings(Utterances.from_lists([["hello"]]))
        [[['w[-1]|w[0]=<s>|hello', 'w[0]|w[1]=hello|</s>', 'suffix3=llo']]]
        """
        self._check_parameters()
        asked, templates, clues = self._attributes(), self._templates(), self._all_clues()
        sentences = []
        for words in Surroundings(records).sentences():
            values: dict[str, Sequence[str | None]] = {
                name: [of(word) for word in words] for name, of in asked.items()
            }
            values |= {name: clue.spelled(words) for name, clue in clues.items()}
            sentence: list[list[str]] = [[] for _ in words]
            for position, features in enumerate(sentence):
                for template in templates:
                    features += template.spell(values[template.attribute], position, self.marks)
            sentences.append(sentence)
        return sentences

    def _templates(self) -> list[Template]:
        templates = [Template("bias")] if self.bias else []
        if self.words is not None:
            first, last = self.words
            templates += [Template.joined((offset,)) for offset in range(first, last + 1)]
        templates += [Template.joined(offsets) for offsets in self.conjunctions]
        if self.previous_words:
            before = tuple(range(-1, -self.previous_words - 1, -1))
            templates.append(Template("before", "word", before, bag=True))
        first, last = self.attribute_window
        for attribute in self._attributes():
            if attribute != "word":
                window = range(first, last + 1)
                templates += [Template.single(attribute, offset) for offset in window]
        first, last = self.class_window
        for clue in (*self._listed(), *self._classes()):
            window = range(first, last + 1)
            templates += [Template.single(clue, offset, of_places=True) for offset in window]
        if self.prepositions is not None:
            templates.append(Template.single(PREPOSITION, 0, of_places=True))
        return templates

    def _listed(self) -> dict[str, Sequence[str]]:
        return {f"in:{name}": phrases for name, phrases in (self.gazetteers or {}).items()}

    def _classes(self) -> dict[str, str]:
        return {f"is:{name}": pattern for name, pattern in (self.token_classes or {}).items()}

    def _all_clues(self) -> dict[str, Clue]:
        """Make what is asked of places; takes time for large gazetteers."""
        clues: dict[str, Clue] = {name: Gazetteer(each) for name, each in self._listed().items()}
        clues |= {name: TokenClass(each) for name, each in self._classes().items()}
        if self.prepositions is not None:
            words = PREPOSITIONS if self.prepositions is True else self.prepositions
            clues[PREPOSITION] = NearestBefore(words)
        return clues

    def _values_of(self, around: Surroundings) -> dict[str, Vocabulary]:
        used = around.words_as_they_come()
        return {name: Vocabulary(map(of, used)) for name, of in self._attributes().items()}

    def _fresh_columns(self) -> list[TemplateColumns]:
        sizes = {name: len(values) for name, values in self.values_.items()}
        sizes |= {name: len(clue.values) for name, clue in self._clues.items()}
        return [
            TemplateColumns(template, sizes[template.attribute]) for template in self._templates()
        ]

    def _attributes(self) -> dict[str, Callable[[str], str]]:
        return attributes(
            self.prefixes, self.suffixes, self.shapes, self.digits, self.lengths, self.lowercase
        )

    def _codes(
        self, around: Surroundings, told: NDArray[np.int32], template: Template
    ) -> list[NDArray[np.int32]]:
        """Return the values at a template's offsets; `told` is of each word, or of each token."""
        if template.of_places:
            return [around.beside(told, offset) for offset in template.offsets]
        outside = self.marks and not template.bag
        return [around.codes(told, offset, outside) for offset in template.offsets]

    def _told(
        self, around: Surroundings, values: Mapping[str, Vocabulary]
    ) -> dict[str, NDArray[np.int32]]:
        """Return the value of each word for each attribute, and of each token for each clue."""
        asked = self._attributes()
        told = {name: around.table(asked[name], known) for name, known in values.items()}
        return told | {name: clue.codes(around) for name, clue in self._clues.items()}

    def _hashed_rows(self, around: Surroundings) -> Rows:
        assert self.hash_bits is not None
        values = self._values_of(around)
        told = self._told(around, values)
        strings: dict[str, Iterable[str]] = dict(values)
        strings |= {name: clue.values for name, clue in self._clues.items()}
        hashes = {name: hashed([*known, BEGIN, END]) for name, known in strings.items()}
        entries = [
            hashed_template(
                template,
                self._codes(around, told[template.attribute], template),
                hashes[template.attribute],
                around.positions,
                self.hash_bits,
            )
            for template in self._templates()
        ]
        columns = np.hstack([np.empty((around.positions, 0), np.int32), *entries])
        starts = np.arange(around.positions + 1, dtype=np.int64) * columns.shape[1]
        return unique_rows(columns.ravel(), starts, None, self.width, around.offsets)

    def _rows(self, around: Surroundings) -> Rows:
        """Put the columns of all templates side by side, each behind those before it."""
        told = self._told(around, self.values_)
        slots = sum(columns.slots for columns in self.columns_)
        entries = np.empty((around.positions, slots), np.int32)
        slot = width = 0
        for columns in self.columns_:
            template = columns.template
            codes = self._codes(around, told[template.attribute], template)
            ranks = columns.rank(codes, around.positions)
            entries[:, slot : slot + columns.slots] = np.where(ranks >= 0, ranks + width, ranks)
            slot += columns.slots
            width += len(columns)
        unseen = int(np.count_nonzero(entries == UNSEEN))
        starts = np.arange(around.positions + 1, dtype=np.int64) * slots
        return unique_rows(entries.ravel(), starts, None, width, around.offsets, unseen)

    def _to_state(self) -> State:
        self._check_fitted()
        state = State()
        for number, columns in enumerate(self.columns_):
            state = state.join(f"template{number}", columns.to_state())
        for name, values in self.values_.items():
            state = state.join(name, State(values.to_arrays()))
        return state

    def _restore(self, state: State) -> None:
        self._clues = self._all_clues()
        self.values_, self.columns_ = {}, []
        if self.hash_bits is not None:
            return
        self.values_ = {
            name: Vocabulary.from_arrays(state.nested(name).arrays) for name in self._attributes()
        }
        self.columns_ = self._fresh_columns()
        for number, columns in enumerate(self.columns_):
            columns.restore(state.nested(f"template{number}"))
