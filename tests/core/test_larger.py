"""Small formulas of more than four inputs: right on the rows, of the size told, and small."""

from hypothesis import given, settings
from hypothesis import strategies as st

from whybench.causal.boolean import Tree, essential, formula_of, lifted, truth_table
from whybench.families.replayscm.world.formula_search import small_matching
from whybench.families.replayscm.world.minimal_formulas import sizes, smallest_matching

EVERY = (1 << 32) - 1
FOURS = [tuple(v for v in range(5) if v != left_out) for left_out in range(5)]
tables = st.integers(0, EVERY)


def _tree(children: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    joined = st.tuples(st.sampled_from(["and", "or", "xor", "iff"]), children, children)
    return joined | st.tuples(st.just("not"), children)


leaves: st.SearchStrategy[Tree] = st.integers(0, 4)
functions = tables | st.recursive(leaves, _tree, max_leaves=9).map(
    lambda tree: truth_table(formula_of(tree), 5)
)


@settings(max_examples=80, deadline=None)
@given(tables, tables)
def test_the_formula_agrees_wherever_a_row_is_cared_for_and_has_the_size_told(
    care: int, value: int
) -> None:
    tree, size = small_matching(care, value, 5)
    formula = formula_of(tree)
    assert (truth_table(formula, 5) ^ value) & care == 0
    assert formula.size == size


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 5), st.data())
def test_few_known_rows_are_matched_for_six_inputs_too(known: int, data: st.DataObject) -> None:
    care = sum(1 << data.draw(st.integers(0, 63)) for _ in range(known)) & ((1 << 64) - 1)
    value = data.draw(st.integers(0, (1 << 64) - 1))
    tree, size = small_matching(care, value, 6)
    assert (truth_table(formula_of(tree), 6) ^ value) & care == 0
    assert formula_of(tree).size == size


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 0xFFFF), st.sampled_from(FOURS))
def test_a_function_of_four_of_five_inputs_reaches_the_catalogues_size(
    small: int, inputs: tuple[int, ...]
) -> None:
    tree, size = small_matching(EVERY, lifted(small, inputs, 5), 5)
    assert size == int(sizes()[small])
    assert truth_table(formula_of(tree), 5) == lifted(small, inputs, 5)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 0xFFFF), st.integers(0, 0xFFFF), st.sampled_from(FOURS))
def test_with_rows_unknown_it_is_never_larger_than_the_best_over_any_four_inputs(
    care: int, value: int, inputs: tuple[int, ...]
) -> None:
    over_five = lifted(care, inputs, 5), lifted(value & care, inputs, 5)
    assert small_matching(*over_five, 5)[1] <= smallest_matching(care, value & care, 4)[1]


@settings(max_examples=80, deadline=None)
@given(functions)
def test_it_is_never_smaller_than_a_tree_over_its_essential_inputs_can_be(value: int) -> None:
    needed = essential(value, 5)
    tree, size = small_matching(EVERY, value, 5)
    assert size >= {0: 3, 1: 1}.get(needed.bit_count(), needed.bit_count() + 1)
    assert formula_of(tree).mentions & needed == needed


@settings(max_examples=80, deadline=None)
@given(functions)
def test_it_is_never_smaller_than_the_smallest_formula_of_a_cofactor(value: int) -> None:
    """A constant put for an input folds away without adding a node, unless all is constant."""
    size = small_matching(EVERY, value, 5)[1]
    for cofactor in (value & 0xFFFF, value >> 16):
        if cofactor not in (0, 0xFFFF):
            assert size >= int(sizes()[cofactor])


def test_functions_with_an_input_to_split_off_take_one_operator_more() -> None:
    a, b, c, d, e = (lifted(0b10, [v], 5) for v in range(5))
    for table, size in (
        (e & (a | (b & c & d)), 8),
        (e | (a ^ b ^ (c & d)), 8),
        ((a | b | c | d) ^ e, 7),
        (EVERY & ~e & (a ^ b ^ c ^ d), 8),
        (EVERY & (~e | (a & b & c & d)), 8),
    ):
        assert small_matching(EVERY, table, 5)[1] == size
