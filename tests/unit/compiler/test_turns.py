"""Backends that cannot be called from two threads at once are not."""

from __future__ import annotations

from dataclasses import replace
from threading import Thread

from lazycore_plugin_api import Capabilities, Threads
from plan_fakes.backends import FakeBackend

from lazycore.compiler.turns import run_turn


def _backend(**capabilities: Threads) -> FakeBackend:
    backend = FakeBackend("a")
    backend.info = replace(backend.info, capabilities=Capabilities(**capabilities))
    return backend


def test_one_turn_per_session() -> None:
    one, two = _backend(), _backend()
    assert run_turn(one) is run_turn(one)
    assert run_turn(one) is not run_turn(two)


def test_no_turns_where_threads_are_free() -> None:
    assert run_turn(_backend(run_threads=Threads.concurrent)) is None


def test_another_thread_waits() -> None:
    turn = run_turn(_backend())
    order: list[str] = []

    def other() -> None:
        with turn:
            order.append("other")

    thread = Thread(target=other)
    with turn:
        thread.start()
        thread.join(0.05)
        order.append("first")
    thread.join()
    assert order == ["first", "other"]
