"""Real models of other libraries, with random weights and small configurations, and how they are trained."""

from __future__ import annotations

from modelkit.case import Case
from modelkit.decoders import DECODERS
from modelkit.encoders import ENCODERS
from modelkit.grouped_decoders import GROUPED_DECODERS
from modelkit.image_models import IMAGE_MODELS
from modelkit.other_decoders import OTHER_DECODERS
from modelkit.other_encoders import OTHER_ENCODERS
from modelkit.other_vision import OTHER_VISION
from modelkit.senses import SENSES
from modelkit.sequence_to_sequence import SEQUENCE_TO_SEQUENCE
from modelkit.vision import VISION

__all__ = ["MODELS", "QUICK"]

MODELS: dict[str, Case] = {
    **ENCODERS, **OTHER_ENCODERS, **DECODERS, **GROUPED_DECODERS, **OTHER_DECODERS, **SEQUENCE_TO_SEQUENCE, **VISION,
    **OTHER_VISION, **SENSES,
    **{f"timm-{name}": case for name, case in IMAGE_MODELS.items()},
}  # fmt: skip

QUICK = ("gpt2", "vit")
"""Models that take a second or two on the reference backend."""
