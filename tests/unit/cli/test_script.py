"""``run_script`` against the interpreter itself: the same output, the same exit code, the same traceback."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from lazycore.cli import script

# Loaded from its file, so that these many processes need not import the device.
RUN = f"""
import runpy, sys
run_script = runpy.run_path({script.__file__!r})["run_script"]
sys.argv.pop(0)
run_script(sys.argv[0], sys.argv[1:])
"""

SCRIPTS = {
    "arguments": "import sys; print(sys.argv, sys.path[0])",
    "names": "print(__name__, __file__, __package__, __cached__, __doc__, __spec__, __builtins__)",
    "docstring": "'''Hello.'''\nprint(__doc__)",
    "main module": "import __main__; x = 5; print(__main__.x, vars(__main__) is globals())",
    "neighbour": "import neighbour; print(neighbour.x)",
    "pickle": "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A)",
    "inspect": "import inspect\ndef f(): return 1\nprint(inspect.getsource(f))",
    "no future": "def f(x: 1): pass\nprint(f.__annotations__)",
    "exit code": "import sys; sys.exit(7)",
    "exit text": "import sys; sys.exit('sorry')",
    "exit none": "raise SystemExit",
    "exception": "def f():\n    raise ValueError('x')\nf()",
    "chained": "try:\n    1 // 0\nexcept ZeroDivisionError as e:\n    raise KeyError('k') from e",
    "syntax": "print('never')\ndef (:\n",
    "encoding": "# coding: latin-1\nprint(ascii('\xe9'))",
    "atexit": "import atexit\natexit.register(lambda: print('bye', __name__))\n1 // 0",
    "excepthook": "import sys\nsys.excepthook = lambda *a: print('hook', a[0], a[2].tb_lineno)\n1 // 0",
    "thread": "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.1), print('late'))).start()",
}


def outcome(command: list[str], directory: Path) -> tuple[str, str, int]:
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False, timeout=60)
    return re.sub(r"0x[0-9a-f]+", "0x", done.stdout), done.stderr, done.returncode


@pytest.mark.parametrize("case", SCRIPTS)
def test_behaves_as_under_python(case: str, tmp_path: Path) -> None:
    encoding = "latin-1" if case == "encoding" else "utf-8"
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "main.py").write_text(SCRIPTS[case], encoding=encoding)
    (tmp_path / "sub" / "neighbour.py").write_text("x = 'from the directory of the script'")
    arguments = ["sub/main.py", "--flag", "-x", "--", "value"]
    expected = outcome([sys.executable, *arguments], tmp_path)
    assert outcome([sys.executable, "-c", RUN, *arguments], tmp_path) == expected


def test_an_interrupt_has_the_exit_code_that_shells_report(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("raise KeyboardInterrupt")
    _, errors, code = outcome([sys.executable, "-c", RUN, "main.py"], tmp_path)
    assert code == 130
    assert errors.splitlines()[-1] == "KeyboardInterrupt"
    assert "run_script" not in errors


def test_a_safe_path_gets_no_directory(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("import sys; print(sys.path)")
    expected = outcome([sys.executable, "-P", "main.py"], tmp_path)
    assert outcome([sys.executable, "-P", "-c", RUN, "main.py"], tmp_path) == expected
