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


def _row(name: str, side: int = 64, batch: int = 2, **options: Any) -> Case:
    """``timm.create_model(name, **options)`` on images of this side."""

    def make() -> Built:
        make_importable()
        import timm

        model = timm.create_model(name, pretrained=False, num_classes=_CLASSES, **options)
        return _WithLoss(model), {"x": torch.randn(batch, 3, side, side), "y": torch.arange(batch) % _CLASSES}

    return Case("timm", make)


def _sensitive(name: str) -> Case:
    """One that normalizes few elements many times."""
    return _row(name, batch=4).but(descent=True)


def _cut(name: str, **options: Any) -> Case:
    """One whose first traces end where its equal blocks begin anew."""
    return _row(name, **options).but(late="a loop ends the first traces, until it is seen to be a part of the step")


_TWO: dict[str, Any] = {"img_size": 64, "depth": 2}
_STAGES: dict[str, Any] = {"img_size": 64, "depths": (1, 1, 1, 1)}

IMAGE_MODELS: dict[str, Case] = {
    "resnet18": _row("resnet18"),
    "convnext_atto": _row("convnext_atto"),
    "convnextv2_atto": _row("convnextv2_atto"),
    "mobilenetv3": _row("mobilenetv3_small_050"),
    "efficientnet_b0": _row("efficientnet_b0"),
    "nfnet_l0": _row("nfnet_l0"),
    "regnetx": _row("regnetx_002"),
    "regnety": _row("regnety_002"),
    "ghostnet": _row("ghostnet_050"),
    "edgenext": _row("edgenext_xx_small"),
    "resnest14d": _row("resnest14d"),
    "seresnext26d": _row("seresnext26d_32x4d"),
    "hardcorenas": _row("hardcorenas_a"),
    "poolformer": _row("poolformer_s12"),
    "visformer": _row("visformer_tiny", img_size=64),
    "vit_tiny": _row("vit_tiny_patch16_224", **_TWO),
    "deit": _row("deit_tiny_distilled_patch16_224", **_TWO),
    "beit": _row("beit_base_patch16_224", embed_dim=96, num_heads=4, **_TWO),
    "eva02": _row("eva02_tiny_patch14_224", side=56, img_size=56, depth=2),
    "tnt": _row("tnt_s_patch16_224", **_TWO),
    "xcit": _row("xcit_nano_12_p16_224", **_TWO),
    "cait": _row("cait_xxs24_224", **_TWO),
    "pit": _row("pit_ti_224", img_size=64),
    "convit": _row("convit_tiny", img_size=64, depth=3, local_up_to_layer=2),
    "twins": _row("twins_svt_small", **_STAGES),
    "swin": _row("swin_tiny_patch4_window7_224", side=56, **(_STAGES | {"img_size": 56})),
    "swinv2": _row("swinv2_tiny_window8_256", **_STAGES),
    "mixer": _row("mixer_s32_224", img_size=64),
    "gmixer": _row("gmixer_12_224", img_size=64),
    "resmlp": _row("resmlp_12_224", img_size=64),
    "gmlp": _row("gmlp_ti16_224", img_size=64),
    "res2net": _cut("res2net50_14w_8s"),
    "maxvit": _cut("maxvit_rmlp_pico_rw_256", img_size=64),
    "densenet121": _sensitive("densenet121"),
    "mobilenetv2": _sensitive("mobilenetv2_050"),
    "mobilenetv4": _sensitive("mobilenetv4_conv_small_050"),
    "hrnet": _sensitive("hrnet_w18_small"),
    "dla34": _sensitive("dla34"),
    "xception41": _sensitive("xception41"),
    "vovnet39a": _sensitive("vovnet39a"),
    "selecsls42b": _sensitive("selecsls42b"),
}
