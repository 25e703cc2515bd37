"""An SCM as `check` reads it, with its own parser and replay, independent of prover and scorer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from whybench.families.replayscm.world.world import Table, View


@dataclass(frozen=True)
class Mechanism:
    """A formula: an operator with its arguments, or a variable."""

    head: str
    arguments: tuple[Mechanism, ...] = ()

    @property
    def size(self) -> int:
        """The number of operators and variables in it."""
        return 1 + sum(argument.size for argument in self.arguments)

    @property
    def depth(self) -> int:
        """The longest way from the top to a variable, both counted."""
        return 1 + max((argument.depth for argument in self.arguments), default=0)

    def mentions(self) -> frozenset[str]:
        """Return the variables in it."""
        below = [argument.mentions() for argument in self.arguments]
        return frozenset().union(*below) if below else frozenset([self.head])

    def value(self, values: Mapping[str, int], every: int) -> int:
        """Return its column of values, given those of variables; `every` is a column of ones."""
        if not self.arguments:
            return values[self.head]
        columns = [argument.value(values, every) for argument in self.arguments]
        both = either = columns[0]
        odd = 0
        for column in columns:
            both, either, odd = both & column, either | column, odd ^ column
        found = {"and": both, "or": either, "xor": odd, "iff": both | ~either, "not": ~odd}
        return found[self.head] & every


@dataclass(frozen=True)
class ParsedScm:
    """A mechanism for every variable that is no root."""

    names: tuple[str, ...]
    mechanisms: Mapping[int, Mechanism]

    @property
    def roots(self) -> int:
        """The set of roots."""
        return sum(1 << v for v in range(len(self.names)) if v not in self.mechanisms)

    @cached_property
    def functions(self) -> Mapping[int, tuple[int, frozenset[int]]]:
        """For each mechanism what it depends on, and the sets of these for which it is 1."""
        return {v: self._function(mechanism) for v, mechanism in self.mechanisms.items()}

    def _function(self, mechanism: Mechanism) -> tuple[int, frozenset[int]]:
        mentioned = sorted(mechanism.mentions())
        size = 1 << len(mentioned)
        values = {
            name: sum(1 << row for row in range(size) if row >> i & 1)
            for i, name in enumerate(mentioned)
        }
        table = mechanism.value(values, (1 << size) - 1)
        needed = {
            1 << i: 1 << self.names.index(name)
            for i, name in enumerate(mentioned)
            if any((table >> row ^ table >> (row ^ 1 << i)) & 1 for row in range(size))
        }
        ones = (
            sum(bit for at, bit in needed.items() if row & at)
            for row in range(size)
            if table >> row & 1
        )
        return sum(needed.values()), frozenset(ones)

    def parents(self, v: int) -> int:
        """Return the variables on which v's mechanism depends."""
        return self.functions[v][0]

    def descendants(self, v: int) -> int:
        """Return what depends on v, itself included."""
        found = 1 << v
        for _ in self.names:
            for u in self.mechanisms:
                if self.parents(u) & found:
                    found |= 1 << u
        return found

    def same(self, other: ParsedScm) -> bool:
        """Return whether roots and functions are the same; the spelling does not count."""
        return self.functions == other.functions

    def misfits(self, view: View, allowed: Sequence[int], tables: Sequence[Table]) -> Iterator[str]:
        """Yield the reasons why it is outside the stated class of SCMs, or contradicts tables."""
        told = view.told
        if view.disclosure == "roots":
            if self.roots.bit_count() != told.root_count:
                yield f"it has {self.roots.bit_count()} roots, not {told.root_count}"
        elif self.roots != told.roots:
            yield "its roots are not those that are told"
        for v in self.mechanisms:
            parents, name = self.parents(v), self.names[v]
            if parents & ~allowed[v]:
                yield f"{name} depends on what may not be its parent"
            if parents.bit_count() > told.k:
                yield f"{name} depends on more than {told.k} variables"
            if self.descendants(v) & parents:
                yield f"{name} depends on itself"
                return
        wrong = sum(replayed(self, table) != table.columns for table in tables)
        if wrong:
            yield f"{wrong} of {len(tables)} worlds are not replayed"


def replayed(parsed: ParsedScm, table: Table) -> tuple[int, ...]:
    """Return the columns that an acyclic SCM gives; targets and roots are taken from the table."""
    every, n = (1 << table.size) - 1, len(parsed.names)
    values: dict[str, int] = {}

    def value(v: int) -> int:
        name = parsed.names[v]
        if name not in values:
            if table.targets >> v & 1 or v not in parsed.mechanisms:
                values[name] = table.columns[v]
            else:
                needed = {u: value(u) for u in range(n) if parsed.parents(v) >> u & 1}
                given = {other: needed.get(u, 0) for u, other in enumerate(parsed.names)}
                values[name] = parsed.mechanisms[v].value(given, every)
        return values[name]

    return tuple(value(v) for v in range(n))


def parse_scm(names: Sequence[str], formulas: Mapping[str, str]) -> ParsedScm:
    """Read an SCM; variables without a formula are its roots. ValueError if it cannot be read."""
    return ParsedScm(
        tuple(names), {names.index(name): _read(text, names) for name, text in formulas.items()}
    )


def _read(text: str, names: Sequence[str]) -> Mechanism:
    words = text.replace("(", " ( ").replace(")", " ) ").split()
    try:
        found = _next(words, names)
    except IndexError:
        raise ValueError(f"{text!r} breaks off") from None
    if words:
        raise ValueError(f"{text!r} goes on after its end")
    return found


def _next(words: list[str], names: Sequence[str]) -> Mechanism:
    """Take one formula from the front of a list of words."""
    word = words.pop(0)
    if word != "(":
        return _made(word, (), names)
    head, arguments = words.pop(0), []
    while words[0] != ")":
        arguments.append(_next(words, names))
    words.pop(0)
    return _made(head, tuple(arguments), names)


def _made(head: str, arguments: tuple[Mechanism, ...], names: Sequence[str]) -> Mechanism:
    fitting = (head == "not" and len(arguments) == 1) or (head in _MANY and len(arguments) > 1)
    if not fitting and (arguments or head not in names):
        raise ValueError(f"{head!r} with {len(arguments)} arguments is no formula")
    return Mechanism(head, arguments)


_MANY = ("and", "or", "xor", "iff")
"""Operators of two arguments or more."""
