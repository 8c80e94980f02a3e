"""The program's own threads and locks around backward passes."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable

import pytest
import torch

DEVICE = "lazycore"


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Run ``work(0) … work(count - 1)`` each in a thread; raises the first exception."""
    failures: list[BaseException] = []

    def guarded(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive(), "a thread hangs"
    if failures:
        raise failures[0]


@pytest.mark.parametrize("kind", [threading.Lock, threading.RLock])
def test_a_lock_held_around_backward(kind: Callable[[], threading.Lock]) -> None:
    lock = kind()
    x = torch.ones(2, device=DEVICE, requires_grad=True)
    y = x * 2
    seen: list[bool] = []
    # With a reentrant lock the hook takes it again, which only the thread that holds it can do.
    y.register_hook(lambda _: seen.append(lock.acquire(blocking=False)))

    def work(_: int) -> None:
        with lock:
            y.sum().backward()

    in_threads(1, work)
    assert seen == [kind is threading.RLock]
    assert x.grad.tolist() == [2, 2]


def test_backward_of_a_graph_made_in_another_thread() -> None:
    x = torch.ones(2, device=DEVICE, requires_grad=True)
    loss = (x * 2).sum()
    in_threads(1, lambda _: loss.backward())
    assert x.grad.tolist() == [2, 2]


def test_an_exception_in_another_thread_s_pass() -> None:
    class Trouble(Exception):
        pass

    def hook(_: torch.Tensor) -> None:
        raise Trouble

    y = torch.ones(2, device=DEVICE, requires_grad=True) * 2
    y.register_hook(hook)
    with pytest.raises(Trouble):
        in_threads(1, lambda _: y.sum().backward())


def test_models_of_their_own() -> None:
    model = torch.nn.Linear(4, 4).to(DEVICE)

    def work(number: int) -> None:
        for _ in range(5):
            twin = copy.deepcopy(model)
            twin(torch.full((2, 4), float(number), device=DEVICE)).sum().backward()
            assert twin.weight.grad.cpu().unique().tolist() == [2 * number]

    in_threads(4, work)


def test_one_model_read_by_all() -> None:
    weight = torch.arange(16.0, device=DEVICE).view(4, 4).requires_grad_()

    def work(number: int) -> None:
        for _ in range(10):
            x = torch.full((4,), float(number), device=DEVICE)
            (gradient,) = torch.autograd.grad((weight @ x).sum(), weight)
            assert gradient.unique().tolist() == [number]

    in_threads(4, work)


def test_gradients_accumulated_by_all() -> None:
    weight = torch.nn.Parameter(torch.zeros(2, device=DEVICE))

    def work(_: int) -> None:
        for _ in range(20):
            (weight * 1).sum().backward()

    for _ in range(3):
        weight.grad = torch.zeros(2, device=DEVICE)
        in_threads(3, work)
        assert weight.grad.tolist() == [60, 60]


def test_the_engine_keeps_the_thread_s_own_setting() -> None:
    before = torch._C._is_multithreading_enabled()
    for enabled in (True, False):
        torch._C._set_multithreading_enabled(enabled)
        torch.ones(2, device=DEVICE, requires_grad=True).sum().backward()
        assert torch._C._is_multithreading_enabled() is enabled
    torch._C._set_multithreading_enabled(before)
