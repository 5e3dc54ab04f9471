#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Trains three PyTorch networks on scikit-learn's 8x8 handwritten digits, an
# MLP, a CNN and a transformer block, and exports each of them twice: as MLIR
# (linalg on tensors, by torch-mlir) and as ONNX. Rhizome reads both. What
# PyTorch computes for the first test images goes to NAME.npy. All seeds are
# fixed; --only NAME exports one of them.

import argparse
from pathlib import Path

import numpy as np
import onnx
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch_mlir import fx

HERE = Path(__file__).resolve().parent
SEED = 20240229        # the split of examples/digits, whose test images we use
TRAIN_IMAGES = 1347
CLASSES = 10
KEPT_OUTPUTS = 50
HEAD = ["// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception",
        "// Written by export.py: do not edit."]


def load_data():
    digits = load_digits()
    images = digits.images.astype(np.float32).reshape(-1, 1, 8, 8)
    labels = digits.target.astype(np.int64)
    order = np.random.RandomState(SEED).permutation(len(images))
    train, test = order[:TRAIN_IMAGES], order[TRAIN_IMAGES:]
    return (torch.from_numpy(images[train]), torch.from_numpy(labels[train]),
            torch.from_numpy(images[test]), torch.from_numpy(labels[test]))


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(64, 32)
        self.out = nn.Linear(32, CLASSES)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(torch.flatten(x, 1))))


class Cnn(nn.Module):
    """Padding, groups, batch norm, both pools, a residual sum."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 8, 3, padding=1, groups=2)
        self.conv3 = nn.Conv2d(8, 16, 3, padding=1, stride=2)
        self.out = nn.Linear(16, CLASSES)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        x = self.pool(torch.relu(self.norm1(self.conv1(x))))
        x = torch.relu(x + self.conv2(x))
        x = torch.relu(self.conv3(x))
        x = nn.functional.avg_pool2d(x, 2)
        return self.out(torch.flatten(x, 1))


class Transformer(nn.Module):
    """One block on the eight rows of an image."""

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads = heads
        self.embed = nn.Linear(8, width)
        self.place = nn.Parameter(0.1 * torch.randn(1, 8, width))
        self.norm1 = nn.LayerNorm(width)
        self.attend = nn.Linear(width, 3 * width)
        self.join = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)
        self.out = nn.Linear(width, CLASSES)

    def attention(self, x):
        batch, rows, width = x.shape
        depth = width // self.heads
        q, k, v = (part.reshape(batch, rows, self.heads, depth).transpose(1, 2)
                   for part in self.attend(x).chunk(3, -1))
        scores = torch.softmax(q @ k.transpose(-2, -1) * depth ** -0.5, -1)
        return self.join((scores @ v).transpose(1, 2).reshape(batch, rows,
                                                              width))

    def forward(self, x):
        x = self.embed(x.reshape(x.shape[0], 8, 8) / 16) + self.place
        x = x + self.attention(self.norm1(x))
        x = x + self.down(nn.functional.gelu(self.up(self.norm2(x))))
        return self.out(x.mean(1))


NETWORKS = {"mlp": (Mlp, 40), "cnn": (Cnn, 40), "transformer": (Transformer, 80)}


def train(network, images, labels, epochs):
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    generator = torch.Generator().manual_seed(SEED)
    for _ in range(epochs):
        for batch in torch.randperm(len(images),
                                    generator=generator).split(64):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(network(images[batch]),
                                               labels[batch])
            loss.backward()
            optimizer.step()
    network.eval()


def without_traces(model):
    """Drops locations: the files and lines of this machine are not part of the
    network."""
    graph = model.graph
    for part in (model, graph, *graph.node, *graph.value_info, *graph.input,
                 *graph.output, *graph.initializer):
        part.ClearField("metadata_props")
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=NETWORKS)
    chosen = parser.parse_args().only
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    train_images, train_labels, images, labels = load_data()
    for name, (make, epochs) in NETWORKS.items():
        if chosen not in (None, name):
            continue
        torch.manual_seed(SEED)
        network = make()
        train(network, train_images, train_labels, epochs)
        with torch.no_grad():
            outputs = network(images)
        np.save(HERE / f"{name}.npy", outputs[:KEPT_OUTPUTS].numpy())
        right = (outputs.argmax(1) == labels).sum().item()
        print(f"{name}: {right}/{len(labels)} = {100 * right / len(labels):.2f} %")
        example = images[:1]
        module = fx.export_and_import(network, example, func_name="main",
                                      output_type="linalg-on-tensors")
        lines = HEAD + str(module).rstrip().split("\n")
        (HERE / f"{name}.mlir").write_text(
            "\n".join(line.rstrip() for line in lines) + "\n")
        path = HERE / f"{name}.onnx"
        torch.onnx.export(network, (example,), path, input_names=["input0"],
                          output_names=["output0"], external_data=False,
                          dynamo=True)
        onnx.save(without_traces(onnx.load(path)), path)


if __name__ == "__main__":
    main()
