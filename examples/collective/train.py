# SPDX-License-Identifier: Apache-2.0
"""Trains a small network data-parallel on the processor (gloo), from any number of workers.

    python -m paddle.distributed.launch train.py [--steps 60] [--checkpoint DIR]

Each rank draws its own samples of one synthetic task. One JSON line per report: step, loss, ranks;
at the end the digest of the weights, which is the same on every rank, or the program fails. With
--checkpoint the first rank saves every few steps, and a program that starts again, in whatever
number, goes on from there: what elastic jobs need.
"""
import argparse
import hashlib
import json
import os
import sys
import time

os.environ.setdefault("PADDLE_DISTRI_BACKEND", "gloo")  # no GPU here

import numpy as np
import paddle
import paddle.distributed as dist
from paddle import nn

FEATURES = 32
CLASSES = 8


def tell(**figures):
    print("RESULT " + json.dumps({"rank": dist.get_rank(), **figures}), flush=True)


def batches(size, seed):
    """Samples around one centre per class: the same task for every rank, other samples."""
    centres = np.random.default_rng(0).normal(size=(CLASSES, FEATURES))
    draw = np.random.default_rng(seed)
    while True:
        label = draw.integers(0, CLASSES, size)
        x = centres[label] + draw.normal(scale=0.8, size=(size, FEATURES))
        yield paddle.to_tensor(x, dtype="float32"), paddle.to_tensor(label, dtype="int64")


def digest(net):
    state = hashlib.sha256()
    for name, value in sorted(net.state_dict().items()):
        state.update(name.encode())
        state.update(np.ascontiguousarray(value.numpy()).tobytes())
    return state.hexdigest()


def agreed(text):
    """True when every rank says the same."""
    mine = np.frombuffer(bytes.fromhex(text), dtype="uint8").astype("int32")
    low, high = paddle.to_tensor(mine), paddle.to_tensor(mine)
    if dist.get_world_size() > 1:
        dist.all_reduce(low, op=dist.ReduceOp.MIN)
        dist.all_reduce(high, op=dist.ReduceOp.MAX)
    return bool((low == high).all())


class Checkpoint:
    """One file that is whole or the one before; empty path: none."""

    def __init__(self, directory):
        self.path = os.path.join(directory, "state.pdparams") if directory else ""

    def load(self, net):
        if not self.path or not os.path.exists(self.path):
            return 0
        state = paddle.load(self.path)
        net.set_state_dict(state["net"])
        return int(state["step"])

    def save(self, net, step):
        if not self.path or dist.get_rank() != 0:
            return
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        paddle.save({"net": net.state_dict(), "step": step}, self.path + ".new")
        os.replace(self.path + ".new", self.path)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--steps", type=int, default=60)
    options.add_argument("--batch", type=int, default=64)
    options.add_argument("--every", type=int, default=10, help="steps between reports and saves")
    options.add_argument("--checkpoint", default="", metavar="DIR")
    options.add_argument("--pause", type=float, default=0, help="seconds to rest after a step")
    args = options.parse_args()

    paddle.set_device("cpu")
    dist.init_parallel_env()
    ranks = dist.get_world_size()
    paddle.seed(1)
    plain = nn.Sequential(nn.Linear(FEATURES, 64), nn.ReLU(), nn.Linear(64, CLASSES))
    checkpoint = Checkpoint(args.checkpoint)
    first = checkpoint.load(plain)
    net = paddle.DataParallel(plain) if ranks > 1 else plain  # gives everybody rank 0's weights
    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    loss_of = nn.CrossEntropyLoss()
    tell(event="started", ranks=ranks, step=first)

    samples = batches(args.batch, seed=1000 * first + dist.get_rank() + 1)
    for step in range(first + 1, args.steps + 1):
        x, y = next(samples)
        loss = loss_of(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        if step == first + 1 or step % args.every == 0 or step == args.steps:
            tell(event="step", step=step, loss=round(float(loss), 4), ranks=ranks)
            checkpoint.save(plain, step)
        time.sleep(args.pause)

    weights = digest(plain)
    same = agreed(weights)
    tell(event="done", ranks=ranks, weights=weights, agreed=same)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
