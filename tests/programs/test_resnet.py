"""Residual networks: training, evaluation, and memory that has channels last."""

from __future__ import annotations

import pytest
import torch
from modelkit.torchvision_schemas import make_importable
from networks.resnet import ResNet
from programkit.outcome import Log, Results
from programkit.training import classes, train


def trained(device: str, log: Log) -> Results:
    model = ResNet(blocks=1, width=4).to(device)
    train(model, (4, 3, 8, 8), 10, device, log)
    model.eval()
    with torch.no_grad():
        logits = torch.cat([model(torch.randn(2, 3, 8, 8).to(device)) for _ in range(3)])
    return {**model.state_dict(), "logits": logits}


def channels_last(device: str, log: Log) -> Results:
    model = ResNet(blocks=1, width=4).to(memory_format=torch.channels_last).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(6):
        x = torch.randn(4, 3, 8, 8).to(device, memory_format=torch.channels_last)
        features = model.stages(model.stem(x))
        assert features.is_contiguous(memory_format=torch.channels_last)
        loss = torch.nn.functional.cross_entropy(model.head(features.mean((2, 3))), classes(device, 4, 10))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log(loss)
    return {**model.state_dict(), "features": features}


def full_size(device: str, log: Log) -> Results:
    # At a larger rate float32's rounding grows a hundredfold in six steps: twenty normalized layers, eight images.
    return train(ResNet().to(device), (8, 3, 32, 32), 10, device, log, lr=1e-3)


def test_resnet(compare) -> None:
    compare(trained, atol=6e-4)


def test_resnet_channels_last(compare) -> None:
    compare(channels_last, atol=6e-4)


@pytest.mark.slow
def test_resnet20(compare) -> None:
    compare(full_size, atol=1.2e-2)


def test_timm_resnet18(compare) -> None:
    make_importable()
    timm = pytest.importorskip("timm", reason="timm is not installed: make models")

    def program(device: str, log: Log) -> Results:
        # Its last stage normalizes 1x1 images: over two of them the CPU itself is 9 % from what it is without oneDNN.
        return train(timm.create_model("resnet18", num_classes=5).to(device), (8, 3, 32, 32), 5, device, log, lr=0.01)

    compare(program, atol=6e-4)
