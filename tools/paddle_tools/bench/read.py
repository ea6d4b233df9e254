# SPDX-License-Identifier: Apache-2.0
"""Reads the same samples from native files, samplefs and JuiceFS. See bench/README.md.

    bench/read [--files N] [--cold-files N] [--rounds N] [--cold-rounds N] [--seed N]
               [--programs DIR] [--results DIR] [--quick]

The last line of output is one JSON object of ratios. Nothing is asserted about time.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from paddle_tools import sandbox
from paddle_tools.bench import machine, programs, read_report
from paddle_tools.bench import read_subjects as subjects
from paddle_tools.bench.network_link import Link
from paddle_tools.errors import ToolError
from paddle_tools.json_types import Json
from paddle_tools.paths import TOP
from paddle_tools.sandbox import SANDBOX, run

HERE = TOP / "bench"
COMPONENTS = ("versitygw", "redis", "juicefs")
PROGRAMS = {"bench": ("read_files", "mount_samples", "delay_proxy"), "bin": ("paddle-cache",)}
READERS = (1, 4)
FILE_SIZE = 110_000
FILES_PER_DIRECTORY = 100
WARM_PASSES = 5  # one pass takes a fifth of a second, which is too short to measure
LINK_MBIT = 50
ROUND_TRIP_MS = 20


def log(text: str) -> None:
    print(f"bench: {text}", flush=True)


# --- outside --------------------------------------------------------------------------------------

def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=4000, help="of the warm epochs")
    parser.add_argument("--cold-files", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--cold-rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=None, help="of the orders; random when absent")
    parser.add_argument("--only", default="", help="comma list of subjects; default: all")
    parser.add_argument("--quick", action="store_true", help="few files, one round: does it work?")
    programs.add_arguments(parser)
    plan = parser.parse_args(argv)
    if plan.quick:
        plan.files, plan.cold_files, plan.rounds, plan.cold_rounds = 400, 60, 1, 1
    programs.complete(plan)
    return plan


def collect_programs(build: Path, target: Path) -> None:
    """Copies the programs: a build at the same time does not change what is measured."""
    programs.collect(build, target, PROGRAMS, "make bench-read")
    installer = TOP / "tools" / "components"
    if subprocess.run([installer, "install", *COMPONENTS], check=False).returncode != 0:
        raise ToolError("a component could not be installed; the reason is above")
    for name in COMPONENTS:
        path = Path(run([installer, "path", name]).strip())
        shutil.copytree(path.parent.parent, target / f"{name}.d", symlinks=True)


def outside(plan: argparse.Namespace) -> int:
    if why := sandbox.unsupported_reason():
        raise ToolError(why)
    with sandbox.scratch_directory(TOP / "build" / "bench" / "scratch") as scratch:
        collect_programs(plan.programs, scratch / "programs")
        (scratch / "plan.json").write_text(json.dumps(
            {key: value for key, value in vars(plan).items() if not isinstance(value, Path)}))
        code = sandbox.run_inside(scratch, [HERE / "read", "--inside"])
        if code != 0:
            return code
        plan.results.mkdir(parents=True, exist_ok=True)
        stamp = time.strftime("%Y-%m-%d", time.gmtime())
        for suffix in ("md", "json"):
            shutil.copy(scratch / f"read.{suffix}", plan.results / f"read-{stamp}.{suffix}")
        log(f"written: {plan.results / f'read-{stamp}.md'}")
        print(json.dumps(json.loads((scratch / "read.json").read_text())["ratios"]))
    return 0


# --- inside ---------------------------------------------------------------------------------------

class Bench:
    def __init__(self, plan: Json) -> None:
        self.plan = plan
        self.programs = SANDBOX / "programs"
        self.random = random.Random(plan["seed"])
        self.epochs: list[Json] = []
        self.names: dict[str, list[str]] = {}
        self.facts = {**machine.describe(SANDBOX), "seed": plan["seed"],
                      "files": f"{plan['files']} of {FILE_SIZE:,} bytes (page cache warm: "
                      f"{WARM_PASSES} times over), cold {plan['cold_files']}",
                      "rounds": f"{plan['rounds']}, cold {plan['cold_rounds']}",
                      "link": f"{LINK_MBIT} Mbit/s, round trip {ROUND_TRIP_MS} ms"}

    def wanted(self, name: str) -> bool:
        return not self.plan["only"] or name in self.plan["only"].split(",")

    def component(self, name: str) -> Path:
        return self.programs / f"{name}.d" / "bin" / name

    def make_files(self, folder: str, count: int) -> None:
        self.names[folder] = [f"c{i // FILES_PER_DIRECTORY:03}/{i:06}.jpg" for i in range(count)]
        for name in self.names[folder]:
            path = SANDBOX / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.random.randbytes(FILE_SIZE))

    def order(self, folder: str, passes: int = 1) -> Path:
        """The names in a new order, `passes` times over, in a file for the reader."""
        names = list(self.names[folder])
        self.random.shuffle(names)
        path = SANDBOX / f"order-{passes}"
        path.write_text("\n".join(names * passes) + "\n")
        return path

    def turns(self, subject_names: Collection[str]) -> list[str]:
        """The order of subjects in a round. It is random: with a rotation each subject would always
        follow the same one, and run beside what its daemon still had to do."""
        return self.random.sample(list(subject_names), len(subject_names))

    @staticmethod
    def settle(these: Iterable[subjects.Subject]) -> None:
        """Waits until the daemons are idle (at most two seconds)."""
        daemons = [each.daemon for each in these if each.daemon]
        used = sum(each.cpu_seconds() for each in daemons)
        for _ in range(20):
            time.sleep(0.1)
            before, used = used, sum(each.cpu_seconds() for each in daemons)
            if used - before < 0.015:
                return

    def read(self, subject: subjects.Subject, order: Path, readers: int,
             checksum: bool = False) -> Json:
        done = subprocess.run(
            [self.programs / "read_files", subject.root, order, str(readers),
             *(["sum"] if checksum else [])], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            daemon_log = subject.daemon.tail() if subject.daemon else ""
            raise ToolError(f"reading {subject.root} failed: {done.stderr}{done.stdout}\n"
                            f"{daemon_log}")
        return json.loads(done.stdout)

    def drop(self, subject: subjects.Subject) -> None:
        """Drops the page cache of all files."""
        os.sync()
        try:
            Path("/proc/sys/vm/drop_caches").write_text("3")
            self.facts["page cache dropped by"] = "/proc/sys/vm/drop_caches"
        except OSError:
            self.facts["page cache dropped by"] = "posix_fadvise on its and its cache's files"
            for top in (subject.root, *subject.caches):
                for each in filter(Path.is_file, Path(top).rglob("*")):
                    with open(each, "rb") as file:
                        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def timed(self, workload: str, at: int, name: str, subject: subjects.Subject, order: Path,
              readers: int) -> None:
        used = subject.daemon.cpu_seconds() if subject.daemon else 0
        busy, stolen = machine.busy_seconds()
        received = self.link.received()
        got = self.read(subject, order, readers)
        used = (subject.daemon.cpu_seconds() if subject.daemon else 0) - used + got["cpu_seconds"]
        after, stolen_after = machine.busy_seconds()
        self.note(workload, at, name, readers, got["files"], got["bytes"], got["seconds"],
                  cpu_us=used / got["files"] * 1e6, received=self.link.received() - received,
                  others=max(0.0, after - busy - used), stolen=stolen_after - stolen)

    def note(self, workload: str, at: int | None, name: str, readers: int, files: int, size: int,
             seconds: float, **more: Any) -> None:
        self.epochs.append({"workload": workload, "readers": readers, "round": at, "subject": name,
                            "files": files, "bytes": size, "seconds": seconds,
                            **{key: round(value, 3) for key, value in more.items()}})
        log(f"  {workload} {readers} reader(s) round {at}: {name} {files / seconds:.0f} files/s")

    # --- the three workloads ---

    def prepare(self) -> None:
        self.link = Link(self.programs, self.component("versitygw"), ROUND_TRIP_MS)
        subjects.start_redis(self.component("redis"))
        server = self.link.client()
        server.make_bucket("samples")
        self.volumes: dict[str, subjects.JuiceVolume] = {}
        for folder, count, database in (("warm", self.plan["files"], 1),
                                        ("cold", self.plan["cold_files"], 2)):
            self.make_files(folder, count)
            for name in self.names[folder]:
                server.put("samples", f"{folder}/{name}", (SANDBOX / folder / name).read_bytes())
            volume = subjects.JuiceVolume(self.component("juicefs"), database, self.link,
                                          far=folder == "cold")
            volume.bring_in(SANDBOX / folder)
            self.volumes[folder] = volume

    def warm_subjects(self) -> dict[str, subjects.Subject]:
        volume, tuned = self.volumes["warm"], subjects.TUNED
        makers = {
            "native": lambda name: subjects.Native(SANDBOX / "warm"),
            "samplefs": lambda name: subjects.SampleFs(name, self.programs, self.link, False,
                                                       "s3://samples/warm"),
            "juicefs": lambda name: subjects.JuiceFs(name, volume, []),
            "juicefs-tuned": lambda name: subjects.JuiceFs(name, volume, tuned)}
        these = {name: make(name) for name, make in makers.items() if self.wanted(name)}
        for each in these.values():
            each.fill()
        return these

    def check_bytes(self, these: dict[str, subjects.Subject], order: Path) -> None:
        sums = {name: self.read(each, order, 1, checksum=True)["sum"]
                for name, each in these.items()}
        if len(set(sums.values())) != 1:
            raise ToolError(f"the subjects do not have the same bytes: {sums}")

    def warm_epochs(self, these: dict[str, subjects.Subject]) -> None:
        # Pages of written files are larger than pages of read files: all start from disk.
        self.drop(next(iter(these.values())))
        self.check_bytes(these, self.order("warm"))
        for workload in ("warm", "disk"):
            for readers in READERS:
                for at in range(self.plan["rounds"]):
                    once = self.order("warm")
                    order = once if workload == "disk" else self.order("warm", WARM_PASSES)
                    for name in self.turns(these):
                        if workload == "disk":
                            self.drop(these[name])
                        else:
                            self.read(these[name], once, readers)
                        self.settle(these.values())
                        self.timed(workload, at, name, these[name], order, readers)

    def cold_epochs(self) -> None:
        self.link.shape(LINK_MBIT)
        makers = {
            "samplefs": (self.cold_samplefs, True),
            "samplefs-no-warmup": (self.cold_samplefs, False),
            "juicefs": (lambda name: self.cold_juicefs(name, []), False),
            "juicefs-tuned": (lambda name: self.cold_juicefs(name, subjects.TUNED), False),
            "juicefs-warmup": (lambda name: self.cold_juicefs(name, subjects.TUNED), True)}
        makers = {name: maker for name, maker in makers.items() if self.wanted(name)}
        for readers in READERS:
            for at in range(self.plan["cold_rounds"]):
                order = self.order("cold")
                size = len(self.names["cold"]) * FILE_SIZE
                self.note("cold", at, "link", readers, len(self.names["cold"]), size,
                          self.link.blast(size), cpu_us=0, received=size)
                for name in self.turns(makers):
                    make, alongside = makers[name]
                    subject = make(f"cold-{name}-{readers}-{at}")
                    self.drop(subject)
                    if alongside:
                        subject.fill_alongside()
                    self.timed("cold", at, name, subject, order, readers)
                    if at == 0:
                        native = subjects.Native(SANDBOX / "cold")
                        self.check_bytes({name: subject, "native": native}, order)
                    subject.stop()

    def cold_samplefs(self, name: str) -> subjects.Subject:
        return subjects.SampleFs(name, self.programs, self.link, True, "s3://samples/cold")

    def cold_juicefs(self, name: str, options: list[str]) -> subjects.Subject:
        return subjects.JuiceFs(name, self.volumes["cold"], options)

    def run(self) -> None:
        begin = time.monotonic()
        log(f"seed {self.plan['seed']}; preparing: files, S3 server, two JuiceFS volumes")
        self.prepare()
        these = self.warm_subjects()
        log(f"prepared in {time.monotonic() - begin:.0f} s; warm epochs")
        self.warm_epochs(these)
        for each in these.values():
            each.stop()
        log("cold epochs")
        self.cold_epochs()
        self.facts["took"] = f"{time.monotonic() - begin:.0f} s"
        (SANDBOX / "read.md").write_text(read_report.markdown(self.facts, self.epochs))
        (SANDBOX / "read.json").write_text(read_report.as_json(self.facts, self.epochs))


def main(argv: list[str]) -> int:
    sandbox.interrupt_on_signals()
    try:
        if argv == ["--inside"]:
            sandbox.set_up_inside()
            Bench(json.loads((SANDBOX / "plan.json").read_text())).run()
            return 0
        return outside(arguments(argv))
    except ToolError as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
