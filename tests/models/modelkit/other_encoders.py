"""More text encoders: other heads, languages, layouts, and attention that leaves places out."""

from __future__ import annotations

from typing import Any

import torch

from modelkit.case import Case
from modelkit.encoders import ENCODER, SHIFTED
from modelkit.hugging_face import BATCH, LENGTH, causal, masked, row, tokens

__all__ = ["OTHER_ENCODERS"]

_XLM = {"vocab_size": 99, "emb_dim": 32, "n_layers": 2, "n_heads": 4, "max_position_embeddings": 64}
_NARROW = {"embedding_size": 32, "intra_bottleneck_size": 16, "true_hidden_size": 16}
_SPARSE: dict[str, Any] = {"block_size": 4, "num_random_blocks": 1, "attention_type": "block_sparse"}
_SPECIAL = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "mask_token_id": 5}
_PROTEINS: dict[str, Any] = {
    "position_embedding_type": "rotary", "pad_token_id": 1, "mask_token_id": 2, "token_dropout": True,
}  # fmt: skip


def _labelled_words() -> dict[str, Any]:
    return {"input_ids": tokens(), "labels": torch.randint(0, 2, (BATCH, LENGTH))}


def _choices() -> dict[str, Any]:
    return {"input_ids": torch.randint(3, 99, (BATCH, 3, 8)), "labels": torch.tensor([0, 2])}


def _sentences() -> dict[str, Any]:
    return {"input_ids": tokens(), "labels": tokens(), "next_sentence_label": torch.arange(BATCH)}


def _several_labels() -> dict[str, Any]:
    return {"input_ids": tokens(), "labels": torch.rand(BATCH, 3)}


def _numbers() -> dict[str, Any]:
    return {"input_ids": tokens(), "labels": torch.rand(BATCH)}


def _boxes() -> dict[str, Any]:
    return {**masked(), "bbox": torch.randint(0, 20, (BATCH, LENGTH, 4)).sort(-1).values}


def _long() -> dict[str, Any]:
    words = torch.randint(3, 99, (BATCH, 64))
    return {"input_ids": words, "labels": words}


def _answers() -> dict[str, Any]:
    ends = {"start_positions": torch.tensor([1, 3]), "end_positions": torch.tensor([4, 8])}
    return {"input_ids": tokens(), **ends}


def _cells() -> dict[str, Any]:
    return {**masked(), "token_type_ids": torch.randint(0, 2, (BATCH, LENGTH, 7))}


OTHER_ENCODERS: dict[str, Case] = {
    "roberta-prelayernorm": row("RobertaPreLayerNormForMaskedLM", "RobertaPreLayerNormConfig", masked, **SHIFTED),
    "xlm-roberta": row("XLMRobertaForTokenClassification", "XLMRobertaConfig", _labelled_words, **SHIFTED),
    "xlm": row("XLMWithLMHeadModel", "XLMConfig", masked, **_XLM),
    "flaubert": row("FlaubertWithLMHeadModel", "FlaubertConfig", masked, **_XLM),
    "camembert": row("CamembertForMultipleChoice", "CamembertConfig", _choices, **SHIFTED),
    "bert-sentences": row("BertForPreTraining", "BertConfig", _sentences, **ENCODER),
    "bert-labels": row(
        "BertForSequenceClassification", "BertConfig", _several_labels, num_labels=3,
        problem_type="multi_label_classification", **ENCODER,
    ),
    "bert-numbers": row("BertForSequenceClassification", "BertConfig", _numbers, num_labels=1, **ENCODER),
    "mobilebert": row("MobileBertForMaskedLM", "MobileBertConfig", masked, **_NARROW, **ENCODER),
    "rembert": row(
        "RemBertForMaskedLM", "RemBertConfig", masked, input_embedding_size=16, output_embedding_size=32, **ENCODER
    ),
    "deberta1": row(
        "DebertaForMaskedLM", "DebertaConfig", masked, relative_attention=True, pos_att_type=["p2c", "c2p"], **ENCODER
    ),
    "ibert": row("IBertForMaskedLM", "IBertConfig", masked, quant_mode=False, **SHIFTED),
    "layoutlm": row("LayoutLMForMaskedLM", "LayoutLMConfig", _boxes, max_2d_position_embeddings=64, **ENCODER),
    "bigbird": row("BigBirdForMaskedLM", "BigBirdConfig", _long, **_SPARSE, **ENCODER),
    "bigbird-full": row("BigBirdForMaskedLM", "BigBirdConfig", masked, attention_type="original_full", **ENCODER),
    "roformer": row("RoFormerForMaskedLM", "RoFormerConfig", masked, embedding_size=32, **ENCODER),
    "megatron": row("MegatronBertForMaskedLM", "MegatronBertConfig", masked, **ENCODER),
    "yoso": row("YosoForMaskedLM", "YosoConfig", masked, use_expectation=True, **SHIFTED),
    "mra": row("MraForMaskedLM", "MraConfig", causal, **SHIFTED),
    "luke": row("LukeForMaskedLM", "LukeConfig", masked, entity_vocab_size=20, entity_emb_size=16, **SHIFTED),
    "esm": row("EsmForMaskedLM", "EsmConfig", masked, **_PROTEINS, **ENCODER),
    "eurobert": row("EuroBertForMaskedLM", "EuroBertConfig", masked, num_key_value_heads=4, **_SPECIAL, **ENCODER),
    "splinter": row("SplinterForQuestionAnswering", "SplinterConfig", _answers, question_token_id=5, **ENCODER),
    "tapas": row(
        "TapasForMaskedLM", "TapasConfig", _cells, type_vocab_sizes=[3, 256, 256, 2, 256, 256, 10], **ENCODER
    ),
}  # fmt: skip
