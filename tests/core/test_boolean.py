"""The Boolean language, against its definition and a small recursive evaluator."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import calls
from tests.tables import together

from whybench.causal.boolean import (
    LONGEST,
    OPERATORS,
    Formula,
    FormulaError,
    Tree,
    columns,
    essential,
    evaluate,
    everywhere,
    formula_of,
    lifted,
    parse,
    projected,
    relabelled,
    render,
    truth_table,
)

N = 4
NAMES = ("X1", "X2", "X3", "X4")
KNOWN = {name: v for v, name in enumerate(NAMES)}


def table(text: str) -> list[int]:
    """The values of a formula on (X1, X2, X3) = 000, 001, …, 111."""
    formula = parse(text, KNOWN)
    truth = truth_table(formula, 3)
    return [truth >> (a | b << 1 | c << 2) & 1 for a, b, c in product((0, 1), repeat=3)]


# An evaluator, a printer and measures that share nothing with the package.


def value_of(tree: Tree, row: dict[int, int]) -> int:
    if isinstance(tree, int):
        return row[tree]
    head, *rest = tree
    values = [value_of(child, row) for child in rest]  # type: ignore[arg-type]
    if head == "not":
        return 1 - values[0]
    if head == "and":
        return int(all(values))
    if head == "or":
        return int(any(values))
    if head == "xor":
        return sum(values) % 2
    return int(len(set(values)) == 1)


def size_of(tree: Tree) -> int:
    return 1 if isinstance(tree, int) else 1 + sum(map(size_of, tree[1:]))  # type: ignore[arg-type]


def depth_of(tree: Tree) -> int:
    return 1 if isinstance(tree, int) else 1 + max(map(depth_of, tree[1:]))  # type: ignore[arg-type]


def leaves_of(tree: Tree) -> set[int]:
    if isinstance(tree, int):
        return {tree}
    return set().union(*map(leaves_of, tree[1:]))  # type: ignore[arg-type]


def rows(n: int = N) -> list[dict[int, int]]:
    """Every assignment, that of number r first variable lowest."""
    return [{v: r >> v & 1 for v in range(n)} for r in range(1 << n)]


def joined(children: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    heads = st.sampled_from(["and", "or", "xor", "iff"])
    several = st.tuples(heads, st.lists(children, min_size=2, max_size=4))
    return several.map(lambda pair: (pair[0], *pair[1])) | st.tuples(st.just("not"), children)


leaf: st.SearchStrategy[Tree] = st.integers(0, N - 1)
trees = st.recursive(leaf, joined, max_leaves=12)


# Reading.


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("  X1\t", "X1"),
        ("\r\n(not X1)\n", "(not X1)"),
        ("(X1)", "X1"),
        ("( X1 )", "X1"),
        ("(not (X1))", "(not X1)"),
        ("(and(X1)(X2))", "(and X1 X2)"),
        ("(and(not X1)X2)", "(and (not X1) X2)"),
        ("(and\u00a0X1\u00a0X2)", "(and X1 X2)"),
        ("\u2003(or\u2028X1\u3000X2)\u00a0", "(or X1 X2)"),
        ("(or\x0bX1\x0cX2)", "(or X1 X2)"),
        ("(  iff   X1  X2 )", "(iff X1 X2)"),
    ],
)
def test_space_of_any_kind_and_parentheses_round_a_variable_mean_nothing(
    text: str, plain: str
) -> None:
    assert parse(text, KNOWN) == parse(plain, KNOWN)


@together(
    "text",
    [
        "",
        "   ",
        "\u00a0",
        "()",
        "( )",
        "(",
        ")",
        "((X1))",
        "((and X1 X2))",
        "((and) X1 X2)",
        "(X1",
        "X1)",
        "(and X1 X2))",
        "(and X1 (or X2 X3)",
        "X1 X2",
        "(and X1 X2) X3",
        "(and X1 X2) (not X3)",
        "(and X1, X2)",
        "X1,",
        "(and X1 ())",
    ],
)
def test_text_that_is_not_one_balanced_expression_is_refused(text: str) -> None:
    with pytest.raises(FormulaError):
        parse(text, KNOWN)


@pytest.mark.parametrize(
    "text", ["X5", "x1", "X01", "X", "0", "1", "true", "and", "(and)", "(X5)", "X1'", "-X1", "X１"]
)
def test_only_the_variables_given_are_variables_and_there_are_no_constants(text: str) -> None:
    for formula in (text, f"(and X1 {text})", f"(not {text})"):
        with pytest.raises(FormulaError):
            parse(formula, KNOWN)


@pytest.mark.parametrize(
    "text",
    [
        "(not)",
        "(not X1 X2)",
        *(f"({operator} X1)" for operator in OPERATORS if operator != "not"),
        *(f"({operator})" for operator in OPERATORS),
        "(X1 X2)",
        "(X1 X2 X3)",
    ],
)
def test_not_takes_one_argument_and_every_other_operator_two_or_more(text: str) -> None:
    with pytest.raises(FormulaError):
        parse(text, KNOWN)


@pytest.mark.parametrize(
    "operator", ["if", "AND", "And", "Not", "XOR", "nand", "nor", "implies", "&", "=", "xnor"]
)
def test_operators_are_the_five_in_small_letters(operator: str) -> None:
    for arguments in ("X1", "X1 X2", "X1 X2 X3"):
        with pytest.raises(FormulaError):
            parse(f"({operator} {arguments})", KNOWN)


@pytest.mark.parametrize("broken", ["\t", "\n", "\r", "\r\n"])
def test_tabs_and_line_ends_are_refused_inside_and_trimmed_outside(broken: str) -> None:
    with pytest.raises(FormulaError, match="one line"):
        parse(f"(and{broken}X1 X2)", KNOWN)
    with pytest.raises(FormulaError, match="one line"):
        parse(f"(and X1 X2{broken})", KNOWN)
    assert parse(f"{broken}(and X1 X2){broken}", KNOWN) == parse("(and X1 X2)", KNOWN)


def test_a_refusal_says_what_is_wrong() -> None:
    for text, reason in (
        ("(and X1 X9)", "'X9' is not a variable"),
        ("(nand X1 X2)", "'nand' is no operator"),
        ("(not X1 X2)", "`not` takes one argument, not 2"),
        ("(xor X1)", "`xor` takes two or more arguments, not 1"),
        ("(and X1 X2) X3", "follows the end"),
        ("(and X1 X2", "closing parenthesis is missing"),
        ("()", "closes nothing"),
        ("((X1))", "must follow an opening parenthesis"),
        (" ", "empty"),
    ):
        with pytest.raises(FormulaError, match=reason):
            parse(text, KNOWN)


# Meaning.


def test_xor_of_many_is_odd_parity() -> None:
    assert table("(xor X1 X2 X3)") == [0, 1, 1, 0, 1, 0, 0, 1]


def test_iff_of_many_is_all_equal_and_no_chain() -> None:
    assert table("(iff X1 X2 X3)") == [1, 0, 0, 0, 0, 0, 0, 1]
    assert table("(iff (iff X1 X2) X3)") == [0, 1, 1, 0, 1, 0, 0, 1]


def test_arguments_may_repeat_and_say_nothing() -> None:
    assert table("(and X1 X1 X2)") == table("(and X1 X2)")
    assert table("(xor X1 X1 X2)") == table("X2")
    assert table("(or X1 (not X1))") == [1] * 8
    assert table("(xor X1 X1)") == [0] * 8


def test_every_operator_takes_any_number_of_arguments() -> None:
    many = " ".join(["X1", "X2"] * 1500)
    assert table(f"(and {many})") == table("(and X1 X2)")
    assert table(f"(or {many})") == table("(or X1 X2)")
    assert table(f"(iff {many})") == table("(iff X1 X2)")
    assert table(f"(xor {many} X1)") == table("X1")


@pytest.mark.parametrize(
    ("text", "size", "depth", "mentions"),
    [
        ("X3", 1, 1, 0b100),
        ("(X3)", 1, 1, 0b100),
        ("(not X1)", 2, 2, 0b1),
        ("(not (X1))", 2, 2, 0b1),
        ("(and X1 X2 X4)", 4, 2, 0b1011),
        ("(or (iff X3 (iff X1 X3 X4)) (not (xor X1 X2 X4)))", 12, 4, 0b1111),
        ("(and X1 (or X2 (not X2)))", 6, 4, 0b11),
    ],
)
def test_size_counts_nodes_depth_counts_levels_and_mentions_need_not_matter(
    text: str, size: int, depth: int, mentions: int
) -> None:
    formula = parse(text, KNOWN)
    assert (formula.size, formula.depth, formula.mentions) == (size, depth, mentions)


@given(trees)
def test_what_is_written_is_read_back_as_the_same_formula(tree: Tree) -> None:
    formula = parse(render(tree, NAMES), KNOWN)
    assert formula == formula_of(tree)
    assert formula.size == size_of(tree)
    assert formula.depth == depth_of(tree)
    assert formula.mentions == sum(1 << v for v in leaves_of(tree))


@given(trees)
def test_a_truth_table_is_what_the_recursive_evaluator_says(tree: Tree) -> None:
    truth = truth_table(formula_of(tree), N)
    assert [truth >> r & 1 for r in range(1 << N)] == [value_of(tree, row) for row in rows()]
    assert 0 <= truth <= everywhere(N)


@given(trees, st.lists(st.tuples(*[st.integers(0, 1)] * N), max_size=40))
def test_any_number_of_rows_is_evaluated_at_once(tree: Tree, seen: list[tuple[int, ...]]) -> None:
    laid = [sum(row[v] << r for r, row in enumerate(seen)) for v in range(N)]
    found = evaluate(formula_of(tree), laid, (1 << len(seen)) - 1)
    expected = [value_of(tree, dict(enumerate(row))) for row in seen]
    assert [found >> r & 1 for r in range(len(seen))] == expected
    assert found >> len(seen) == 0


@given(trees)
def test_essential_variables_are_those_whose_flip_can_change_the_value(tree: Tree) -> None:
    truth = truth_table(formula_of(tree), N)
    flips = {
        v
        for v in range(N)
        for row in rows()
        if value_of(tree, row) != value_of(tree, {**row, v: 1 - row[v]})
    }
    assert essential(truth, N) == sum(1 << v for v in flips)
    assert essential(truth, N, formula_of(tree).mentions) == sum(1 << v for v in flips)
    assert essential(truth, N, 0b0101) == sum(1 << v for v in flips & {0, 2})


@given(trees, st.permutations(range(N)), st.integers(0, N))
def test_a_projection_holds_the_other_variables_at_0(
    tree: Tree, order: list[int], count: int
) -> None:
    kept = order[:count]
    small = projected(truth_table(formula_of(tree), N), kept)
    for r in range(1 << count):
        row = dict.fromkeys(range(N), 0) | {v: r >> i & 1 for i, v in enumerate(kept)}
        assert small >> r & 1 == value_of(tree, row)
    assert small >> (1 << count) == 0


@given(st.permutations(range(N)), st.integers(0, N), st.data())
def test_a_lifted_function_ignores_what_it_was_not_given_over(
    order: list[int], count: int, data: st.DataObject
) -> None:
    over = order[:count]
    small = data.draw(st.integers(0, everywhere(count)))
    wide = lifted(small, over, N)
    for r, row in enumerate(rows()):
        assert wide >> r & 1 == small >> sum(row[v] << i for i, v in enumerate(over)) & 1
    assert projected(wide, over) == small
    assert essential(wide, N) & ~sum(1 << v for v in over) == 0


@given(trees, st.permutations(range(N)))
def test_renaming_variables_moves_the_columns_and_nothing_else(tree: Tree, to: list[int]) -> None:
    other = relabelled(tree, to)
    for row in rows():
        assert value_of(other, {to[v]: bit for v, bit in row.items()}) == value_of(tree, row)
    assert render(other, NAMES) == render(tree, [NAMES[v] for v in to])


def test_columns_are_the_tables_of_the_variables_themselves() -> None:
    for n in range(6):
        assert columns(n) == tuple(truth_table(Formula((v,), 1 << v), n) for v in range(n))
        assert everywhere(n).bit_count() == 1 << n


# Hostile text.


@pytest.mark.parametrize(
    "text",
    [
        "(not " * 100_000 + "X1" + ")" * 100_000,
        "(not " * 4_000,
        "(not" * 4_999,
        "(" * LONGEST,
        ")" * LONGEST,
        "X1 " * 6_000,
        "(and " + "X1 " * 6_000,
        "A" * LONGEST,
        " " * LONGEST,
        "(and X1 X2)" * 1_800,
        "(xor " + "(X1) " * 3_990,
    ],
    ids=lambda text: f"{text[:8]!r}… of {len(text)}",
)
def test_hostile_text_is_refused_at_once_and_never_by_a_recursion_error(text: str) -> None:
    def refused() -> None:
        with pytest.raises(FormulaError):
            parse(text, KNOWN)

    assert calls(refused) < 200_000


def test_nesting_is_bounded_by_length_alone_and_deep_formulas_have_values() -> None:
    for count in (3_000, 3_001):
        formula = parse("(not " * count + "X1" + ")" * count, KNOWN)
        assert (formula.size, formula.depth) == (count + 1, count + 1)
        assert truth_table(formula, 1) == (0b10 if count % 2 == 0 else 0b01)


def test_a_formula_of_just_the_longest_length_is_read() -> None:
    text = "(and X1 X2" + " " * (LONGEST - 11) + ")"
    assert parse(text, KNOWN).size == 3
    with pytest.raises(FormulaError, match="too long"):
        parse(text + " ", KNOWN)


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from(["(", ")", " ", "X1", "X2", "not", "xor", "\u00a0", "x"])).map("".join)
)
def test_any_text_is_read_or_refused_and_what_is_read_can_be_written_again(text: str) -> None:
    try:
        formula = parse(text, KNOWN)
    except FormulaError:
        return
    assert truth_table(formula, 2) in range(16)
    assert parse(f" {text} ", KNOWN) == formula
