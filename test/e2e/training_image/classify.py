# SPDX-License-Identifier: Apache-2.0
"""Stands in for PaddleClas's tools/train.py in the training image of the tests: it takes the same
options, reads every picture of the list that they name, and trains a small network on them.

    python -m paddle.distributed.launch tools/train.py -c CONFIGURATION -o KEY=VALUE...
"""
import argparse
import json
from pathlib import Path

import numpy as np
import paddle
import paddle.distributed as dist
from paddle import nn
from PIL import Image

SIDE = 32
DATASET = "DataLoader.Train.dataset"


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("-c", required=True)
    parser.add_argument("-o", action="append", default=[])
    return dict(each.split("=", 1) for each in parser.parse_args().o)


def pictures(told):
    """Pixels and labels of the list `NAME LABEL`, whose names are relative to the root."""
    lines = Path(told[f"{DATASET}.cls_label_path"]).read_text().split("\n")
    rows = [line.split() for line in lines if line]
    files = [Path(told[f"{DATASET}.image_root"]) / name for name, _ in rows]
    pixels = [np.asarray(Image.open(file).convert("RGB").resize((SIDE, SIDE)), "float32")
              for file in files]
    return (np.stack(pixels).transpose(0, 3, 1, 2) / 127.5 - 1,
            np.array([int(label) for _, label in rows], "int64"))


def main():
    told = options()
    batch = int(told["DataLoader.Train.sampler.batch_size"])
    paddle.set_device("cpu")
    dist.init_parallel_env()
    paddle.seed(1)
    x, y = pictures(told)
    net = nn.Sequential(nn.Conv2D(3, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten(),
                        nn.Linear(8 * (SIDE // 2) ** 2, int(y.max()) + 1))
    net = paddle.DataParallel(net) if dist.get_world_size() > 1 else net
    optimizer = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    losses = []
    for _ in range(20):
        for at in range(0, len(x), batch):
            loss = nn.functional.cross_entropy(net(paddle.to_tensor(x[at:at + batch])),
                                               paddle.to_tensor(y[at:at + batch]))
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(float(loss))
    print("RESULT " + json.dumps({"pictures": len(x), "batch": batch, "first": losses[0],
                                  "last": losses[-1]}), flush=True)


if __name__ == "__main__":
    main()
