# SPDX-License-Identifier: Apache-2.0
"""Wide & Deep on a synthetic set in the shape of Criteo's: 13 dense features, 26 categorical ones.

    python train.py [--steps 200]                               as a PaddleJob's ps and worker
    python -m paddle.distributed.launch train.py [--steps 200]  data-parallel, without servers

Which of the two it is comes from the environment: a list of parameter servers makes this process a
server or a trainer of them, otherwise it trains with its peers over gloo. One JSON line per report.
Exits with 1 when the loss has not fallen.
"""
import argparse
import json
import os
import socket
import sys
import time

SERVERS = os.environ.get("PADDLE_PSERVERS_IP_PORT_LIST", "")
if SERVERS:
    os.environ.setdefault("FLAGS_enable_pir_api", "0")  # the servers' passes want older programs
else:
    os.environ.setdefault("PADDLE_DISTRI_BACKEND", "gloo")  # no GPU here

import numpy as np
import paddle
import paddle.distributed as dist
from paddle.distributed import fleet

DENSE = 13
SLOTS = 26
WORDS = 1000  # ids per slot are hashed into one table of SLOTS * WORDS rows
WIDTH = 8


def tell(rank, **figures):
    print("RESULT " + json.dumps({"rank": rank, **figures}), flush=True)


def samples(batch, seed):
    """Clicks that depend on a few dense features and on the taste of each category."""
    task = np.random.default_rng(0)
    weights = task.normal(size=DENSE)
    taste = task.normal(size=(SLOTS, WORDS))
    draw = np.random.default_rng(seed)
    while True:
        dense = draw.normal(size=(batch, DENSE)).astype("float32")
        words = np.minimum(draw.zipf(1.3, size=(batch, SLOTS)) - 1, WORDS - 1)
        score = dense @ weights + taste[np.arange(SLOTS), words].sum(axis=1)
        label = (score > 0).astype("int64").reshape(-1, 1)
        yield dense, (words + np.arange(SLOTS) * WORDS).astype("int64"), label


class Trend:
    """The loss at the beginning and at the end, each over a tenth of the steps."""

    def __init__(self, steps):
        self.steps, self.window = steps, max(steps // 10, 1)
        self.first, self.last = [], []

    def add(self, step, loss):
        if step <= self.window:
            self.first.append(loss)
        if step > self.steps - self.window:
            self.last.append(loss)

    def figures(self):
        return {"first": round(float(np.mean(self.first)), 4),
                "last": round(float(np.mean(self.last)), 4)}

    def fell(self):
        return np.mean(self.last) < np.mean(self.first)


# ---- with parameter servers: a static program, embeddings in a table of the servers ----

def build_program():
    dense = paddle.static.data("dense", [None, DENSE], "float32")
    words = paddle.static.data("words", [None, 1], "int64")  # as the servers' table wants them
    label = paddle.static.data("label", [None, 1], "int64")
    vectors = paddle.static.nn.sparse_embedding(
        words, size=[SLOTS * WORDS, WIDTH], param_attr=paddle.ParamAttr(name="embedding"))
    deep = paddle.concat([paddle.reshape(vectors, [-1, SLOTS * WIDTH]), dense], axis=1)
    deep = paddle.static.nn.fc(deep, 64, activation="relu")
    score = paddle.static.nn.fc(deep, 2) + paddle.static.nn.fc(dense, 2)  # deep + wide
    loss = paddle.mean(paddle.nn.functional.cross_entropy(score, label))
    return loss


def await_servers(seconds=120):
    """A container that runs does not listen yet, and a client that comes too early hangs."""
    end = time.monotonic() + seconds
    for address in SERVERS.split(","):
        host, port = address.rsplit(":", 1)
        while True:
            try:
                socket.create_connection((host.strip("[]"), int(port)), timeout=2).close()
                break
            except OSError as error:
                if time.monotonic() > end:
                    sys.exit(f"the server {address} is not there: {error}")
                time.sleep(0.2)


def train_with_servers(args):
    paddle.enable_static()
    fleet.init(fleet.PaddleCloudRoleMaker(is_collective=False))
    loss = build_program()
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = True
    fleet.distributed_optimizer(paddle.optimizer.SGD(0.05), strategy).minimize(loss)

    if fleet.is_server():
        tell(fleet.server_index(), event="serving", servers=fleet.server_num())
        fleet.init_server()
        fleet.run_server()  # until this process is ended
        return True

    rank, ranks = fleet.worker_index(), fleet.worker_num()
    exe = paddle.static.Executor(paddle.CPUPlace())
    exe.run(paddle.static.default_startup_program())
    await_servers()
    fleet.init_worker()
    trend = Trend(args.steps)
    source = samples(args.batch, seed=rank + 1)
    for step in range(1, args.steps + 1):
        dense, words, label = next(source)
        value, = exe.run(paddle.static.default_main_program(), fetch_list=[loss],
                         feed={"dense": dense, "words": words.reshape(-1, 1), "label": label})
        trend.add(step, float(np.mean(value)))
        if step == 1 or step % args.every == 0:
            tell(rank, event="step", step=step, loss=round(float(np.mean(value)), 4), ranks=ranks)
    tell(rank, event="done", mode="PS", ranks=ranks, servers=fleet.server_num(), **trend.figures())
    fleet.stop_worker()
    return trend.fell()


# ---- without: every worker has the whole model ----

class WideAndDeep(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.words = paddle.nn.Embedding(SLOTS * WORDS, WIDTH)
        self.hidden = paddle.nn.Linear(SLOTS * WIDTH + DENSE, 64)
        self.deep = paddle.nn.Linear(64, 2)
        self.wide = paddle.nn.Linear(DENSE, 2)

    def forward(self, dense, words):
        vectors = paddle.reshape(self.words(words), [-1, SLOTS * WIDTH])
        hidden = paddle.nn.functional.relu(self.hidden(paddle.concat([vectors, dense], axis=1)))
        return self.deep(hidden) + self.wide(dense)


def train_with_peers(args):
    paddle.set_device("cpu")
    dist.init_parallel_env()
    rank, ranks = dist.get_rank(), dist.get_world_size()
    paddle.seed(1)
    net = WideAndDeep()
    net = paddle.DataParallel(net) if ranks > 1 else net
    optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())
    trend = Trend(args.steps)
    source = samples(args.batch, seed=rank + 1)
    for step in range(1, args.steps + 1):
        dense, words, label = (paddle.to_tensor(part) for part in next(source))
        loss = paddle.nn.functional.cross_entropy(net(dense, words), label)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        trend.add(step, float(loss))
        if step == 1 or step % args.every == 0:
            tell(rank, event="step", step=step, loss=round(float(loss), 4), ranks=ranks)
    tell(rank, event="done", mode="Collective", ranks=ranks, **trend.figures())
    return trend.fell()


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--steps", type=int, default=200)
    options.add_argument("--batch", type=int, default=128)
    options.add_argument("--every", type=int, default=50, help="steps between reports")
    args = options.parse_args()
    return 0 if (train_with_servers if SERVERS else train_with_peers)(args) else 1


if __name__ == "__main__":
    sys.exit(main())
