"""Image models of timm. Inputs are as small as a model allows."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from modelkit.case import Built, Case
from modelkit.torchvision_schemas import make_importable

__all__ = ["IMAGE_MODELS"]

_CLASSES = 5


class _WithLoss(nn.Module):
    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.body = body

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor]:
        return (nn.functional.cross_entropy(self.body(x), y),)


def _row(name: str, side: int = 64, **options: Any) -> Case:
    """``timm.create_model(name, **options)`` on two images of this side."""

    def make() -> Built:
        make_importable()
        import timm

        model = timm.create_model(name, pretrained=False, num_classes=_CLASSES, **options)
        return _WithLoss(model), {"x": torch.randn(2, 3, side, side), "y": torch.tensor([0, 3])}

    return Case("timm", make)


IMAGE_MODELS: dict[str, Case] = {
    "resnet18": _row("resnet18"),
    "convnext_atto": _row("convnext_atto"),
    "mobilenetv3": _row("mobilenetv3_small_050"),
    "efficientnet_b0": _row("efficientnet_b0"),
    "densenet121": _row("densenet121"),
    "nfnet_l0": _row("nfnet_l0"),
    "vit_tiny": _row("vit_tiny_patch16_224", img_size=64, depth=2),
    "mixer": _row("mixer_s32_224", img_size=64),
}
