# SPDX-License-Identifier: Apache-2.0
"""The report of the control benchmark: ratios within a round, requests, tables. Pure.

A turn is a dict: scenario (see TITLES), round, subject (floor, operator), all, first, median,
created (seconds), others (processor seconds of unrelated programs), bed_cpu; of the operator also
operator_cpu, rss_mib, peak_rss_mib, requests ({"create pods": 800, ...}; without leases and
watches) and requests_until_running.
"""
import json
import statistics
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from paddle_tools.bench import growth
from paddle_tools.bench.audit_log import is_quiet
from paddle_tools.bench.read_report import table
from paddle_tools.json_types import Json

Rounds = dict[int, Json]  # the turn of each round
Wanted = Callable[[str, str], bool]  # chooses requests by verb and resource

TITLES = {"jobs": "Many jobs", "big": "One big job",
          "released": "Many jobs whose pods wait until they are released"}
RATIOS = {"jobs": "time_vs_floor", "big": "big_job_vs_floor", "released": "released_time_vs_floor"}
STATUS_WRITES = 3  # that a job may cost on its way to Running


def median(values: Iterable[float]) -> float:
    return statistics.median(values)


def words(asked: str) -> tuple[str, str]:
    """("update", "paddlejobs/status") for "update paddlejobs/status (409)"."""
    verb, resource = asked.split(" (", maxsplit=1)[0].split(" ", 1)
    return verb, resource


def count(requests: dict[str, int], wanted: Wanted) -> int:
    return sum(number for asked, number in requests.items() if wanted(*words(asked)))


def is_event(_: str, resource: str) -> bool:
    return resource == "events"


def is_status(_: str, resource: str) -> bool:
    return resource == "paddlejobs/status"


class Result:
    """`objects`: how many the operator makes for each scenario; `jobs`: the number of many jobs;
    `curves`: see growth.py."""

    def __init__(self, facts: dict[str, Any], turns: list[Json], idle: Json | None,
                 objects: dict[str, int], jobs: int,
                 curves: dict[str, growth.Curve] | None = None) -> None:
        self.facts, self.turns, self.idle = facts, turns, idle
        self.curves = curves or {}
        self.objects, self.jobs = objects, jobs

    def of(self, scenario: str, subject: str) -> Rounds:
        return {each["round"]: each for each in self.turns
                if (each["scenario"], each["subject"]) == (scenario, subject)}

    def ratio(self, scenario: str) -> tuple[float, float, float] | None:
        """(median, lowest, highest) of operator over floor within a round; None without rounds."""
        ours, floor = self.of(scenario, "operator"), self.of(scenario, "floor")
        each = [ours[at]["all"] / floor[at]["all"] for at in ours if at in floor]
        return (median(each), min(each), max(each)) if each else None

    def per_job(self, scenario: str, wanted: Wanted = lambda *_: True) -> float:
        """Requests for one of many jobs (median of the rounds)."""
        rounds = self.of(scenario, "operator").values()
        return median([count(each["requests"], wanted) for each in rounds]) / self.jobs

    def summary(self) -> dict[str, float]:
        """The last line of output."""
        found = {}
        for scenario, key in RATIOS.items():
            if ratio := self.ratio(scenario):
                found[key] = round(ratio[0], 3)
        if self.idle:
            found["rss_mib_1000_jobs"] = self.most_memory(self.idle)
            found["idle_requests_per_minute"] = round(
                self.per_minute(self.idle, lambda *_: True), 1)
            found["idle_other_requests_per_minute"] = round(
                self.per_minute(self.idle, lambda *asked: not is_quiet(*asked)), 1)
        if rounds := self.of("jobs", "operator").values():
            found["cpu_seconds"] = round(median([each["operator_cpu"] for each in rounds]), 2)
            found["requests_per_job"] = round(self.per_job("jobs"), 2)
            found["objects_per_job"] = round(self.objects["jobs"] / self.jobs, 2)
            found["status_writes_per_job"] = round(self.per_job("jobs", is_status), 2)
            found["events_per_job"] = round(self.per_job("jobs", is_event), 2)
        if self.of("released", "operator"):
            found["released_requests_per_job"] = round(self.per_job("released"), 2)
        return found | growth.exponents(self.curves)

    def most_memory(self, idle: Json) -> float:
        """The peak of the operator and of its successor."""
        return max(idle["peak_rss_mib"], idle["successor_peak_rss_mib"])

    def per_minute(self, idle: Json, wanted: Wanted) -> float:
        return count(idle["requests"], wanted) * 60 / idle["seconds"]

    def target_results(self) -> Iterator[tuple[str, float, float, str]]:
        """(what, at most, found, lowest to highest)"""
        for scenario, title in TITLES.items():
            if ratio := self.ratio(scenario):
                yield (f"{title}: time over the floor's", 1.2, ratio[0],
                       f"{ratio[1]:.2f} to {ratio[2]:.2f}")
        for scenario in ("jobs", "released"):
            if self.of(scenario, "operator"):
                most = (self.objects[scenario] / self.jobs + STATUS_WRITES
                        + self.per_job(scenario, is_event))
                yield (f"{TITLES[scenario]}: requests per job (objects, {STATUS_WRITES} status "
                       "writes, events)", most, self.per_job(scenario), "")
        if self.idle:
            yield f"MiB at most, {self.idle['jobs']} jobs", 64, self.most_memory(self.idle), ""
            yield ("requests per minute at rest that renew no lease and no watch", 0,
                   self.per_minute(self.idle, lambda *asked: not is_quiet(*asked)), "")

    # --- the report -------------------------------------------------------------------------------

    def markdown(self) -> str:
        others = [each["others"] / each["all"] for each in self.turns]
        facts = {**self.facts, "cores used by others": f"{median(others):.1f}" if others else "?"}
        parts = ["# Control plane", "",
                 "Made by `make bench-control`; `bench/README.md` says how to read it.", "",
                 table([("what", "value"), *((key, str(value)) for key, value in facts.items())]),
                 "", "## Targets (P5)", "",
                 table([("what", "at most", "median", "lowest to highest", ""),
                        *((what, f"{most:.2f}", f"{found:.2f}", spread,
                           "met" if found <= most else "missed")
                          for what, most, found, spread in self.target_results())]), ""]
        for scenario, title in TITLES.items():
            if self.of(scenario, "operator"):
                parts += [f"## {title}", "", self.times(scenario), "", self.costs(scenario), ""]
        if self.idle:
            parts += ["## At rest", "", self.rest(self.idle), ""]
        if self.curves:
            parts += ["## Growth", "", growth.markdown(self.curves), ""]
        return "\n".join(parts)

    def times(self, scenario: str) -> str:
        rows: list[tuple[str, ...]] = [("subject", "all Running, s", "lowest to highest",
                                        "first, s", "half, s",
                 "all creates answered, s", "control plane CPU, s")]
        for subject in ("floor", "operator"):
            rounds = list(self.of(scenario, subject).values())
            if not rounds:
                continue
            every = [each["all"] for each in rounds]
            rows.append((subject, f"{median(every):.1f}", f"{min(every):.1f} to {max(every):.1f}",
                         *(f"{median([each[key] for each in rounds]):.1f}"
                           for key in ("first", "median", "created", "bed_cpu"))))
        return table(rows)

    def costs(self, scenario: str) -> str:
        """The operator's requests until it was idle again; means over the rounds."""
        rounds = list(self.of(scenario, "operator").values())
        asked: dict[str, float] = {}
        for each in rounds:
            for key, number in each["requests"].items():
                asked[key] = asked.get(key, 0) + number / len(rounds)
        every = sum(asked.values())
        until = median([each["requests_until_running"] for each in rounds])
        rows = [("operator", "mean of a round"),
                ("processor seconds", f"{median([e['operator_cpu'] for e in rounds]):.2f}"),
                ("peak RSS, MiB", f"{max(each['peak_rss_mib'] for each in rounds):.1f}"),
                ("objects to make", str(self.objects[scenario])),
                ("requests", f"{every:.0f} ({until:.0f} a second after the last was Running)"),
                *((key, f"{number:.0f}") for key, number in
                  sorted(asked.items(), key=lambda each: each[1], reverse=True))]
        return table(rows)

    def rest(self, idle: Json) -> str:
        rows = [("what", "value"), ("jobs", str(idle["jobs"])),
                ("all Running after, s", f"{idle['running_after']:.1f}"),
                ("RSS, MiB: now, at most", f"{idle['rss_mib']}, {idle['peak_rss_mib']}"),
                ("the same of a successor that finds all jobs",
                 f"{idle['successor_rss_mib']}, {idle['successor_peak_rss_mib']}"),
                ("processor seconds a minute", f"{idle['cpu'] * 60 / idle['seconds']:.2f}"),
                *((f"{key} a minute", f"{number * 60 / idle['seconds']:.1f}")
                  for key, number in idle["requests"].items())]
        return table(rows)

    def as_json(self) -> str:
        return json.dumps({"facts": self.facts, "summary": self.summary(), "objects": self.objects,
                           "turns": self.turns, "idle": self.idle, "curves": self.curves},
                          indent=1) + "\n"
