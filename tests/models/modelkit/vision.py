"""Image models of transformers: attention in windows and at several scales, convolutions, masked patches."""

from __future__ import annotations

from typing import Any

import torch

from modelkit.case import Case
from modelkit.hugging_face import BATCH, labelled_images, row

__all__ = ["PATCHES", "VISION", "segmented"]

PATCHES: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "image_size": 32,
    "patch_size": 8,
}  # fmt: skip
_VIT: dict[str, Any] = {**PATCHES, "num_labels": 5}
_WINDOWS: dict[str, Any] = {
    "image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4,
    "num_labels": 5,
}  # fmt: skip
_FOCAL: dict[str, Any] = {
    "image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [1, 1], "hidden_sizes": [16, 32],
    "focal_levels": [2, 2], "focal_windows": [3, 3], "num_labels": 5,
}  # fmt: skip
_SEGFORMER: dict[str, Any] = {
    "num_encoder_blocks": 2, "depths": [1, 1], "sr_ratios": [4, 2], "hidden_sizes": [16, 32], "patch_sizes": [7, 3],
    "strides": [4, 2], "num_attention_heads": [1, 2], "mlp_ratios": [2, 2], "decoder_hidden_size": 32, "num_labels": 5,
}  # fmt: skip
_DPT: dict[str, Any] = {
    **_VIT, "num_hidden_layers": 4, "backbone_out_indices": [0, 1, 2, 3], "neck_hidden_sizes": [8, 8, 16, 16],
    "fusion_hidden_size": 16, "is_hybrid": False,
}  # fmt: skip
_MAE: dict[str, Any] = {
    **PATCHES, "decoder_hidden_size": 32, "decoder_num_hidden_layers": 1, "decoder_num_attention_heads": 4,
    "decoder_intermediate_size": 64,
}  # fmt: skip
_MOBILE: dict[str, Any] = {
    "image_size": 64, "hidden_sizes": [16, 24, 32], "neck_hidden_sizes": [8, 8, 8, 16, 24, 32, 32], "num_labels": 5,
}  # fmt: skip
_STAGES: dict[str, Any] = {"hidden_sizes": [16, 32], "depths": [1, 1], "num_labels": 5}
_PVT: dict[str, Any] = {
    "image_size": 64, "hidden_sizes": [8, 16, 32, 32], "depths": [1, 1, 1, 1], "num_attention_heads": [1, 2, 2, 4],
    "num_labels": 5,
}  # fmt: skip
_HIERA: dict[str, Any] = {
    "image_size": [64, 64], "embed_dim": 16, "depths": [1, 1, 1, 1], "num_heads": [1, 2, 2, 4], "num_labels": 5,
}  # fmt: skip

_SMALL, _LARGE = labelled_images(32), labelled_images(64)


def segmented(side: int) -> dict[str, Any]:
    """Square colour images with a class for each pixel."""
    return {"pixel_values": torch.randn(BATCH, 3, side, side), "labels": torch.randint(0, 5, (BATCH, side, side))}


def _masked_patches() -> dict[str, Any]:
    return {"pixel_values": torch.randn(BATCH, 3, 32, 32), "noise": torch.rand(BATCH, 16)}


VISION: dict[str, Case] = {
    "vit": row("ViTForImageClassification", "ViTConfig", _SMALL, **_VIT),
    "deit": row("DeiTForImageClassification", "DeiTConfig", _SMALL, **_VIT),
    "beit": row("BeitForImageClassification", "BeitConfig", _SMALL, use_relative_position_bias=True, **_VIT),
    "dinov2": row("Dinov2ForImageClassification", "Dinov2Config", _SMALL, use_swiglu_ffn=True, **_VIT),
    "vitmae": row("ViTMAEForPreTraining", "ViTMAEConfig", _masked_patches, **_MAE),
    "swin": row("SwinForImageClassification", "SwinConfig", _SMALL, **_WINDOWS),
    "swinv2": row("Swinv2ForImageClassification", "Swinv2Config", _SMALL, **_WINDOWS),
    "focalnet": row("FocalNetForImageClassification", "FocalNetConfig", _SMALL, **_FOCAL),
    "hiera": row("HieraForImageClassification", "HieraConfig", _LARGE, **_HIERA),
    "pvt": row("PvtForImageClassification", "PvtConfig", _LARGE, **_PVT),
    "convnext": row("ConvNextForImageClassification", "ConvNextConfig", _SMALL, num_stages=2, **_STAGES),
    "resnet": row("ResNetForImageClassification", "ResNetConfig", _LARGE, embedding_size=8, **_STAGES),
    "regnet": row("RegNetForImageClassification", "RegNetConfig", _LARGE, embedding_size=8, groups_width=8, **_STAGES),
    "mobilevit": row("MobileViTForImageClassification", "MobileViTConfig", _LARGE, **_MOBILE),
    "segformer": row("SegformerForSemanticSegmentation", "SegformerConfig", lambda: segmented(64), **_SEGFORMER),
    "dpt": row("DPTForSemanticSegmentation", "DPTConfig", lambda: segmented(32), **_DPT),
}  # fmt: skip
