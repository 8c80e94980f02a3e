"""Language models of Llama's making: grouped heads, rotary places, gates, and mixtures of experts."""

from __future__ import annotations

from typing import Any

import torch

from modelkit.case import Case
from modelkit.decoders import GROUPED
from modelkit.hugging_face import BATCH, LENGTH, causal, masked, row, tokens

__all__ = ["GROUPED_DECODERS"]

_EIGHT: dict[str, Any] = {**GROUPED, "head_dim": 8}
_EXPERTS: dict[str, Any] = {"num_experts": 4, "num_experts_per_tok": 2}
_LLAVA: dict[str, Any] = {
    "text_config": {"model_type": "llama", **GROUPED}, "image_token_id": 98,
    "vision_config": {
        "model_type": "clip_vision_model", "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_size": 64, "image_size": 32, "patch_size": 8,
    },
}  # fmt: skip


def _answers() -> dict[str, Any]:
    ends = {"start_positions": torch.tensor([1, 3]), "end_positions": torch.tensor([4, 8])}
    return {"input_ids": tokens(), **ends}


def _seen() -> dict[str, Any]:
    """A picture's sixteen places before the words."""
    words = torch.cat([torch.full((BATCH, LENGTH), 98), torch.randint(3, 90, (BATCH, 8))], 1)
    picture = torch.randn(BATCH, 3, 32, 32)
    return {"input_ids": words, "labels": words, "attention_mask": torch.ones_like(words), "pixel_values": picture}


GROUPED_DECODERS: dict[str, Case] = {
    "qwen3": row("Qwen3ForCausalLM", "Qwen3Config", causal, **_EIGHT),
    "qwen2-moe": row(
        "Qwen2MoeForCausalLM", "Qwen2MoeConfig", causal, moe_intermediate_size=16, shared_expert_intermediate_size=16,
        **_EXPERTS, **GROUPED,
    ),
    "qwen3-moe": row("Qwen3MoeForCausalLM", "Qwen3MoeConfig", causal, moe_intermediate_size=16, **_EXPERTS, **_EIGHT),
    "gemma2": row("Gemma2ForCausalLM", "Gemma2Config", masked, sliding_window=8, **_EIGHT),
    "phi3": row("Phi3ForCausalLM", "Phi3Config", causal, **GROUPED),
    "olmo": row("OlmoForCausalLM", "OlmoConfig", causal, **GROUPED),
    "olmo2": row("Olmo2ForCausalLM", "Olmo2Config", causal, **GROUPED),
    "olmoe": row("OlmoeForCausalLM", "OlmoeConfig", causal, **_EXPERTS, **GROUPED),
    "cohere": row("CohereForCausalLM", "CohereConfig", causal, **GROUPED),
    "stablelm": row("StableLmForCausalLM", "StableLmConfig", causal, **GROUPED),
    "starcoder2": row("Starcoder2ForCausalLM", "Starcoder2Config", causal, **GROUPED),
    "granite": row("GraniteForCausalLM", "GraniteConfig", causal, **GROUPED),
    "granite-moe": row("GraniteMoeForCausalLM", "GraniteMoeConfig", causal, num_local_experts=4, **GROUPED),
    "smollm3": row("SmolLM3ForCausalLM", "SmolLM3Config", causal, **GROUPED),
    "glm": row("GlmForCausalLM", "GlmConfig", causal, **_EIGHT),
    "nemotron": row("NemotronForCausalLM", "NemotronConfig", causal, **GROUPED),
    "llama4": row(
        "Llama4ForCausalLM", "Llama4TextConfig", causal, num_local_experts=2, intermediate_size_mlp=64,
        interleave_moe_layer_step=2, attention_chunk_size=8, **_EIGHT,
    ),
    "exaone4": row("Exaone4ForCausalLM", "Exaone4Config", causal, sliding_window=8, **GROUPED),
    "diffllama": row("DiffLlamaForCausalLM", "DiffLlamaConfig", causal, **GROUPED),
    "llama-answers": row("LlamaForQuestionAnswering", "LlamaConfig", _answers, **GROUPED),
    "llava": row("LlavaForConditionalGeneration", "LlavaConfig", _seen, **_LLAVA),
}  # fmt: skip
