"""Keys are exact: equal where the call is the same, by type and bits, and nowhere else."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazycore.trace.keys import (
    DYNAMIC,
    FLOAT,
    INT,
    LIFTED_FLOAT,
    LIFTED_INT,
    VIEW,
    WRAPS,
    Mark,
    literal_key,
    masked,
    scalar_key,
)

NAN = float("nan")
numbers = st.one_of(
    st.booleans(), st.integers(), st.floats(), st.complex_numbers(), st.sampled_from([0, 0.0, -0.0, 1, 1.0, True, 0j])
)


def bits(number: object) -> object:
    if isinstance(number, complex):
        return complex, struct.pack("dd", number.real, number.imag)
    return type(number), struct.pack("d", number) if isinstance(number, float) else number


@given(numbers, numbers)
def test_literals_are_equal_exactly_where_type_and_bits_are(a: object, b: object) -> None:
    assert (literal_key(a) == literal_key(b)) == (bits(a) == bits(b))


@given(numbers)
def test_a_literal_finds_itself_again(number: object) -> None:
    assert {literal_key(number): 1}[literal_key(number)] == 1


def test_the_classic_collisions_stay_apart() -> None:
    alike = [True, 1, 1.0, 1 + 0j]
    assert len({literal_key(n) for n in alike}) == len(alike)
    assert len({literal_key(n) for n in (0, 0.0, -0.0, False, 0j, -0j, complex(0.0, -0.0))}) == 7
    assert {literal_key(NAN): 1}.get(literal_key(float("nan"))) == 1


@pytest.mark.parametrize("number", [0.0, 1.0, -1.0, 2.0, 0.5, -0.0])
def test_special_floats_stay_exact(number: float) -> None:
    key = scalar_key(number)
    assert key[0] is FLOAT
    assert masked(key) is LIFTED_FLOAT


def test_the_two_zeros_are_special_each_for_itself() -> None:
    assert scalar_key(0.0) != scalar_key(-0.0)


@given(st.floats().filter(lambda x: x not in (0.0, 1.0, -1.0, 2.0, 0.5)))
def test_other_floats_are_lifted(number: float) -> None:
    assert scalar_key(number) is LIFTED_FLOAT


@given(st.integers(), st.integers())
def test_integers_are_exact_until_they_vary(a: int, b: int) -> None:
    assert scalar_key(a) == (INT, a)
    assert (scalar_key(a) == scalar_key(b)) == (a == b)
    assert masked(scalar_key(a)) is LIFTED_INT


@given(st.one_of(st.booleans(), st.complex_numbers()))
def test_bools_and_complex_numbers_are_never_lifted(number: object) -> None:
    assert scalar_key(number) == literal_key(number)
    assert masked(scalar_key(number)) == scalar_key(number)


def test_masking_reaches_into_lists_and_leaves_the_rest() -> None:
    key = (7, -1, ((FLOAT, 1.0), (INT, 3)), (float, b"12345678"), "mean", None, ())
    assert masked(key) == (7, -1, (LIFTED_FLOAT, LIFTED_INT), (float, b"12345678"), "mean", None, ())


def test_masking_a_view_frees_its_offset_alone() -> None:
    view = (VIEW, 3, (2, 2), (4, 1), 5, DYNAMIC, None)
    assert masked(view) == (VIEW, 3, (2, 2), (4, 1), DYNAMIC, DYNAMIC, None)
    wrapping = (VIEW, 3, (2, 2), (4, 1), 5, WRAPS, None)
    assert masked(wrapping) != masked(view)


def test_an_offset_that_cannot_vary_is_not_masked() -> None:
    view = (VIEW, 3, (4,), (1,), 0, None, None)
    assert masked(view) == view


@given(numbers)
def test_masking_twice_is_masking_once(number: object) -> None:
    key = (1, scalar_key(number), (scalar_key(number),))
    assert masked(masked(key)) == masked(key)


def test_a_mark_equals_nothing_else() -> None:
    assert Mark("FLOAT") != FLOAT
    assert repr(FLOAT) == "FLOAT"
