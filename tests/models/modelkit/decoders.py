"""Language models that predict the next word: attention, mixtures of experts, recurrences."""

from __future__ import annotations

from typing import Any

from modelkit.case import Case
from modelkit.encoders import ENCODER
from modelkit.hugging_face import causal, masked, row

__all__ = ["DECODERS", "GPT", "GROUPED"]

GROUPED: dict[str, Any] = {
    **ENCODER,
    "num_key_value_heads": 2,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
GPT: dict[str, Any] = {
    "vocab_size": 99, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
_OPT = {
    "vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "ffn_dim": 64,
    "word_embed_proj_dim": 16, "max_position_embeddings": 64,
}  # fmt: skip
_LATENT: dict[str, Any] = {
    **ENCODER, "num_key_value_heads": 4, "n_routed_experts": 4, "n_group": 2, "topk_group": 1, "num_experts_per_tok": 2,
    "moe_intermediate_size": 16, "first_k_dense_replace": 1, "kv_lora_rank": 8, "q_lora_rank": 8, "qk_rope_head_dim": 4,
    "v_head_dim": 8, "qk_nope_head_dim": 8,
}  # fmt: skip
_HYBRID: dict[str, Any] = {
    **GROUPED, "num_experts": 2, "attn_layer_period": 2, "attn_layer_offset": 1, "expert_layer_period": 2,
    "expert_layer_offset": 1, "mamba_d_state": 4, "use_mamba_kernels": False,
}  # fmt: skip
_RECURRENT: dict[str, Any] = {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2}

DECODERS: dict[str, Case] = {
    "gpt2": row("GPT2LMHeadModel", "GPT2Config", masked, **GPT),
    "gptj": row("GPTJForCausalLM", "GPTJConfig", causal, rotary_dim=4, **GPT),
    "gptneo": row(
        "GPTNeoForCausalLM", "GPTNeoConfig", causal, vocab_size=99, hidden_size=32, num_layers=2, num_heads=4,
        attention_types=[[["global", "local"], 1]], window_size=8, max_position_embeddings=64,
    ),
    "gptneox": row("GPTNeoXForCausalLM", "GPTNeoXConfig", causal, **ENCODER),
    "opt": row("OPTForCausalLM", "OPTConfig", masked, **_OPT),
    "bloom": row("BloomForCausalLM", "BloomConfig", masked, vocab_size=99, hidden_size=32, n_layer=2, n_head=4),
    "mpt": row("MptForCausalLM", "MptConfig", causal, vocab_size=99, d_model=32, n_heads=4, n_layers=2, max_seq_len=64),
    "llama": row("LlamaForCausalLM", "LlamaConfig", masked, **GROUPED),
    "mistral": row("MistralForCausalLM", "MistralConfig", causal, sliding_window=8, **GROUPED),
    "phi": row("PhiForCausalLM", "PhiConfig", causal, **ENCODER),
    "gemma": row("GemmaForCausalLM", "GemmaConfig", causal, head_dim=8, **GROUPED),
    "gemma3": row("Gemma3ForCausalLM", "Gemma3TextConfig", causal, head_dim=8, sliding_window=8, **GROUPED),
    "qwen2": row("Qwen2ForCausalLM", "Qwen2Config", masked, **GROUPED),
    "mixtral": row("MixtralForCausalLM", "MixtralConfig", causal, num_local_experts=4, **GROUPED),
    "gptoss": row(
        "GptOssForCausalLM", "GptOssConfig", causal, head_dim=8, num_local_experts=4, num_experts_per_tok=2,
        sliding_window=8, **GROUPED,
    ),
    "deepseek": row("DeepseekV3ForCausalLM", "DeepseekV3Config", causal, **_LATENT),
    "mamba": row("MambaForCausalLM", "MambaConfig", causal, state_size=4, **_RECURRENT),
    "mamba2": row(
        "Mamba2ForCausalLM", "Mamba2Config", causal, state_size=4, num_heads=8, head_dim=8, n_groups=1, chunk_size=8,
        **_RECURRENT,
    ),
    "rwkv": row(
        "RwkvForCausalLM", "RwkvConfig", causal, attention_hidden_size=32, context_length=64, **_RECURRENT
    ).but(late="weights are scaled when an evaluation begins, and back when training goes on"),
    "jamba": row("JambaForCausalLM", "JambaConfig", causal, **_HYBRID),
}  # fmt: skip
