# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training of a small network on made-up data, on CPU or GPU.

    python -m paddle.distributed.launch train.py [--epochs 3] [--batch 64]

Prints, as one JSON line per worker, the mean loss of each epoch and a digest of its weights at the
end: the digests of all workers agree, since every step averages their gradients.
"""
import argparse
import hashlib
import json
import os

import paddle
if not paddle.is_compiled_with_cuda():
    os.environ.setdefault("PADDLE_DISTRI_BACKEND", "gloo")

import numpy as np
import paddle.distributed as dist
from paddle import nn

FEATURES, SAMPLES = 32, 4096


class MadeUp(paddle.io.Dataset):
    """Points and the side of a fixed surface they are on; the same on every worker."""

    def __init__(self):
        super().__init__()
        random = np.random.default_rng(7)
        self.points = random.standard_normal((SAMPLES, FEATURES), dtype="float32")
        hidden = np.tanh(self.points @ random.standard_normal((FEATURES, 8), dtype="float32"))
        self.labels = (hidden.sum(axis=1, keepdims=True) > 0).astype("float32")

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return self.points[index], self.labels[index]


def digest(net):
    summary = hashlib.sha256()
    for name, weight in sorted(net.state_dict().items()):
        summary.update(name.encode())
        summary.update(np.ascontiguousarray(weight.numpy()).tobytes())
    return summary.hexdigest()[:16]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=64)
    wanted = parser.parse_args()

    dist.init_parallel_env()
    paddle.seed(11)
    net = nn.Sequential(nn.Linear(FEATURES, 64), nn.ReLU(), nn.Linear(64, 1))
    parallel = paddle.DataParallel(net)
    optimizer = paddle.optimizer.Adam(3e-3, parameters=parallel.parameters())
    measure = nn.BCEWithLogitsLoss()
    data = MadeUp()
    order = paddle.io.DistributedBatchSampler(data, wanted.batch, shuffle=True)
    loader = paddle.io.DataLoader(data, batch_sampler=order, num_workers=0)

    losses = []
    for epoch in range(wanted.epochs):
        order.set_epoch(epoch)
        seen = []
        for points, labels in loader:
            loss = measure(parallel(points), labels)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            seen.append(float(loss))
        losses.append(round(float(np.mean(seen)), 4))
        print(f"rank {dist.get_rank()} of {dist.get_world_size()}: epoch {epoch}, "
              f"loss {losses[-1]}", flush=True)
    print(json.dumps({"rank": dist.get_rank(), "workers": dist.get_world_size(),
                      "loss": losses, "weights": digest(net)}), flush=True)


if __name__ == "__main__":
    main()
