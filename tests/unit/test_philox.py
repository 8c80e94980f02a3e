"""The random bits: Random123's published test vectors, and how a draw is laid out over blocks."""

from __future__ import annotations

import numpy as np
import pytest
from lazycore_plugin_api.philox import philox4x32, philox_words

ONES = 0xFFFFFFFF
# Random123, kat_vectors, "philox4x32 10": counter, key, result.
PUBLISHED = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((ONES, ONES, ONES, ONES), (ONES, ONES), (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("counter", "key", "expected"), PUBLISHED)
def test_published_vectors(counter: tuple[int, ...], key: tuple[int, int], expected: tuple[int, ...]) -> None:
    assert tuple(map(int, philox4x32(counter, key))) == expected


def test_a_draw_begins_with_the_first_published_block() -> None:
    (words,) = philox_words(0, 0, (4,), 1)
    assert words.dtype == np.uint32
    assert tuple(map(int, words)) == PUBLISHED[0][2]


def test_seed_is_the_key_and_offset_the_upper_half_of_the_counter() -> None:
    seed = 0x299F31D0 << 32 | 0xA4093822
    offset = 0x03707344 << 32 | 0x13198A2E
    expected = philox4x32((0, 0, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0))
    assert [int(w[0]) for w in philox_words(seed, offset, (1,), 4)] == [int(x) for x in expected]
    assert [int(w[0]) for w in philox_words(seed - (1 << 64), offset, (1,), 4)] == [int(x) for x in expected]


@pytest.mark.parametrize("count", [1, 3, 4, 4096 * 4 + 5])
def test_words_are_dealt_out_in_order(count: int) -> None:
    (flat,) = philox_words(5, 6, (count * 4,), 1)
    for words in (1, 2, 4):
        dealt = philox_words(5, 6, (count,), words)
        assert np.array_equal(np.stack(dealt, 1).reshape(-1), flat[: count * words])


def test_draws_do_not_overlap() -> None:
    drawn = np.concatenate([philox_words(1, offset, (1000,), 1)[0] for offset in range(20)])
    # 20,000 words of 32 bits: some 0.05 pairs of equal ones are to be expected by chance.
    assert len(np.unique(drawn)) > len(drawn) - 3


def test_another_number_of_words_is_refused() -> None:
    with pytest.raises(ValueError, match="not 3"):
        philox_words(0, 0, (2,), 3)
