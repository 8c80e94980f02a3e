"""Models that read one sequence and write another."""

from __future__ import annotations

from typing import Any

import torch

from modelkit.case import Case
from modelkit.hugging_face import BATCH, masked, row, tokens

__all__ = ["SEQUENCE_TO_SEQUENCE"]

_SPOKEN: dict[str, Any] = {
    "vocab_size": 99, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "pad_token_id": 0, "bos_token_id": 1,
    "eos_token_id": 2, "decoder_start_token_id": 1,
}  # fmt: skip
_BART: dict[str, Any] = {**_SPOKEN, "max_position_embeddings": 64}
_LED: dict[str, Any] = {
    **_SPOKEN, "attention_window": 4, "max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 64,
}  # fmt: skip
_TWO_VOCABULARIES: dict[str, Any] = {
    **{name: value for name, value in _BART.items() if name != "vocab_size"},
    "src_vocab_size": 99, "tgt_vocab_size": 99, "langs": ["en", "de"],
}  # fmt: skip
_PROPHETS = {
    "vocab_size": 99, "hidden_size": 32, "num_encoder_layers": 2, "num_decoder_layers": 2,
    "num_encoder_attention_heads": 4, "num_decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64,
    "max_position_embeddings": 64, "ngram": 2, "decoder_start_token_id": 1, "pad_token_id": 0,
}  # fmt: skip
_MOONSHINE = {
    "vocab_size": 99, "hidden_size": 32, "intermediate_size": 64, "encoder_num_hidden_layers": 1,
    "decoder_num_hidden_layers": 1, "encoder_num_attention_heads": 4, "decoder_num_attention_heads": 4,
    "max_position_embeddings": 64, "pad_token_id": 0,
}  # fmt: skip
_T5: dict[str, Any] = {
    "vocab_size": 99, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4,
    "decoder_start_token_id": 0,
}  # fmt: skip
_WHISPER: dict[str, Any] = {
    **_SPOKEN, "num_mel_bins": 16, "max_source_positions": 32, "max_target_positions": 64, "suppress_tokens": None,
    "begin_suppress_tokens": None,
}  # fmt: skip
_SPEECH: dict[str, Any] = {
    **_SPOKEN, "input_feat_per_channel": 16, "conv_channels": 16, "max_source_positions": 64,
    "max_target_positions": 64,
}  # fmt: skip


def _spectra(*shape: int) -> dict[str, Any]:
    return {"input_features": torch.randn(BATCH, *shape), "labels": tokens()}


def _waves() -> dict[str, Any]:
    return {"input_values": torch.randn(BATCH, 2000), "labels": tokens()}


SEQUENCE_TO_SEQUENCE: dict[str, Case] = {
    "t5": row("T5ForConditionalGeneration", "T5Config", masked, **_T5),
    "longt5": row("LongT5ForConditionalGeneration", "LongT5Config", masked, local_radius=3, **_T5),
    "longt5-global": row(
        "LongT5ForConditionalGeneration", "LongT5Config", masked, local_radius=3, global_block_size=4,
        encoder_attention_type="transient-global", **_T5,
    ),
    "bart": row("BartForConditionalGeneration", "BartConfig", masked, **_BART),
    "m2m100": row("M2M100ForConditionalGeneration", "M2M100Config", masked, **_BART),
    "pegasus": row("PegasusForConditionalGeneration", "PegasusConfig", masked, **_BART),
    "mbart": row("MBartForConditionalGeneration", "MBartConfig", masked, **_BART),
    "marian": row("MarianMTModel", "MarianConfig", masked, **_BART),
    "blenderbot": row("BlenderbotForConditionalGeneration", "BlenderbotConfig", masked, **_BART),
    "plbart": row("PLBartForConditionalGeneration", "PLBartConfig", masked, **_BART),
    "led": row("LEDForConditionalGeneration", "LEDConfig", masked, **_LED),
    "bigbird-pegasus": row(
        "BigBirdPegasusForConditionalGeneration", "BigBirdPegasusConfig", masked, attention_type="original_full",
        **_BART,
    ),
    "pegasus-x": row(
        "PegasusXForConditionalGeneration", "PegasusXConfig", masked, block_size=4, num_global_tokens=4, **_BART
    ),
    "fsmt": row("FSMTForConditionalGeneration", "FSMTConfig", masked, **_TWO_VOCABULARIES),
    "prophetnet": row("ProphetNetForConditionalGeneration", "ProphetNetConfig", masked, **_PROPHETS),
    "mt5": row("MT5ForConditionalGeneration", "MT5Config", masked, **_T5),
    "umt5": row("UMT5ForConditionalGeneration", "UMT5Config", masked, **_T5),
    "moonshine": row("MoonshineForConditionalGeneration", "MoonshineConfig", _waves, **_MOONSHINE),
    "whisper": row("WhisperForConditionalGeneration", "WhisperConfig", lambda: _spectra(16, 64), **_WHISPER),
    "speech2text": row("Speech2TextForConditionalGeneration", "Speech2TextConfig", lambda: _spectra(32, 16), **_SPEECH),
}  # fmt: skip
