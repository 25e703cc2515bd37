"""The fast ways of counting, choosing and drawing against the slow ones that define them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.tables import together

from whybench.causal.seeds import Stream, words_below
from whybench.families.replayscm.agents.experiment import Demands
from whybench.families.replayscm.proof.evidence import Evidence
from whybench.families.replayscm.proof.fit import costs
from whybench.families.replayscm.proof.pairs import united
from whybench.families.replayscm.proof.unsettled import Unsettled
from whybench.families.replayscm.world.generation.gains import PATTERN_SEEN, Gains
from whybench.families.replayscm.world.generation.local_alternatives import (
    LocalAlternative,
    refutations,
)
from whybench.families.replayscm.world.generation.rewindable_rng import BLOCKS, Tape
from whybench.families.replayscm.world.generation.source import told_of
from whybench.families.replayscm.world.generation.subsampled import Thinned
from whybench.families.replayscm.world.gold_scm import (
    Latent,
    Odds,
    observational,
    sample_intervention,
    sample_latent,
    sample_world,
)
from whybench.families.replayscm.world.minimal_formulas import smallest_matching, smallest_sizes
from whybench.families.replayscm.world.world import Disclosure, Rows, Table, Told, scm_of

LATENTS = range(6)
each_latent = together("index", LATENTS)


@cache
def seen(index: int) -> tuple[Latent, tuple[Table, ...]]:
    """A small SCM and some worlds of it."""
    for attempt in range(100):
        tape = Tape("tests", "arrays", index, attempt)
        latent = sample_latent(tape)
        if latent.n <= 8:
            drawn = (sample_world(latent, tape, Odds()) for _ in range(2 + 3 * (index % 3)))
            return latent, (observational(latent), *drawn)
    raise AssertionError("a hundred SCMs, and none is small")


def without_arrays(told: Told, rows: Rows) -> Evidence:
    """Evidence that folds rows variable by variable, as it does for more than four parents."""
    evidence = Evidence(told, rows)
    evidence.__dict__["dense"] = None
    return evidence


# Drawing


def test_a_tape_draws_what_a_stream_draws() -> None:
    tape, stream = Tape("tests", "tape"), Stream("tests", "tape")
    bound = int(words_below(np.array([0.3]))[0])
    for n in range(1, BLOCKS[0]):
        assert tape.below(n) == stream.below(n)
        assert tape.uniform() == stream.uniform()
        assert tape.shuffled(range(n % 12)) == stream.shuffled(range(n % 12))
        assert tape.choices("abcde", 3) == [stream.choice("abcde") for _ in range(3)]
        under = sum(1 << i for i in range(12) if stream.uniform() < 0.3)
        assert tape.under(bound, 12) == under
        assert tape.words(3).tolist() == stream.words(3).tolist()
    assert tape.below(1 << 60) == stream.below(1 << 60)


def test_words_that_are_not_fair_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whybench.families.replayscm.world.generation.rewindable_rng.SURE", 1 << 63)
    tape, stream = Tape("tests", "fair"), Stream("tests", "fair")
    for n in range(1, 40):
        assert tape.below(n) == stream.below(n)
        assert tape.shuffled(range(n)) == stream.shuffled(range(n))
        assert tape.choices(range(n), 3) == [stream.choice(range(n)) for _ in range(3)]


def test_a_tape_can_be_wound_back_and_forgets_what_it_is_told_to() -> None:
    tape, stream = Tape("tests", "back"), Stream("tests", "back")
    first = tape.take(100)
    tape.forget()
    place = tape.at
    ahead = tape.take(3 * BLOCKS[1])
    tape.at = place
    assert first == [stream.word() for _ in range(100)]
    assert [tape.word() for _ in ahead] == ahead == [stream.word() for _ in ahead]


@each_latent
def test_refutations_are_what_the_worlds_show(index: int) -> None:
    latent, _ = seen(index)
    tape = Tape("tests", "refutations", index)
    drawn = [sample_intervention(latent, tape, Odds()) for _ in range(30)]
    alternatives: list[LocalAlternative] = []
    for v in latent.own:
        window = latent.window(v)
        alternatives += [(v, window, tape.below(1 << (1 << len(window)))) for _ in range(3)]
    found = refutations(latent, drawn, alternatives)
    for i, proposal in enumerate(drawn):
        world = proposal.on(latent)
        for r, (v, window, table) in enumerate(alternatives):
            says = [
                table >> sum((row >> u & 1) << j for j, u in enumerate(window)) & 1
                for row in world.rows()
            ]
            wrong = says != [row >> v & 1 for row in world.rows()]
            assert found[r, i] == (wrong and not world.targets >> v & 1)


# Counting


@each_latent
@together("disclosure", ["ordered", "block", "hidden", "roots"])
def test_arrays_say_what_folding_says(index: int, disclosure: Disclosure) -> None:
    latent, worlds = seen(index)
    told = told_of(latent, disclosure, (latent.order[:5], latent.order[5:]))
    rows = Rows.of(latent.n, worlds)
    fast, slow = Evidence(told, rows), without_arrays(told, rows)
    assert fast.dense is not None
    for v in range(latent.n):
        assert fast.fitting[v].tolist() == slow.fitting[v].tolist()
        assert costs(fast, v).tolist() == costs(slow, v).tolist()
    assert fast.arguments == slow.arguments
    tape = Tape("tests", "open", index)
    tables = [sample_world(latent, tape, Odds()) for _ in range(4)]
    held = [(row, table.targets) for table in tables for row in table.rows()]
    assert fast.open_rows(held) == slow.open_rows(held)


@each_latent
def test_thinned_evidence_is_counted_exactly(index: int) -> None:
    latent, worlds = seen(index)
    told = told_of(latent, "hidden", ())
    thinned = Thinned(told, worlds)
    size = sum(world.size for world in worlds)
    order = Stream("tests", "thinned", index).shuffled(range(1, size))
    places = [(world.targets, row) for world in worlds for row in world.rows()]
    dropped = [0, 3, size // 2, size - 2, size - 1]
    counts = thinned.counts(thinned.dropping(order)[dropped])
    for count, much in zip(counts, dropped, strict=True):
        kept = [places[at] for at in range(size) if at not in order[:much]]
        tables = [Table.of(latent.n, targets, "hard_assigned", [row]) for targets, row in kept]
        assert count == Evidence(told, Rows.of(latent.n, tables)).count
    assert counts[-1] > 2**20, "with one row left, very many fit"


@pytest.mark.parametrize("inputs", range(5))
def test_smallest_sizes_are_those_of_one_by_one(inputs: int) -> None:
    stream = Stream("tests", "sizes", inputs)
    top = 1 << (1 << inputs)
    care = [stream.below(top) for _ in range(60)]
    care += [(top - 1) & ~(1 << stream.below(1 << inputs)) for _ in range(20)]
    value = [stream.below(top) for _ in care]
    expected = [smallest_matching(c, v, inputs)[1] for c, v in zip(care, value, strict=True)]
    assert smallest_sizes(np.array(care), np.array(value), inputs).tolist() == expected


def test_arrays_are_not_made_for_many_variables() -> None:
    """Their size goes with 2^n: a released problem may be of any size."""
    for n, arrays in ((12, True), (13, False)):
        every = (1 << n) - 1
        told = Told(n, 2, 2, 0b11, tuple(0 if v < 2 else every & ~(1 << v) for v in range(n)))
        assert (Evidence(told, Rows.of(n, ())).dense is not None) == arrays


# Choosing worlds


@each_latent
def test_what_is_left_to_settle(index: int) -> None:
    latent, worlds = seen(index)
    gold, told = scm_of(latent.formulas), told_of(latent, "roots", ())
    unsettled = Unsettled.of(gold, latent.k)
    for count in range(1, len(worlds) + 1):
        some = worlds[:count]
        shown = [unsettled.over.shown(world.rows(), world.targets) for world in some]
        gains = Gains.left(unsettled, united(shown))
        evidence = without_arrays(told, Rows.of(latent.n, some))
        demands = Demands.of(evidence, gold)
        pairs = zip(
            unsettled.over.variable[gains.pairs].tolist(),
            unsettled.over.sets[gains.pairs].tolist(),
            strict=True,
        )
        assert set(pairs) == set(zip(demands.variable.tolist(), demands.sets, strict=True))
        assert (len(gains.pairs) == 0) == (evidence.count == 1)


@each_latent
def test_rows_are_worth_what_their_cells_are(index: int) -> None:
    latent, worlds = seen(index)
    unsettled = Unsettled.of(scm_of(latent.formulas), latent.k)
    over = unsettled.over
    gains = Gains.left(unsettled, united([over.shown(w.rows(), w.targets) for w in worlds]))
    by_row = gains.by_row()
    stream = Stream("tests", "worth", index)
    for row in (stream.below(1 << latent.n) for _ in range(20)):
        expected = [0] * latent.n
        for i, pair in enumerate(gains.pairs.tolist()):
            expected[over.variable[pair]] += int(gains.of[i, over.cell[pair, row]])
        assert by_row[:, row].tolist() == expected


@each_latent
def test_worlds_are_filled_row_by_row(index: int) -> None:
    """The twin keeps sets of what was seen, and asks afresh what each option is worth."""
    latent, worlds = seen(index)
    unsettled = Unsettled.of(scm_of(latent.formulas), latent.k)
    over = unsettled.over
    gains = Gains.left(unsettled, united([over.shown(w.rows(), w.targets) for w in worlds[:2]]))
    stream = Stream("tests", "filled", index)
    shape = (3, 5, 4)
    rows = np.array([stream.below(1 << latent.n) for _ in range(60)]).reshape(shape)
    targets = np.array([stream.below(1 << latent.n) for _ in range(3)])
    totals, chosen = gains.filled(rows, targets)
    for world in range(3):
        now, total = gains.of.astype(int).copy(), 0
        free = [not targets[world] >> over.variable[pair] & 1 for pair in gains.pairs]
        for unit in range(5):
            cells = [[over.cell[pair, row] for pair in gains.pairs] for row in rows[world, unit]]
            worth = [
                sum(int(now[i, at]) for i, at in enumerate(option) if free[i]) for option in cells
            ]
            best = worth.index(max(worth))
            total += worth[best]
            assert chosen[world, unit] == rows[world, unit, best]
            for i, at in enumerate(cells[best]):
                if free[i] and now[i, at] > PATTERN_SEEN:
                    now[i] = 0
                elif free[i] and now[i, at] == PATTERN_SEEN:
                    now[i, at], now[i, at ^ 16] = 0, gains.refuting[i]
        assert totals[world] == total
