"""Text encoders, trained to restore masked words or to label."""

from __future__ import annotations

from typing import Any

import torch

from modelkit.case import Case
from modelkit.hugging_face import BATCH, LENGTH, causal, masked, row, tokens

__all__ = ["ENCODERS", "ENCODER", "SHIFTED"]

ENCODER: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "vocab_size": 99,
    "max_position_embeddings": 64,
}  # fmt: skip
# Some count positions from behind the padding's index.
SHIFTED: dict[str, Any] = {**ENCODER, "max_position_embeddings": 66, "pad_token_id": 1}
_FOURIER = {name: value for name, value in ENCODER.items() if name != "num_attention_heads"}
_CHARACTERS = {name: value for name, value in ENCODER.items() if name != "vocab_size"}
_DISTILLED = {"vocab_size": 99, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64, "max_position_embeddings": 64}
_FUNNEL = {
    "vocab_size": 99, "block_sizes": [1, 1], "d_model": 32, "n_head": 4, "d_head": 8, "d_inner": 64,
    "num_decoder_layers": 1,
}  # fmt: skip
_PERCEIVER = {
    "num_latents": 8, "d_latents": 32, "d_model": 16, "num_blocks": 1, "num_self_attends_per_block": 2,
    "num_self_attention_heads": 4, "num_cross_attention_heads": 4, "vocab_size": 99, "max_position_embeddings": 16,
    "qk_channels": 32, "v_channels": 32,
}  # fmt: skip
_CANINE = {
    "num_hash_functions": 2, "num_hash_buckets": 64, "local_transformer_stride": 8, "downsampling_rate": 4,
    "upsampling_kernel_size": 4,
}  # fmt: skip


def _labelled_words() -> dict[str, Any]:
    return {"input_ids": tokens(), "labels": torch.randint(0, 2, (BATCH, LENGTH))}


def _labelled_texts() -> dict[str, Any]:
    return {"input_ids": torch.randint(3, 1000, (BATCH, 2 * LENGTH)), "labels": torch.arange(BATCH)}


def _answers() -> dict[str, Any]:
    ends = {"start_positions": torch.tensor([1, 3]), "end_positions": torch.tensor([4, 8])}
    return {"input_ids": tokens(), **ends}


def _masked_inputs() -> dict[str, Any]:
    return {"inputs": tokens(), "labels": tokens()}


ENCODERS: dict[str, Case] = {
    "bert": row("BertForMaskedLM", "BertConfig", masked, **ENCODER),
    "bert-answers": row("BertForQuestionAnswering", "BertConfig", _answers, **ENCODER),
    "bert-words": row("BertForTokenClassification", "BertConfig", _labelled_words, **ENCODER),
    "roberta": row("RobertaForMaskedLM", "RobertaConfig", masked, **SHIFTED),
    "distilbert": row("DistilBertForMaskedLM", "DistilBertConfig", masked, **_DISTILLED),
    "electra": row("ElectraForMaskedLM", "ElectraConfig", masked, embedding_size=16, **ENCODER),
    "albert": row("AlbertForMaskedLM", "AlbertConfig", masked, embedding_size=16, **ENCODER),
    "deberta": row(
        "DebertaV2ForMaskedLM", "DebertaV2Config", masked, relative_attention=True, pos_att_type=["p2c", "c2p"],
        **ENCODER,
    ),
    "mpnet": row("MPNetForMaskedLM", "MPNetConfig", masked, **SHIFTED),
    "longformer": row("LongformerForMaskedLM", "LongformerConfig", masked, attention_window=4, **SHIFTED),
    "fnet": row("FNetForMaskedLM", "FNetConfig", causal, tpu_short_seq_length=16, **_FOURIER),
    "convbert": row("ConvBertForMaskedLM", "ConvBertConfig", masked, embedding_size=32, **ENCODER),
    "squeezebert": row("SqueezeBertForMaskedLM", "SqueezeBertConfig", masked, embedding_size=32, **ENCODER),
    "xlnet": row("XLNetLMHeadModel", "XLNetConfig", causal, vocab_size=99, d_model=32, n_layer=2, n_head=4, d_inner=64),
    "funnel": row("FunnelForMaskedLM", "FunnelConfig", masked, **_FUNNEL),
    "nystromformer": row(
        "NystromformerForMaskedLM", "NystromformerConfig", causal, num_landmarks=4, segment_means_seq_len=16, **SHIFTED
    ),
    "modernbert": row(
        "ModernBertForMaskedLM", "ModernBertConfig", masked, local_attention=8, pad_token_id=0, bos_token_id=1,
        eos_token_id=2, cls_token_id=1, sep_token_id=2, **ENCODER,
    ),
    "canine": row("CanineForSequenceClassification", "CanineConfig", _labelled_texts, **_CANINE, **_CHARACTERS),
    "perceiver": row("PerceiverForMaskedLM", "PerceiverConfig", _masked_inputs, **_PERCEIVER),
}  # fmt: skip
