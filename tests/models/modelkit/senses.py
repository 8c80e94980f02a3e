"""Models of images with text, of sound, and of series."""

from __future__ import annotations

from typing import Any

import torch

from modelkit.case import Case
from modelkit.hugging_face import BATCH, row, tokens

__all__ = ["SENSES"]

_TEXT: dict[str, Any] = {
    "vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
    "max_position_embeddings": 16, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
}  # fmt: skip
_IMAGE: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "image_size": 32,
    "patch_size": 8,
}  # fmt: skip
_WAVES: dict[str, Any] = {
    "vocab_size": 32, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
    "conv_dim": (16, 16), "conv_kernel": (10, 3), "conv_stride": (5, 2), "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4, "mask_time_prob": 0.0,
    "ctc_loss_reduction": "mean", "layerdrop": 0.0,
}  # fmt: skip
_SERIES: dict[str, Any] = {
    "prediction_length": 4, "context_length": 13, "lags_sequence": [1, 3, 7], "num_time_features": 2, "d_model": 16,
    "encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32,
    "encoder_layerdrop": 0.0, "decoder_layerdrop": 0.0,
}  # fmt: skip
_PATCHES: dict[str, Any] = {
    "num_input_channels": 3, "context_length": 32, "prediction_length": 8, "patch_length": 4, "patch_stride": 4,
}  # fmt: skip
_DECISIONS = {"state_dim": 5, "act_dim": 3, "hidden_size": 32, "max_ep_len": 32, "n_layer": 2, "n_head": 4}
_AST: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "patch_size": 8,
    "num_labels": 5,
}  # fmt: skip
_LXMERT = {
    "vocab_size": 99, "hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 64, "l_layers": 1,
    "x_layers": 1, "r_layers": 1, "visual_feat_dim": 16, "max_position_embeddings": 64,
}  # fmt: skip

# Padding of labels is cut off, so that their number depends on them.
_ALIGNMENT = frozenset(
    ("aten.masked_select.default", "aten._ctc_loss.default", "aten._ctc_loss_backward.default")
)  # fmt: skip
# Patches that are padding are left out.
_CHOSEN_PATCHES = frozenset(("aten.nonzero.default", "aten._unique2.default", "aten.index.Tensor"))


def _pairs(**more: Any) -> dict[str, Any]:
    images = {"pixel_values": torch.randn(BATCH, 3, 32, 32)}
    return {"input_ids": tokens(), "attention_mask": torch.ones(BATCH, 16, dtype=torch.int64), **images, **more}


def _waves() -> dict[str, Any]:
    return {"input_values": torch.randn(BATCH, 800), "labels": torch.randint(1, 30, (BATCH, 4))}


def _sounds() -> dict[str, Any]:
    return {"input_values": torch.randn(BATCH, 800), "labels": torch.arange(BATCH)}


def _spectra() -> dict[str, Any]:
    return {"input_values": torch.randn(BATCH, 32, 16), "labels": torch.arange(BATCH)}


def _regions() -> dict[str, Any]:
    seen = {"visual_feats": torch.randn(BATCH, 4, 16), "visual_pos": torch.rand(BATCH, 4, 4)}
    return {"input_ids": tokens(), "labels": torch.arange(BATCH), **seen}


def _series() -> dict[str, Any]:
    past = {"past_values": torch.randn(BATCH, 20), "past_time_features": torch.randn(BATCH, 20, 2)}
    future = {"future_values": torch.randn(BATCH, 4), "future_time_features": torch.randn(BATCH, 4, 2)}
    return {**past, **future, "past_observed_mask": torch.ones(BATCH, 20)}


def _channels() -> dict[str, Any]:
    return {"past_values": torch.randn(BATCH, 32, 3), "future_values": torch.randn(BATCH, 8, 3)}


def _episodes() -> dict[str, Any]:
    sizes = {"states": 5, "actions": 3, "rewards": 1, "returns_to_go": 1}
    seen = {name: torch.randn(BATCH, 6, size) for name, size in sizes.items()}
    return {**seen, "timesteps": torch.arange(6).expand(BATCH, 6), "attention_mask": torch.ones(BATCH, 6)}


SENSES: dict[str, Case] = {
    "clip": row(
        "CLIPModel", "CLIPConfig", lambda: _pairs(return_loss=True), text_config=_TEXT, vision_config=_IMAGE,
        projection_dim=16,
    ),
    "siglip": row(
        "SiglipModel", "SiglipConfig", lambda: _pairs(return_loss=True), text_config=_TEXT, vision_config=_IMAGE
    ),
    "blip": row(
        "BlipForConditionalGeneration", "BlipConfig", lambda: _pairs(labels=tokens()), text_config=_TEXT,
        vision_config=_IMAGE, projection_dim=16, image_text_hidden_size=16,
    ),
    "vilt": row(
        "ViltForQuestionAnswering", "ViltConfig", lambda: _pairs(labels=torch.rand(BATCH, 3)), num_labels=3,
        **(_IMAGE | {"vocab_size": 99, "max_position_embeddings": 16}),
    ).but(eager=_CHOSEN_PATCHES),
    "chinese-clip": row(
        "ChineseCLIPModel", "ChineseCLIPConfig", lambda: _pairs(return_loss=True), text_config=_TEXT,
        vision_config=_IMAGE, projection_dim=16,
    ),
    "altclip": row(
        "AltCLIPModel", "AltCLIPConfig", lambda: _pairs(return_loss=True), vision_config=_IMAGE, projection_dim=16,
        text_config={**_TEXT, "max_position_embeddings": 64, "project_dim": 16},
    ),
    "git": row("GitForCausalLM", "GitConfig", lambda: _pairs(labels=tokens()), vision_config=_IMAGE, **_TEXT),
    "lxmert": row("LxmertForQuestionAnswering", "LxmertConfig", _regions, num_qa_labels=3, **_LXMERT),
    "wav2vec2": row("Wav2Vec2ForCTC", "Wav2Vec2Config", _waves, **_WAVES).but(eager=_ALIGNMENT),
    "wav2vec2-sounds": row("Wav2Vec2ForSequenceClassification", "Wav2Vec2Config", _sounds, **_WAVES),
    "wavlm": row("WavLMForCTC", "WavLMConfig", _waves, **_WAVES).but(eager=_ALIGNMENT),
    "hubert": row("HubertForCTC", "HubertConfig", _waves, **_WAVES).but(eager=_ALIGNMENT),
    "unispeech": row("UniSpeechForCTC", "UniSpeechConfig", _waves, **_WAVES).but(eager=_ALIGNMENT),
    "conformer": row(
        "Wav2Vec2ConformerForCTC", "Wav2Vec2ConformerConfig", _waves, position_embeddings_type="rotary", **_WAVES
    ).but(eager=_ALIGNMENT),
    "conformer-relative": row(
        "Wav2Vec2ConformerForCTC", "Wav2Vec2ConformerConfig", _waves, position_embeddings_type="relative", **_WAVES
    ).but(eager=_ALIGNMENT),
    "ast": row("ASTForAudioClassification", "ASTConfig", _spectra, max_length=32, num_mel_bins=16, **_AST),
    "timeseries": row("TimeSeriesTransformerForPrediction", "TimeSeriesTransformerConfig", _series, **_SERIES),
    "autoformer": row(
        "AutoformerForPrediction", "AutoformerConfig", _series, moving_average=3, label_length=4, **_SERIES
    ).but(varies="gradients of slices at places that the data decides"),
    "patchtst": row(
        "PatchTSTForPrediction", "PatchTSTConfig", _channels, d_model=32, num_hidden_layers=2, num_attention_heads=4,
        ffn_dim=64, **_PATCHES,
    ),
    "patchtsmixer": row(
        "PatchTSMixerForPrediction", "PatchTSMixerConfig", _channels, d_model=16, num_layers=2, **_PATCHES
    ),
    "decisions": row("DecisionTransformerModel", "DecisionTransformerConfig", _episodes, **_DECISIONS),
}  # fmt: skip
