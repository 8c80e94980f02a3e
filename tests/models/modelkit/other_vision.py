"""More image models of transformers: detection, segmentation, depth, larger images from smaller ones."""

from __future__ import annotations

from typing import Any

import torch

from modelkit.case import Case
from modelkit.hugging_face import BATCH, labelled_images, row
from modelkit.vision import PATCHES, segmented

__all__ = ["OTHER_VISION"]

_VIT: dict[str, Any] = {**PATCHES, "num_labels": 5}
_STAGES: dict[str, Any] = {"hidden_sizes": [8, 16, 16, 32], "depths": [1, 1, 1, 1]}
_LEVIT: dict[str, Any] = {
    "image_size": 64, "hidden_sizes": [16, 32, 48], "num_attention_heads": [2, 2, 4], "depths": [1, 1, 1],
    "key_dim": [8, 8, 8],
}  # fmt: skip
_WINDOWS: dict[str, Any] = {"embed_dim": 16, "window_size": 4}
_BACKBONE: dict[str, Any] = {
    "model_type": "resnet", "embedding_size": 8, "hidden_sizes": [8, 16, 16, 32], "depths": [1, 1, 1, 1],
    "out_features": ["stage4"],
}  # fmt: skip
_DETECTION: dict[str, Any] = {
    "d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
    "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "num_queries": 5, "use_timm_backbone": False, "backbone": None,
    "backbone_config": _BACKBONE,
}  # fmt: skip
_PYRAMID: dict[str, Any] = {
    "hidden_size": 16, "pool_scales": [1, 2], "auxiliary_in_channels": 32, "auxiliary_channels": 16,
    "backbone_config": {
        "model_type": "convnext", "hidden_sizes": [8, 16, 32, 32], "depths": [1, 1, 1, 1],
        "out_features": ["stage1", "stage2", "stage3", "stage4"],
    },
}  # fmt: skip
# Pixels without a depth are left out.
_CHOSEN_PIXELS = frozenset(("aten.index.Tensor", "aten.index_put_.default"))
_SMALL, _LARGE = labelled_images(32), labelled_images(64)


def _images(side: int) -> dict[str, Any]:
    return {"pixel_values": torch.randn(BATCH, 3, side, side)}


def _hidden_patches() -> dict[str, Any]:
    return {**_images(32), "bool_masked_pos": torch.rand(BATCH, 256) > 0.5}


def _depths() -> dict[str, Any]:
    return {**_images(64), "labels": torch.rand(BATCH, 64, 64) + 0.1}


OTHER_VISION: dict[str, Case] = {
    "vitmsn": row("ViTMSNForImageClassification", "ViTMSNConfig", _SMALL, **_VIT),
    "dinov2-registers": row(
        "Dinov2WithRegistersForImageClassification", "Dinov2WithRegistersConfig", _SMALL, **_VIT
    ),
    "ijepa": row("IJepaForImageClassification", "IJepaConfig", _SMALL, **_VIT),
    "data2vec": row("Data2VecVisionForImageClassification", "Data2VecVisionConfig", _SMALL, **_VIT),
    "poolformer": row("PoolFormerForImageClassification", "PoolFormerConfig", _LARGE, num_labels=5, **_STAGES),
    "levit": row("LevitForImageClassification", "LevitConfig", _LARGE, num_labels=5, **_LEVIT),
    "mobilevit2": row(
        "MobileViTV2ForImageClassification", "MobileViTV2Config", _LARGE, image_size=64, width_multiplier=0.25,
        n_attn_blocks=[1, 1, 1], num_labels=5,
    ),
    "convnext2": row(
        "ConvNextV2ForImageClassification", "ConvNextV2Config", _SMALL, num_stages=2, hidden_sizes=[16, 32],
        depths=[1, 1], num_labels=5,
    ),
    "bit": row(
        "BitForImageClassification", "BitConfig", _LARGE, embedding_size=8, hidden_sizes=[16, 32], depths=[1, 1],
        num_groups=4, num_labels=5,
    ),
    "swin-masked": row(
        "SwinForMaskedImageModeling", "SwinConfig", _hidden_patches, image_size=32, patch_size=2, depths=[2, 2],
        num_heads=[2, 4], encoder_stride=4, **_WINDOWS,
    ),
    "swin2sr": row(
        "Swin2SRForImageSuperResolution", "Swin2SRConfig", lambda: _images(16), image_size=16, depths=[1, 1],
        num_heads=[2, 2], **_WINDOWS,
    ),
    "yolos": row(
        "YolosForObjectDetection", "YolosConfig", lambda: _images(32), num_detection_tokens=5,
        **{**_VIT, "image_size": [32, 32]},
    ),
    "detr": row("DetrForObjectDetection", "DetrConfig", lambda: _images(64), **_DETECTION),
    "conditional-detr": row(
        "ConditionalDetrForObjectDetection", "ConditionalDetrConfig", lambda: _images(64), **_DETECTION
    ),
    "upernet": row(
        "UperNetForSemanticSegmentation", "UperNetConfig", lambda: segmented(64), num_labels=5, **_PYRAMID
    ),
    "glpn": row(
        "GLPNForDepthEstimation", "GLPNConfig", _depths, num_attention_heads=[1, 1, 2, 4], decoder_hidden_size=8,
        **_STAGES,
    ).but(eager=_CHOSEN_PIXELS),
}  # fmt: skip
