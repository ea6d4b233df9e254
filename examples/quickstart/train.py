# SPDX-License-Identifier: Apache-2.0
"""Trains a small CNN on the quickstart's images, data-parallel, through a mounted SampleSet.

    python -m paddle.distributed.launch train.py --data /mnt/samples --epochs 3

Reads every image of its share once per epoch and reports, as one JSON line per epoch, how many
samples and bytes it read and how long that took. `--forget N` drops the pages of the set from the
kernel's cache before epoch N, so that this epoch comes from the cache's disk.
"""
import argparse
import io
import json
import os
import time

os.environ.setdefault("PADDLE_DISTRI_BACKEND", "gloo")  # no GPU here

import numpy as np
import paddle
import paddle.distributed as dist
from paddle import nn
from PIL import Image

CLASSES = 10


class Images(paddle.io.Dataset):
    """<root>/<class>/<name>.png; the order is the same on every rank."""

    def __init__(self, root):
        super().__init__()
        self.files = sorted((entry.path, int(folder.name))
                            for folder in os.scandir(root) if folder.is_dir()
                            for entry in os.scandir(folder.path))
        self.bytes = 0

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        path, label = self.files[index]
        with open(path, "rb") as file:
            data = file.read()
        self.bytes += len(data)
        pixels = np.asarray(Image.open(io.BytesIO(data)), dtype="float32") / 127.5 - 1
        side = pixels.shape[0] // 4
        small = pixels.reshape(side, 4, side, 4, 3).mean(axis=(1, 3))  # noise averages out
        return small.transpose(2, 0, 1), np.array([label], dtype="int64")

    def forget(self):
        for path, _ in self.files:
            with open(path, "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def model():
    return nn.Sequential(
        nn.Conv2D(3, 8, 3, stride=2, padding=1), nn.ReLU(),
        nn.Conv2D(8, 16, 3, stride=2, padding=1), nn.ReLU(),
        nn.Flatten(), nn.Linear(16 * 7 * 7, CLASSES))


def loader(images, batch, shuffle):
    order = paddle.io.DistributedBatchSampler(images, batch, shuffle=shuffle)
    return order, paddle.io.DataLoader(images, batch_sampler=order, num_workers=0)


def accuracy(net, images, batch):
    net.eval()
    right = seen = 0
    with paddle.no_grad():
        for x, y in loader(images, batch, shuffle=False)[1]:
            right += int((net(x).argmax(axis=1) == y.flatten()).sum())
            seen += int(y.shape[0])
    net.train()
    counts = paddle.to_tensor([right, seen], dtype="int64")
    if dist.get_world_size() > 1:
        dist.all_reduce(counts)
    return float(counts[0]) / float(counts[1])


def tell(**figures):
    print("RESULT " + json.dumps({"rank": dist.get_rank(), **figures}), flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--data", required=True, help="a directory with train/ and val/")
    options.add_argument("--epochs", type=int, default=3)
    options.add_argument("--batch", type=int, default=32)
    options.add_argument("--forget", type=int, default=0, metavar="N")
    args = options.parse_args()

    paddle.set_device("cpu")
    dist.init_parallel_env()
    paddle.seed(1)
    train = Images(os.path.join(args.data, "train"))
    val = Images(os.path.join(args.data, "val"))
    order, batches = loader(train, args.batch, shuffle=True)
    net = model()
    if dist.get_world_size() > 1:
        net = paddle.DataParallel(net)
    optimizer = paddle.optimizer.Adam(2e-3, parameters=net.parameters())
    loss_of = nn.CrossEntropyLoss()

    for epoch in range(1, args.epochs + 1):
        if epoch == args.forget:
            train.forget()
        if dist.get_world_size() > 1:
            dist.barrier()  # ranks begin an epoch together
        order.set_epoch(epoch)
        before, begin, samples, loss = train.bytes, time.monotonic(), 0, None
        for x, y in batches:
            loss = loss_of(net(x), y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            samples += int(y.shape[0])
        tell(epoch=epoch, samples=samples, bytes=train.bytes - before,
             seconds=round(time.monotonic() - begin, 3), loss=round(float(loss), 4))
    result = accuracy(net, val, args.batch)
    tell(accuracy=round(result, 4), bytes=train.bytes + val.bytes)


if __name__ == "__main__":
    main()
