"""``lazycore verify`` and ``lazycore repro`` as commands: exit codes, files, and a vendor's machine without torch."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from lazycore_plugin_api import DType, LazycoreError, Node, Segment, Target, TensorSpec, Value
from lazycore_plugin_api.difference import Tolerance
from lazycore_plugin_api.reproducer import Reproducer, read, write

from .conftest import WRONG_OP, lay_out

SCRIPT = """
import sys, torch
x = torch.linspace(-1, 1, 6).to("lazycore")
y = torch.tanh(x * 2.5)
z = (y.square() + sys.argv.count("fail")).sum()
print(z.item())
if "fail" in sys.argv:
    raise ValueError("the script's own")
"""
EXTRA = '\nOP = "aten.tanh.default"\nFUNCTION = lambda x: np.tanh(x) * np.float32(1.5)\n' + WRONG_OP
# What a vendor's machine has: the contract and the plugin.
BLOCKED = "import sys; sys.modules.update(torch=None, lazycore=None); "


def run(directory: Path, *command: str) -> subprocess.CompletedProcess[str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("LAZYCORE_")}
    path = os.pathsep.join([str(directory / "site"), *filter(None, [inherited.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, *command], cwd=directory, env=inherited | {"PYTHONPATH": path},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_from_a_wrong_backend_to_a_reproducer(tmp_path: Path) -> None:
    lay_out(tmp_path / "site", "verify_cli", "wrong", EXTRA)
    (tmp_path / "main.py").write_text(SCRIPT)
    done = run(tmp_path, "-m", "lazycore", "verify", "--backend", "wrong", "--out", "r.zip", "main.py")
    assert done.returncode == 1
    assert done.stdout == "", "the program is stopped before it sees the wrong value"
    assert "aten.tanh.default" in done.stderr
    assert f"{tmp_path / 'main.py'}:4" in done.stderr
    assert "6 of 6 elements differ" in done.stderr
    assert f"`lazycore repro {tmp_path / 'r.zip'}`" in done.stderr

    again = run(tmp_path, "-m", "lazycore", "repro", "r.zip")
    assert (again.returncode, "wrong:cpu differs:" in again.stdout) == (1, True), again.stderr
    assert "(off by " in again.stdout
    right = run(tmp_path, "-m", "lazycore", "repro", "r.zip", "--backend", "reference")
    assert (right.returncode, "reference:cpu computes what is right" in right.stdout) == (0, True), right.stderr

    alone = BLOCKED + "from lazycore_plugin_api.repro import main; sys.exit(main(sys.argv[1:]))"
    bare = run(tmp_path, "-c", alone, "r.zip")
    assert (bare.returncode, "wrong differs:" in bare.stdout) == (1, True), bare.stderr
    assert bare.stdout.splitlines()[-1] == again.stdout.splitlines()[-1]
    sound = run(tmp_path, "-c", alone, "r.zip", "--backend", "reference")
    assert (sound.returncode, "reference computes what is right" in sound.stdout) == (0, True), sound.stderr
    nobody = run(tmp_path, "-c", alone, "r.zip", "--backend", "nobody")
    assert (nobody.returncode, "no backend named 'nobody'" in nobody.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--backend", "sound", "main.py"), 0, "launches of 1 segments compared with eager PyTorch: none differs"),
        (("--backend", "reference", "main.py", "fail"), 1, "the script failed; until then, "),
        (("--backend", "nobody", "main.py"), 2, "no backend named 'nobody' is installed"),
        (("--backend", "reference", "empty.py"), 2, "nothing was compared"),
    ],
)
def test_exit_codes(tmp_path: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    lay_out(tmp_path / "site", "verify_sound", "sound", "")
    (tmp_path / "main.py").write_text(SCRIPT)
    (tmp_path / "empty.py").write_text("import torch; print(torch.ones(2).sum())")
    done = run(tmp_path, "-m", "lazycore", "verify", *arguments)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert ("Traceback" in done.stderr) == ("fail" in arguments)


X = Value(0, TensorSpec((2,), DType.float32))


def reproducer() -> Reproducer:
    import numpy as np

    y = Value(1, X.spec)
    segment = Segment((X,), [Node("aten.neg.default", (X,), {}, (y,))], (y,))
    return Reproducer(
        Target("acme", "cpu", {"level": 3}), segment, [np.ones(2, "f4")], [-np.ones(2, "f4")], [Tolerance()]
    )


def test_a_reproducer_comes_back_as_it_was(tmp_path: Path) -> None:
    write(reproducer(), tmp_path / "r.zip")
    again = read(tmp_path / "r.zip")
    assert again.target == Target("acme", "cpu", {"level": 3})
    assert again.tolerances == [Tolerance()]
    assert str(again.segment) == str(reproducer().segment)


def damaged(path: Path, name: str, content: bytes | None) -> None:
    """The file with one member exchanged, or left out."""
    with zipfile.ZipFile(path) as archive:
        members = {n: archive.read(n) for n in archive.namelist() if n != name}
    if content is not None:
        members[name] = content
    with zipfile.ZipFile(path, "w") as archive:
        for n, data in members.items():
            archive.writestr(n, data)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("input-0.npy", None),
        ("graph.json", b"{}"),
        ("graph.json", b'{"format": 1, "inputs": [], "nodes": [], "outputs": []}'),
        ("reproducer.json", b'{"format": 99}'),
        ("reproducer.json", b"not json"),
        ("expected-0.npy", b"\x93NUMPY\x01\x00"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, name: str, content: bytes | None) -> None:
    path = tmp_path / "r.zip"
    write(reproducer(), path)
    damaged(path, name, content)
    with pytest.raises(LazycoreError, match=r"r\.zip is no reproducer of this version"):
        read(path)


def test_pickled_arrays_are_refused(tmp_path: Path) -> None:
    import io

    import numpy as np

    stream = io.BytesIO()
    np.save(stream, np.array([print, print], object), allow_pickle=True)
    path = tmp_path / "r.zip"
    write(reproducer(), path)
    damaged(path, "input-0.npy", stream.getvalue())
    with pytest.raises(LazycoreError, match="allow_pickle"):
        read(path)
