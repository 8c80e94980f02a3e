"""The module that XLA compiles names the lines of the user's program."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from lazycore_plugin_api import Source


def innermost_lines(module: str) -> dict[str, tuple[str, int]]:
    """ATen op -> (file, line) that the module's metadata give as the place of its instructions."""
    table = re.search(r"FileNames\n(.*?)\n\n", module, re.DOTALL)
    assert table
    files = dict(re.findall(r'^(\d+) "(.*)"$', table[1], re.MULTILINE))
    locations = {
        number: (files[file], int(line))
        for number, file, line in re.findall(r"^(\d+) \{file_name_id=(\d+) .*? line=(\d+)", module, re.MULTILINE)
    }
    frames = dict(re.findall(r"^(\d+) \{file_location_id=(\d+)", module, re.MULTILINE))
    places = re.findall(r'op_name="jit\(\w+\)/(aten\.\w+\.\w+)/[^"]*" stack_frame_id=(\d+)', module)
    return {op: locations[frames[frame]] for op, frame in places}


def test_instructions_carry_the_users_file_and_line(xla, segment, node):
    array = np.ones((3, 3), np.float32)

    def compose(values):
        (x,) = values
        product = replace(node("aten.mm.default", x, x, to=1), source=Source("/home/user/train.py", 12))
        sine = replace(node("aten.sin.default", product.outputs[0], to=2), source=Source("/home/user/model.py", 345))
        return [product, sine], sine.outputs

    executable = xla.compile(segment([array], compose))
    lines = innermost_lines(executable._compiled.as_text())
    assert lines["aten.sin.default"] == ("/home/user/model.py", 345)
    assert lines["aten.mm.default"] == ("/home/user/train.py", 12)
