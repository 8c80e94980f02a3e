"""Language models of other makings: one head of keys for all, slopes for places, states instead of attention."""

from __future__ import annotations

from typing import Any

import torch

from modelkit.case import Case
from modelkit.decoders import GPT, GROUPED
from modelkit.encoders import ENCODER
from modelkit.hugging_face import BATCH, causal, masked, row, tokens

__all__ = ["OTHER_DECODERS"]

_FALCON = {
    "vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "bos_token_id": 1,
    "eos_token_id": 2,
}  # fmt: skip
_XGLM = {"vocab_size": 99, "d_model": 32, "ffn_dim": 64, "num_layers": 2, "attention_heads": 4}
_GRIFFIN = {
    "num_hidden_layers": 3, "hidden_size": 32, "vocab_size": 99, "num_attention_heads": 4, "intermediate_size": 64,
    "attention_window_size": 8, "lru_width": 32,
}  # fmt: skip
_ZAMBA: dict[str, Any] = {
    "num_hidden_layers": 3, "hidden_size": 32, "vocab_size": 99, "num_attention_heads": 4, "intermediate_size": 64,
    "mamba_d_state": 4, "mamba_headdim": 8, "n_mamba_heads": 8, "mamba_ngroups": 1, "chunk_size": 8,
    "layers_block_type": ["mamba", "hybrid", "mamba"], "num_mem_blocks": 1, "use_mem_rope": True, "adapter_rank": 4,
}  # fmt: skip
_BAMBA: dict[str, Any] = {
    **GROUPED, "attn_layer_indices": [1], "mamba_n_heads": 8, "mamba_d_head": 8, "mamba_n_groups": 1,
    "mamba_d_state": 4, "mamba_chunk_size": 8,
}  # fmt: skip
_TROCR = {
    "vocab_size": 99, "d_model": 32, "decoder_layers": 2, "decoder_attention_heads": 4, "decoder_ffn_dim": 64,
    "max_position_embeddings": 64,
}  # fmt: skip


def _labelled() -> dict[str, Any]:
    return {"input_ids": tokens(), "labels": torch.arange(BATCH)}


def _choices() -> dict[str, Any]:
    words, labels = torch.randint(3, 99, (BATCH, 3, 8)), torch.randint(3, 99, (BATCH, 3, 8))
    ends = torch.tensor([[7, 6, 5], [3, 7, 7]])
    return {"input_ids": words, "labels": labels, "mc_labels": torch.tensor([0, 2]), "mc_token_ids": ends}


OTHER_DECODERS: dict[str, Case] = {
    "falcon": row("FalconForCausalLM", "FalconConfig", masked, **_FALCON),
    "falcon-slopes": row("FalconForCausalLM", "FalconConfig", masked, alibi=True, **_FALCON),
    "persimmon": row("PersimmonForCausalLM", "PersimmonConfig", causal, **ENCODER),
    "codegen": row("CodeGenForCausalLM", "CodeGenConfig", causal, rotary_dim=4, **GPT),
    "gptbigcode": row("GPTBigCodeForCausalLM", "GPTBigCodeConfig", masked, **GPT),
    "gpt": row("OpenAIGPTLMHeadModel", "OpenAIGPTConfig", causal, **GPT),
    "ctrl": row("CTRLLMHeadModel", "CTRLConfig", causal, dff=64, **GPT),
    "xglm": row("XGLMForCausalLM", "XGLMConfig", masked, max_position_embeddings=64, **_XGLM),
    "biogpt": row("BioGptForCausalLM", "BioGptConfig", masked, **ENCODER),
    "recurrentgemma": row("RecurrentGemmaForCausalLM", "RecurrentGemmaConfig", causal, **_GRIFFIN),
    "zamba2": row("Zamba2ForCausalLM", "Zamba2Config", causal, **_ZAMBA),
    "bamba": row("BambaForCausalLM", "BambaConfig", causal, **_BAMBA),
    "falcon-mamba": row(
        "FalconMambaForCausalLM", "FalconMambaConfig", causal, vocab_size=99, hidden_size=32, num_hidden_layers=2,
        state_size=4,
    ),
    "gpt2-labels": row("GPT2ForSequenceClassification", "GPT2Config", _labelled, pad_token_id=0, **GPT),
    "gpt2-choices": row(
        "GPT2DoubleHeadsModel", "GPT2Config", _choices, summary_proj_to_labels=True, num_labels=1, **GPT
    ),
    "trocr": row("TrOCRForCausalLM", "TrOCRConfig", causal, **_TROCR),
}  # fmt: skip
