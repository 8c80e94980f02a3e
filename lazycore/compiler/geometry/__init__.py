"""View geometry: reads and writes of strided views of a dense base, as IR nodes. Knows no torch.

``plan_view`` (and ``plan_dynamic``, where the offset is known only at launch) choose how; ``emit_read`` and
``emit_write`` write the nodes.
"""

from __future__ import annotations

from lazycore.compiler.geometry.emit import emit_read, emit_write, flatten_memory, unflatten_memory
from lazycore.compiler.geometry.layout import offset_is_fixed
from lazycore.compiler.geometry.plan import dynamic_plans, plan_dynamic, plan_gather, plan_view
from lazycore.compiler.geometry.recipe import DynamicRecipe, Recipe
from lazycore.compiler.geometry.steps import Emitter

__all__ = [
    "DynamicRecipe",
    "Emitter",
    "Recipe",
    "dynamic_plans",
    "emit_read",
    "emit_write",
    "flatten_memory",
    "offset_is_fixed",
    "plan_dynamic",
    "plan_gather",
    "plan_view",
    "unflatten_memory",
]
