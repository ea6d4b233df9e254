# SPDX-License-Identifier: Apache-2.0
"""The report of the read benchmark: medians, spreads, ratios within a round. Pure.

An epoch is a dict: workload, readers, round, subject, files, bytes, seconds, cpu_us (readers and
daemon, per file), received (bytes over the link), others (processor seconds of other programs).
"""
import json
import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from paddle_tools.json_types import Json

Rounds = dict[int, Json]  # the epoch of each round

TITLES = {
    "warm": "Warm epoch, page cache warm",
    "disk": "Warm epoch, page cache dropped: from the disk cache",
    "cold": "Cold epoch over the link, caches empty",
}
# The targets that this benchmark measures: (workload, ours, over, at least, name). In "cold" both
# sides are also compared with equal help: a warm-up on both, and on neither.
TARGETS = [
    ("warm", "samplefs", "native", 0.95, "P1a"), ("warm", "samplefs", "juicefs-tuned", 2.0, "P1a"),
    ("warm", "samplefs", "juicefs", 4.0, "P1a"), ("disk", "samplefs", "native", 0.85, "P1b"),
    ("cold", "samplefs", "link", 0.90, "P2"), ("cold", "samplefs", "juicefs", 1.7, "P2"),
    ("cold", "samplefs", "juicefs-tuned", 1.7, "P2"),
    ("cold", "samplefs", "juicefs-warmup", 1.7, "P2, both warmed up"),
    ("cold", "samplefs-no-warmup", "juicefs-tuned", 1.7, "P2, neither warmed up"),
]
OURS = "samplefs"
ORDER = ["native", "link", "samplefs", "samplefs-no-warmup", "juicefs", "juicefs-tuned",
         "juicefs-warmup"]


def median(values: Iterable[float]) -> float:
    return statistics.median(values)


def cells(epochs: list[Json]) -> dict[tuple[str, int], dict[str, Rounds]]:
    """{(workload, readers): {subject: {round: epoch}}}; workloads in order of appearance."""
    found: dict[tuple[str, int], dict[str, dict[int, Json]]] = {}
    for each in sorted(epochs, key=lambda epoch: ORDER.index(epoch["subject"])):
        cell = found.setdefault((each["workload"], each["readers"]), {})
        cell.setdefault(each["subject"], {})[each["round"]] = each
    appeared = dict.fromkeys((each["workload"], each["readers"]) for each in epochs)
    return {cell: found[cell] for cell in appeared}


def speed(epoch: Json) -> float:
    return epoch["files"] / epoch["seconds"]


def ratio(ours: Rounds, theirs: Rounds) -> tuple[float, float, float]:
    """(median, lowest, highest) of the ratios of speeds within each round."""
    each = [speed(ours[at]) / speed(theirs[at]) for at in ours if at in theirs]
    return median(each), min(each), max(each)


def ratios(epochs: list[Json]) -> dict[str, dict[str, float]]:
    """{"warm_1": {"samplefs/native": 0.97, ...}, ...}: the last line of output."""
    found = {}
    for (workload, readers), subjects in cells(epochs).items():
        found[f"{workload}_{readers}"] = {
            f"{ours}/{other}": round(ratio(subjects[ours], subjects[other])[0], 3)
            for ours in subjects if ours.startswith(OURS)
            for other in subjects if not other.startswith(OURS)}
    return found


def target_results(epochs: list[Json]) -> Iterator[tuple[str, str, float, float, float, float]]:
    """(target, what, at least, median, lowest, highest) for each target that was measured."""
    for (workload, readers), subjects in cells(epochs).items():
        for where, ours, other, least, name in TARGETS:
            if where == workload and ours in subjects and other in subjects:
                yield (name, f"{workload}, {readers} reader(s): {ours}/{other}", least,
                       *ratio(subjects[ours], subjects[other]))


def load_of_others(epochs: list[Json]) -> dict[str, str]:
    """How many cores unrelated programs used meanwhile (median)."""
    used = [each["others"] / each["seconds"] for each in epochs if "others" in each]
    return {"cores used by others": f"{median(used):.1f}"} if used else {}


def table(rows: Sequence[Sequence[str]]) -> str:
    head, *body = rows
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in body])


def speeds(subjects: dict[str, Rounds]) -> str:
    rows = [("subject", "files/s", "lowest to highest", "CPU µs/file", "MB over the link")]
    for subject, rounds in subjects.items():
        all_speeds = [speed(each) for each in rounds.values()]
        rows.append((subject, f"{median(all_speeds):.0f}",
                     f"{min(all_speeds):.0f} to {max(all_speeds):.0f}",
                     f"{median([each['cpu_us'] for each in rounds.values()]):.0f}",
                     f"{median([each['received'] for each in rounds.values()]) / 1e6:.1f}"))
    return table(rows)


def markdown(facts: dict[str, Any], epochs: list[Json]) -> str:
    facts = {**facts, **load_of_others(epochs)}
    parts = ["# Reading samples", "",
             "Made by `make bench-read`; `bench/README.md` says how to read it.", "",
             table([("what", "value"), *((key, str(value)) for key, value in facts.items())]), "",
             "## Targets", "",
             table([("target", "ratio of speeds", "at least", "median", "lowest to highest", ""),
                    *((name, what, f"{least:.2f}", f"{middle:.2f}", f"{low:.2f} to {high:.2f}",
                       "met" if middle >= least else "missed")
                      for name, what, least, middle, low, high in target_results(epochs))]), ""]
    for (workload, readers), subjects in cells(epochs).items():
        parts += [f"## {TITLES[workload]}, {readers} reader(s)", "", speeds(subjects), ""]
    return "\n".join(parts)


def as_json(facts: dict[str, Any], epochs: list[Json]) -> str:
    return json.dumps({"facts": facts, "ratios": ratios(epochs), "epochs": epochs}, indent=1) + "\n"
