"""The rule language: its whitelist, its limits, and that a tree and its text are the same thing."""

from __future__ import annotations

import keyword

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from exactworlds.spec.rules import _at  # isort: skip
from exactworlds.spec.rules import (
    LONGEST_RULE,
    Arithmetic,
    Choose,
    Comparison,
    Expression,
    Extremum,
    Level,
    Logical,
    Lookup,
    Name,
    Negate,
    Not,
    Number,
    RuleSyntaxError,
    children,
    names_in,
    parse_rule,
    rule_text,
)

NAMES = st.from_regex(r"[a-z_][a-z0-9_]{0,6}", fullmatch=True).filter(lambda name: not keyword.iskeyword(name))
LEAVES: st.SearchStrategy[Expression] = (
    st.from_regex(r"(0|[1-9][0-9]{0,5})(\.[0-9]{1,6})?", fullmatch=True).map(Number)
    | st.text(max_size=8).map(Level)
    | NAMES.map(Name)
)


def grow(below: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    several = st.lists(below, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        below.map(Negate),
        below.map(Not),
        st.builds(Arithmetic, st.sampled_from(["+", "-", "*"]), below, below),
        st.builds(Comparison, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), below, below),
        st.builds(Extremum, st.sampled_from(["min", "max"]), several),
        st.builds(Logical, st.sampled_from(["and", "or"]), several),
        st.builds(Choose, below, below, below),
        st.builds(Lookup, NAMES, st.lists(below, min_size=1, max_size=2).map(tuple)),
    )


TREES = st.recursive(LEAVES, grow, max_leaves=20)


@given(TREES)
def test_parsing_the_text_of_a_tree_gives_the_tree(tree: Expression) -> None:
    text = rule_text(tree)
    assume(len(text) <= LONGEST_RULE)
    assert parse_rule(text) == tree
    assert parse_rule(text.replace(" ", "\n ") if "'" not in text and '"' not in text else f"\n {text}\n") == tree


@given(TREES, TREES)
def test_equal_trees_have_equal_texts(one: Expression, other: Expression) -> None:
    assert (rule_text(one) == rule_text(other)) == (one == other)


@given(TREES)
def test_names_are_those_of_the_leaves(tree: Expression) -> None:
    def leaves(node: Expression) -> list[Expression]:
        below = children(node)
        return [leaf for part in below for leaf in leaves(part)] if below else [node]

    assert list(names_in(tree)) == [leaf.name for leaf in leaves(tree) if isinstance(leaf, Name)]


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a + b * c", Arithmetic("+", Name("a"), Arithmetic("*", Name("b"), Name("c")))),
        ("a - b - c", Arithmetic("-", Arithmetic("-", Name("a"), Name("b")), Name("c"))),
        ("-a * b", Arithmetic("*", Negate(Name("a")), Name("b"))),
        ("not a == b", Not(Comparison("==", Name("a"), Name("b")))),
        ("a or b and c", Logical("or", (Name("a"), Logical("and", (Name("b"), Name("c")))))),
        ("a and b and c", Logical("and", (Name("a"), Name("b"), Name("c")))),
        ("a if b else c if d else e", Choose(Name("b"), Name("a"), Choose(Name("d"), Name("c"), Name("e")))),
        ("t[a, 'x']", Lookup("t", (Name("a"), Level("x")))),
        ("t[u[a]]", Lookup("t", (Lookup("u", (Name("a"),)),))),
        ("t[-1]", Lookup("t", (Negate(Number("1")),))),
        ("min(a, 1.50, 0)", Extremum("min", (Name("a"), Number("1.50"), Number("0")))),
        ("a < -0.5", Comparison("<", Name("a"), Negate(Number("0.5")))),
        ('a == "it\'s"', Comparison("==", Name("a"), Level("it's"))),
        ("a\n+\nb", Arithmetic("+", Name("a"), Name("b"))),
        ("'größe' == a", Comparison("==", Level("größe"), Name("a"))),
        ("'(' == a", Comparison("==", Level("("), Name("a"))),
        ("'#' == a", Comparison("==", Level("#"), Name("a"))),
    ],
)
def test_precedence_is_that_of_arithmetic(text: str, tree: Expression) -> None:
    assert parse_rule(text) == tree


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "found nothing, expected an expression"),
        ("a / 2", "division is not in the language"),
        ("a // 2", "// is not in the language"),
        ("a % 2", "% is not in the language"),
        ("a ** 2", "powers are not in the language"),
        ("a @ b", "only . - . join numbers"),
        ("a << 2", "only . - . join numbers"),
        ("a | b", "only . - . join numbers"),
        ("+a", "not in the language"),
        ("~a", "not in the language"),
        ("a.b", "a dot after a name is not in the language"),
        ("a < b < c", "comparisons are not chained"),
        ("a in b", "not in the language"),
        ("a is b", "not in the language"),
        ("a not in b", "not in the language"),
        ("f(a)", "only min.* and max.* can be called"),
        ("__import__('os')", "only min.* and max.* can be called"),
        ("min(a)", "min takes two or more numbers"),
        ("max()", "max takes two or more numbers"),
        ("min(a, b, key=c)", "only min"),
        ("min(*a)", "min takes"),
        ("lambda: a", "lambda is not in the language"),
        ("(a, b)", "a list of values stands only between the brackets of a table"),
        ("[a]", "a list of values stands only between the brackets of a table"),
        ("{a}", "not in the language"),
        ("{a: b}", "not in the language"),
        ("[a for a in b]", "not in the language"),
        ("(a := 1)", "not in the language"),
        ("t[a:b]", "not in the language"),
        ("t[()]", "."),
        ("t[*a]", "not in the language"),
        ("t[a][b]", "."),
        ("(t)[a].b", "a dot after a name"),
        ("True", "expected a finite decimal"),
        ("None", "expected a finite decimal"),
        ("...", "expected a finite decimal"),
        ("1e3", "expected a finite decimal"),
        ("1_000", "expected a finite decimal"),
        ("0x10", "expected a finite decimal"),
        ("1.", "expected a finite decimal"),
        (".5", "expected a finite decimal"),
        ("2j", "expected a finite decimal"),
        ("b'x'", "expected a finite decimal"),
        ("r'x'", "in one pair of quotes"),
        ("'a' 'b'", "in one pair of quotes"),
        ("'''a'''", "in one pair of quotes"),
        ("f'{a}'", "not in the language"),
        ("ａ < 1", "expected a name"),
        ("größe < 1", "expected a name"),
        ("await a", "."),
        ("yield a", "."),
        ("a = 1", "."),
        ("a; b", "."),
        ("a)", "without its opening bracket"),
        ("(a", "never closed"),
        ("(a]", "."),
        ("'a", "."),
        ("01", "."),
        ("a # b", "'#'"),
        ("a \0 b", "not in the language"),
        ("a \r b", "not in the language"),
        ("'a\rb'", "not in the language"),
        ("a < ", "."),
        ("if", "."),
    ],
)  # fmt: skip
def test_what_is_not_on_the_list_is_refused(text: str, message: str) -> None:
    with pytest.raises(RuleSyntaxError, match=message):
        parse_rule(text)


@given(st.text(max_size=40) | st.text(alphabet="ab01.<=>!+-*/()[]{},'\" \n\r\\:#@fi", max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        tree = parse_rule(text)
    except RuleSyntaxError as error:
        message = str(error)
    else:
        message = ""
        assert parse_rule(rule_text(tree)) == tree
    assert message.isprintable() or "\n" in text


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a + b / c", "column 5: found 'b / c'"),
        ("a\n+ b / c", "line 2, column 3: found 'b / c'"),
        ("'größe' == a.b", "column 12: found 'a.b'"),
        ("a +\n  (b", "line 2, column 5"),
        ("(((((a", "column 7: 5 opening bracket"),
    ],
)
def test_a_refusal_says_where(text: str, place: str) -> None:
    with pytest.raises(RuleSyntaxError) as caught:
        parse_rule(text)
    assert str(caught.value).startswith(place)


def test_limits() -> None:
    assert parse_rule("(" * 100 + "a" + ")" * 100) == Name("a")
    with pytest.raises(RuleSyntaxError, match="more than 100 deep"):
        parse_rule("(" * 101 + "a" + ")" * 101)
    parse_rule(" + ".join(["a"] * 201))
    with pytest.raises(RuleSyntaxError, match="more than 200 parts"):
        parse_rule(" + ".join(["a"] * 202))
    assert parse_rule("a".ljust(LONGEST_RULE)) == Name("a")
    with pytest.raises(RuleSyntaxError, match="found 10,001 characters"):
        parse_rule("a".ljust(LONGEST_RULE + 1))
    assert parse_rule("1." + "0" * 998) == Number("1." + "0" * 998)
    with pytest.raises(RuleSyntaxError, match="at most 1000 characters"):
        parse_rule("1." + "0" * 999)


def test_a_rule_that_begins_with_an_empty_line_is_counted_from_its_own_line() -> None:
    assert _at("\na + b", 3) == "column 3"
    assert _at("\na +\nb", 5) == "line 3, column 1"
