"""The models that are run, with random weights from a fixed seed."""

from __future__ import annotations

import importlib
import sys

import torch

__all__ = ["bert", "resnet18"]


def _importable_torchvision() -> object:
    """Models' libraries import torchvision, whose C++ part does not load where it was built for another torch; the
    schemas of its operators are then enough. Returns what must be kept."""
    try:
        importlib.import_module("torchvision")
    except ModuleNotFoundError:
        return None
    except RuntimeError:
        for name in [n for n in sys.modules if n.partition(".")[0] == "torchvision"]:
            del sys.modules[name]
        library = torch.library.Library("torchvision", "DEF")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        return library
    return None


_KEPT = _importable_torchvision()


def resnet18() -> tuple[torch.nn.Module, torch.Tensor]:
    """timm's, and a batch of one image of 224 x 224."""
    import timm

    torch.manual_seed(0)
    model = timm.create_model("resnet18").eval()
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            # As after training: statistics and scales that are not ones and zeros.
            torch.nn.init.uniform_(module.running_var, 0.5, 1.5)
            torch.nn.init.normal_(module.running_mean, std=0.1)
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
            torch.nn.init.normal_(module.bias, std=0.1)
    return model, torch.randn(1, 3, 224, 224)


def bert(attention: str = "sdpa") -> tuple[torch.nn.Module, torch.Tensor]:
    """BERT-medium (8 layers of 512), and one sequence of 128 tokens."""
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    config = BertConfig(
        hidden_size=512,
        num_hidden_layers=8,
        num_attention_heads=8,
        intermediate_size=2048,
        attn_implementation=attention,
    )
    return BertModel(config).eval(), torch.randint(0, config.vocab_size, (1, 128))


def output(model: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
    """The result that is compared: logits, or the last hidden state."""
    y = model(x)
    return y if isinstance(y, torch.Tensor) else y.last_hidden_state
