"""An error that is kept holds nothing of the program."""

from __future__ import annotations

from lazycore_plugin_api import BackendError, LazycoreError

from lazycore.trace.kept_errors import frameless


class Picky(Exception):
    """An error that cannot be made from its ``args``."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{code}: {text}")


def raised(error: Exception, cause: Exception | None = None) -> Exception:
    try:
        try:
            raise cause or KeyError("context")
        except Exception as inner:
            raise error from (inner if cause else None)
    except Exception as caught:
        return caught


def test_the_copy_is_the_error_without_its_frames() -> None:
    error = raised(BackendError("acme: broken"), ValueError("fire"))
    kept = frameless(error)
    assert kept is not error
    assert (type(kept), str(kept)) == (BackendError, "acme: broken")
    assert kept.__traceback__ is kept.__context__ is None
    assert isinstance(kept.__cause__, ValueError)
    assert str(kept.__cause__) == "fire"
    assert kept.__cause__.__traceback__ is None
    assert error.__traceback__ is not None, "the error that was raised keeps its own"


def test_a_context_is_dropped() -> None:
    kept = frameless(raised(IndexError("7")))
    assert (str(kept), kept.__cause__, kept.__context__) == ("7", None, None)


def test_an_error_that_cannot_be_copied_keeps_its_text() -> None:
    kept = frameless(raised(Picky(3, "no")))
    assert type(kept) is LazycoreError
    assert str(kept) == "Picky: 3: no"
