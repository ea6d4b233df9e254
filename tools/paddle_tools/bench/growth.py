# SPDX-License-Identifier: Apache-2.0
"""How the operator's cost grows with the size of the cluster.

A curve is a list of points, each a dict with the number of jobs and the costs: memory_mib,
cpu_seconds, requests. Its exponent is the slope of the regression line through the logarithms: 1
means that twice the jobs cost twice as much.
"""
import json
import math
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from paddle_tools.bench.control_cluster import bound_to_parent
from paddle_tools.bench.read_report import table
from paddle_tools.errors import ToolError
from paddle_tools.json_types import Json

COSTS = {"memory": "memory_mib", "cpu": "cpu_seconds", "requests": "requests"}
MOST = 1.1  # that an exponent is meant to be
IN_MEMORY = (1250, 2500, 5000, 10_000)  # jobs; 10 pods each, a set for 10 jobs, a node for two
ON_A_SERVER = (250, 500, 1000, 2000)    # jobs of 4 pods
LIMIT = 1500  # seconds for one size

Curve = list[Json]


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """The slope of the least-squares line through (log x, log y)."""
    if len({x for x, _ in points}) < 2:
        raise ToolError("an exponent needs two sizes")
    if any(x <= 0 or y <= 0 for x, y in points):
        raise ToolError("an exponent needs sizes and costs above zero")
    logs = [(math.log(x), math.log(y)) for x, y in points]
    mean_x = sum(x for x, _ in logs) / len(logs)
    mean_y = sum(y for _, y in logs) / len(logs)
    return (sum((x - mean_x) * (y - mean_y) for x, y in logs)
            / sum((x - mean_x) ** 2 for x, _ in logs))


def exponents(curves: dict[str, Curve]) -> dict[str, float]:
    """Of each cost the largest exponent of all curves, and that of each curve by its name."""
    found: dict[str, float] = {}
    for cost, key in COSTS.items():
        each = {name: exponent([(at["jobs"], at[key]) for at in curve])
                for name, curve in curves.items() if len(curve) > 1}
        if each:
            found[f"growth_exponent_{cost}"] = round(max(each.values()), 3)
        for name, value in each.items():
            found[f"growth_exponent_{cost}_{name}"] = round(value, 3)
    return found


def markdown(curves: dict[str, Curve]) -> str:
    found = exponents(curves)
    parts = []
    for name, curve in curves.items():
        columns = list(curve[0])
        parts += [table([tuple(columns), *(tuple(str(at[key]) for key in columns)
                                           for at in curve)]), ""]
        parts += [table([("cost", "exponent", "at most", ""),
                         *((cost, f"{value:.2f}", f"{MOST}", "met" if value <= MOST else "missed")
                           for cost in COSTS
                           if (value := found.get(f"growth_exponent_{cost}_{name}")) is not None)]),
                  ""]
    return "\n".join(parts)


def in_memory(program: Path, sizes: Sequence[int], log: Callable[[str], None]) -> Curve:
    """The controller alone on an in-memory cluster, a new process for each size."""
    curve = []
    for jobs in sizes:
        argv = [str(each) for each in (program, jobs, 10, max(jobs // 10, 1), max(jobs // 2, 4),
                                       LIMIT)]
        done = subprocess.run(bound_to_parent(argv), text=True, check=False, capture_output=True,
                              stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise ToolError(done.stderr.strip() or f"grow_cluster ended with {done.returncode}")
        point = json.loads(done.stdout)
        point["memory_mib"] = point.pop("heap_mib")
        curve.append({key: round(value, 3) for key, value in point.items()})
        log(f"  in memory, {jobs} jobs: {point['memory_mib']:.1f} MiB, "
            f"{point['cpu_seconds']:.1f} s of a processor, {point['requests']} requests")
    return curve
