"""The page: a template filled with an explanation. It loads nothing, so that it can be mailed and kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lazycore.report.explain.drawing import HEIGHT, WIDTH, draw

if TYPE_CHECKING:
    from lazycore.report.explain.explanation import Explanation

__all__ = ["render"]

# Apart in lightness too, so that they can be told apart in grey.
COLOURS = ("#2f6db5", "#c9721a", "#4b8f3a", "#8a56a8", "#8c6d31")
EAGER_COLOUR = "#b3392f"


def render(explanation: Explanation) -> str:
    """The explanation as one HTML document."""
    from jinja2 import Environment, PackageLoader, select_autoescape

    environment = Environment(
        loader=PackageLoader("lazycore.report.explain"), autoescape=select_autoescape(["html", "j2"]), trim_blocks=True
    )
    backends = sorted({s.backend for p in explanation.plans for s in p.steps} - {"eager"})
    colours = dict(zip(backends, COLOURS * (1 + len(backends) // len(COLOURS)), strict=False)) | {"eager": EAGER_COLOUR}
    most = max((sum(line.ops.values()) for line in explanation.lines), default=1)
    values: dict[str, Any] = {
        "e": explanation,
        "plans": [(plan, draw(plan)) for plan in explanation.plans],
        "colours": colours,
        "most": most,
        "box": (WIDTH, HEIGHT),
    }
    return environment.get_template("page.html.j2").render(values)
