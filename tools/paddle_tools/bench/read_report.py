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
    "warm-usual": "110 KB files, page cache warm",
    "disk-usual": "110 KB files, all caches dropped: from the disk cache",
    "warm-small": "16 KB files, page cache warm",
    "disk-small": "16 KB files, all caches dropped: from the disk cache",
    "disk-big": "256 MB files, all caches dropped: from the disk cache",
    "warm-rivals": "110 KB files, page cache warm, beside file systems of other classes",
    "list-tree": "ls -lR, all caches dropped",
    "warmup": "Warm-up over a fast link, and curl --parallel on the same objects",
    "cold": "Cold epoch over the slow link, caches empty",
}
# The targets that this benchmark measures: (workload, ours, over, at least, name). In "cold" both
# sides are also compared with equal help: a warm-up on both, and on neither.
TARGETS = [
    ("warm-usual", "samplefs", "native", 0.95, "P1a"),
    ("warm-usual", "samplefs", "juicefs-tuned", 2.0, "P1a"),
    ("warm-usual", "samplefs", "juicefs", 4.0, "P1a"),
    ("disk-usual", "samplefs", "native", 0.85, "P1b"),
    ("disk-big", "samplefs", "native", 0.95, "P1d"),
    ("cold", "samplefs", "link", 0.90, "P2"), ("cold", "samplefs", "juicefs", 1.7, "P2"),
    ("cold", "samplefs", "juicefs-tuned", 1.7, "P2"), ("cold", "samplefs", "s3fs", 2.6, "P2"),
    ("cold", "samplefs", "juicefs-warmup", 1.7, "P2, both warmed up"),
    ("cold", "samplefs-no-warmup", "juicefs-tuned", 1.7, "P2, neither warmed up"),
    ("list-tree", "samplefs", "juicefs-tuned", 5.0, "P3"),
    ("warmup", "samplefs", "limit", 0.90, "P4"),
]
# Keys of the last line that are ratios of speeds: (workload, readers, ours, over).
RATIOS = {
    "warm_vs_native_1": ("warm-usual", 1, "samplefs", "native"),
    "warm_vs_native_4": ("warm-usual", 4, "samplefs", "native"),
    "fuse_disk_vs_native_1": ("disk-usual", 1, "samplefs", "native"),
    "fuse_disk_vs_native_4": ("disk-usual", 4, "samplefs", "native"),
    "disk_vs_juicefs": ("disk-usual", 1, "samplefs", "juicefs-tuned"),
    "warm_vs_juicefs": ("warm-usual", 1, "samplefs", "juicefs-tuned"),
    "warm_vs_juicefs_default": ("warm-usual", 1, "samplefs", "juicefs"),
    "warm_small_vs_native_1": ("warm-small", 1, "samplefs", "native"),
    "warm_small_vs_native_4": ("warm-small", 4, "samplefs", "native"),
    "fuse_disk_small_vs_native_1": ("disk-small", 1, "samplefs", "native"),
    "fuse_disk_small_vs_native_4": ("disk-small", 4, "samplefs", "native"),
    "big_file_vs_native": ("disk-big", 1, "samplefs", "native"),
    "warm_vs_s3fs": ("warm-rivals", 1, "samplefs", "s3fs"),
    "warm_vs_rclone": ("warm-rivals", 1, "samplefs", "rclone"),
    "ls_vs_native": ("list-tree", 1, "samplefs", "native"),
    "ls_vs_juicefs": ("list-tree", 1, "samplefs", "juicefs-tuned"),
    "warmup_vs_limit": ("warmup", 1, "samplefs", "limit"),
    "cold_vs_link": ("cold", 1, "samplefs", "link"),
    "cold_vs_juicefs": ("cold", 1, "samplefs", "juicefs"),
    "cold_vs_s3fs": ("cold", 1, "samplefs", "s3fs"),
    "cold_vs_rclone": ("cold", 1, "samplefs", "rclone"),
    "cold_equal_help_vs_juicefs": ("cold", 1, "samplefs", "juicefs-warmup"),
}
OURS = "samplefs"
ORDER = ["native", "link", "samplefs", "samplefs-no-warmup", "juicefs", "juicefs-tuned",
         "juicefs-warmup", "s3fs", "rclone", "limit", "curl"]


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


def figures(epochs: list[Json], measured: dict[str, float]) -> dict[str, float]:
    """The last line of output: ratios by name, and what was measured once. A key is absent when its
    subjects were left out of the run."""
    by_cell = cells(epochs)
    found = {}
    for key, (workload, readers, ours, other) in RATIOS.items():
        subjects = by_cell.get((workload, readers), {})
        if ours in subjects and other in subjects:
            found[key] = round(ratio(subjects[ours], subjects[other])[0], 3)
    warm_ups = by_cell.get(("warmup", 1), {})
    if "samplefs" in warm_ups and "curl" in warm_ups:
        found["warmup_cpu_vs_curl"] = round(
            processor_time(warm_ups["samplefs"]) / processor_time(warm_ups["curl"]), 3)
    if disk := by_cell.get(("disk-usual", 1), {}).get(OURS):
        found["cpu_us_per_file_disk"] = round(processor_time(disk), 1)
    return {**found, **{key: round(value, 3) for key, value in measured.items()}}


def processor_time(rounds: Rounds) -> float:
    """Of readers, daemon and the kernel's own threads, per file, in microseconds."""
    return median([each["cpu_us"] + each.get("kernel_us", 0) for each in rounds.values()])


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
    rows = [("subject", "files/s", "lowest to highest", "CPU µs/file", "kernel threads",
             "MB over the link")]
    for subject, rounds in subjects.items():
        all_speeds = [speed(each) for each in rounds.values()]
        rows.append((subject, f"{median(all_speeds):.0f}",
                     f"{min(all_speeds):.0f} to {max(all_speeds):.0f}",
                     f"{median([each['cpu_us'] for each in rounds.values()]):.0f}",
                     f"{median([each.get('kernel_us', 0) for each in rounds.values()]):.0f}",
                     f"{median([each['received'] for each in rounds.values()]) / 1e6:.1f}"))
    return table(rows)


def markdown(facts: dict[str, Any], epochs: list[Json], measured: dict[str, float]) -> str:
    facts = {**facts, **load_of_others(epochs)}
    parts = ["# Reading samples", "",
             "Made by `make bench-read`; `bench/README.md` says how to read it.", "",
             table([("what", "value"), *((key, str(value)) for key, value in facts.items())]), "",
             "## Targets", "",
             table([("target", "ratio of speeds", "at least", "median", "lowest to highest", ""),
                    *((name, what, f"{least:.2f}", f"{middle:.2f}", f"{low:.2f} to {high:.2f}",
                       "met" if middle >= least else "missed")
                      for name, what, least, middle, low, high in target_results(epochs))]), ""]
    if measured:
        parts += ["## Measured once", "",
                  table([("what", "value"),
                         *((key, f"{value:.3g}") for key, value in measured.items())]), ""]
    for (workload, readers), subjects in cells(epochs).items():
        parts += [f"## {TITLES[workload]}, {readers} reader(s)", "", speeds(subjects), ""]
    return "\n".join(parts)


def as_json(facts: dict[str, Any], epochs: list[Json], measured: dict[str, float]) -> str:
    return json.dumps({"facts": facts, "figures": figures(epochs, measured), "epochs": epochs},
                      indent=1) + "\n"
