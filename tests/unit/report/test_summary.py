from __future__ import annotations

from typing import Any

from lazycore.report.placement import summary

COUNTS: dict[str, Any] = {
    "ops_recorded": 9312, "syncs": 48, "traces": 3, "compiles": 2, "cache_hits": 46, "compile_seconds": 0.8123,
    "cache_loads": 0, "load_seconds": 0.0, "fallbacks": {},
}  # fmt: skip


def test_names_backends_and_counts() -> None:
    line = summary(COUNTS, ["acme:npu", "xla:cpu"])
    assert line == (
        "lazycore: acme:npu, xla:cpu: 9312 ops in 48 syncs (46 cached), 2 compiles in 0.81 s; eager: nothing"
    )


def test_what_was_loaded_is_told_apart_from_what_was_compiled() -> None:
    line = summary(
        COUNTS | {"compiles": 0, "compile_seconds": 0.0, "cache_loads": 3, "load_seconds": 0.257}, ["xla:cpu"]
    )
    assert "0 compiles in 0.00 s, 3 loaded in 0.26 s; eager" in line


def test_one_is_singular() -> None:
    line = summary(COUNTS | {"ops_recorded": 1, "syncs": 1, "compiles": 1}, ["xla:cpu"])
    assert "1 op in 1 sync (46 cached), 1 compile in" in line


def test_fallbacks_come_most_frequent_first_and_the_rest_is_counted() -> None:
    fallbacks = {f"aten.op{i}.default": i + 1 for i in range(7)}
    line = summary(COUNTS | {"fallbacks": fallbacks}, ["xla:cpu"])
    eager = line.partition("eager: ")[2]
    assert eager.startswith("aten.op6.default \N{MULTIPLICATION SIGN}7, aten.op5.default")
    assert eager.endswith(", 2 more")


def test_equal_fallbacks_have_a_fixed_order() -> None:
    lines = {summary(COUNTS | {"fallbacks": f}, []) for f in ({"b": 2, "a": 2}, {"a": 2, "b": 2})}
    assert len(lines) == 1
    assert "lazycore: no backend: " in lines.pop()


def test_a_program_that_never_used_the_device_is_told() -> None:
    assert summary(COUNTS | {"ops_recorded": 0}, []) == "lazycore: no op ran on the lazycore device"
