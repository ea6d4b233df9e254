# SPDX-License-Identifier: Apache-2.0
"""One run of the read benchmark, inside the sandbox: sets, epochs, and what is measured once."""
import json
import os
import random
import subprocess
import time
from collections.abc import Callable, Collection, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from paddle_tools.bench import machine, read_report
from paddle_tools.bench import read_subjects as subjects
from paddle_tools.bench.network_link import UNSHAPED_MBIT, Link
from paddle_tools.bench.read_sets import BUCKET, SampleFiles
from paddle_tools.errors import ToolError
from paddle_tools.json_types import Json
from paddle_tools.sandbox import SANDBOX

PARTS = ("usual", "small", "big", "rivals", "tree", "warmup", "half", "cold")
READERS = (1, 4)
FILE_SIZE, SMALL_SIZE, BIG_SIZE, TREE_SIZE = 110_000, 16_000, 256_000_000, 64
HALF_FILES = 2_000
RIVAL_FILES, RIVAL_ROUNDS = 2_000, 2  # of s3fs and rclone when warm: they take long
WARM_UP_MBIT = 400  # a link that is slower than the disk and far from free
WARM_UP_FILES = 4_000
LINK_MBIT = 50
ROUND_TRIP_MS = 20

Maker = Callable[[str], subjects.Subject]
Subjects = dict[str, subjects.Subject]


def log(text: str) -> None:
    print(f"bench: {text}", flush=True)


class ReadRun:
    def __init__(self, plan: Json) -> None:
        self.plan = plan
        self.programs = SANDBOX / "programs"
        self.random = random.Random(plan["seed"])
        self.parts = set(plan["parts"].split(","))
        self.epochs: list[Json] = []
        self.measured: dict[str, float] = {}
        files = plan["files"]
        self.sets = {each.folder: each for each in (
            SampleFiles("usual", files, FILE_SIZE),
            SampleFiles("small", files, SMALL_SIZE),
            SampleFiles("big", plan["big_files"], BIG_SIZE),
            SampleFiles("rivals", min(files, RIVAL_FILES), FILE_SIZE),
            SampleFiles("tree", plan["tree_files"], TREE_SIZE, 1_000),
            SampleFiles("warmup", min(files, WARM_UP_FILES), FILE_SIZE),
            SampleFiles("half", min(files, HALF_FILES), FILE_SIZE),
            SampleFiles("cold", plan["cold_files"], FILE_SIZE)) if each.folder in self.parts}
        self.volumes: dict[str, subjects.JuiceVolume] = {}
        self.facts = {**machine.describe(SANDBOX), "seed": plan["seed"],
                      "sets": ", ".join(f"{each.folder} {each.count:,} x {each.size:,} bytes"
                                        for each in self.sets.values()),
                      "rounds": f"{plan['rounds']}, cold {plan['cold_rounds']}",
                      "link": f"{LINK_MBIT} Mbit/s, round trip {ROUND_TRIP_MS} ms"}

    def run(self) -> None:
        begin = time.monotonic()
        log(f"seed {self.plan['seed']}; preparing: files, S3 server, JuiceFS volumes")
        self.prepare()
        log(f"prepared in {time.monotonic() - begin:.0f} s")
        for part in PARTS:
            if part in self.parts:
                log(part)
                {"usual": lambda: self.local_epochs("usual", ("warm", "disk")),
                 "small": lambda: self.local_epochs("small", ("warm", "disk")),
                 "big": lambda: self.local_epochs("big", ("disk",)),
                 "rivals": self.rival_epochs, "tree": self.listings, "warmup": self.warm_up,
                 "half": self.half_cache, "cold": self.cold_epochs}[part]()
        self.facts["took"] = f"{time.monotonic() - begin:.0f} s"
        (SANDBOX / "read.md").write_text(
            read_report.markdown(self.facts, self.epochs, self.measured))
        (SANDBOX / "read.json").write_text(
            read_report.as_json(self.facts, self.epochs, self.measured))

    # --- sets and subjects ---

    def prepare(self) -> None:
        self.link = Link(self.programs, self.component("versitygw"), ROUND_TRIP_MS)
        subjects.start_redis(self.component("redis"))
        self.link.client().make_bucket(BUCKET)
        for each in self.sets.values():
            each.make(self.random)
            each.upload(self.link)
        for database, folder in enumerate(("usual", "small", "big", "tree", "cold"), 1):
            if folder in self.sets:
                volume = subjects.JuiceVolume(self.component("juicefs"), database, self.link,
                                              far=folder == "cold")
                volume.bring_in(self.sets[folder].root)
                self.volumes[folder] = volume

    def component(self, name: str) -> Path:
        return self.programs / f"{name}.d" / "bin" / name

    def wanted(self, makers: dict[str, Maker]) -> dict[str, Maker]:
        only = self.plan["only"]
        return {name: make for name, make in makers.items()
                if not only or name in only.split(",")}

    def samplefs(self, folder: str, far: bool = False, cache_mib: int = 0) -> Maker:
        return lambda name: subjects.SampleFs(name, self.programs, self.link, far,
                                              self.sets[folder].source, cache_mib)

    def juicefs(self, folder: str, options: list[str]) -> Maker:
        return lambda name: subjects.JuiceFs(name, self.volumes[folder], options)

    def rivals(self, folder: str, far: bool) -> dict[str, Maker]:
        return {"s3fs": lambda name: subjects.S3Fs(name, self.component("s3fs"), self.link, far,
                                                   BUCKET, folder),
                "rclone": lambda name: subjects.Rclone(
                    name, self.component("rclone"), self.component("fusermount"), self.link, far,
                    BUCKET, folder)}

    def local_subjects(self, folder: str) -> Subjects:
        makers = self.wanted({
            "native": lambda _: subjects.Native(self.sets[folder].root),
            "samplefs": self.samplefs(folder),
            "juicefs": self.juicefs(folder, []),
            "juicefs-tuned": self.juicefs(folder, subjects.TUNED)})
        return {name: make(f"{folder}-{name}") for name, make in makers.items()}

    # --- one epoch ---

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

    def timed(self, workload: str, at: int, name: str, subject: subjects.Subject,
              action: Callable[[], Json], readers: int) -> None:
        """Does `action`, which answers with files, bytes, seconds and cpu_seconds, and notes it."""
        used = subject.daemon.cpu_seconds() if subject.daemon else 0
        kernel = machine.kernel_thread_seconds()
        busy, stolen = machine.busy_seconds()
        received = self.link.received()
        got = action()
        kernel = machine.kernel_thread_seconds() - kernel
        used = (subject.daemon.cpu_seconds() if subject.daemon else 0) - used + got["cpu_seconds"]
        after, stolen_after = machine.busy_seconds()
        self.note(workload, at, name, readers, got["files"], got["bytes"], got["seconds"],
                  cpu_us=used / got["files"] * 1e6, kernel_us=kernel / got["files"] * 1e6,
                  received=self.link.received() - received,
                  others=max(0.0, after - busy - used - kernel), stolen=stolen_after - stolen)

    def note(self, workload: str, at: int | None, name: str, readers: int, files: int, size: int,
             seconds: float, **more: Any) -> None:
        self.epochs.append({"workload": workload, "readers": readers, "round": at, "subject": name,
                            "files": files, "bytes": size, "seconds": seconds,
                            **{key: round(value, 3) for key, value in more.items()}})
        log(f"  {workload} {readers} reader(s) round {at}: {name} {files / seconds:.0f} files/s, "
            f"{size / seconds / 1e6:.0f} MB/s")

    def check_bytes(self, these: Subjects, order: Path) -> None:
        sums = {name: self.read(each, order, 1, checksum=True)["sum"]
                for name, each in these.items()}
        if len(set(sums.values())) != 1:
            raise ToolError(f"the subjects do not have the same bytes: {sums}")

    # --- the workloads ---

    def local_epochs(self, folder: str, workloads: Collection[str]) -> None:
        files = self.sets[folder]
        these = self.local_subjects(folder)
        for each in these.values():
            each.fill()
        self.epochs_of(folder, files, these, workloads, self.plan["rounds"])
        for each in these.values():
            each.stop()

    def epochs_of(self, folder: str, files: SampleFiles, these: Subjects,
                  workloads: Collection[str], rounds: int) -> None:
        # Pages of written files are larger than pages of read files: all start from disk.
        self.drop(next(iter(these.values())))
        self.check_bytes(these, files.order(self.random))
        for workload in workloads:
            for readers in READERS:
                for at in range(rounds):
                    order = files.order(self.random)
                    for name in self.turns(these):
                        if workload == "disk":
                            self.drop(these[name])
                        else:
                            self.read(these[name], order, readers)
                        self.settle(these.values())
                        self.timed(f"{workload}-{folder}", at, name, these[name],
                                   partial(self.read, these[name], order, readers), readers)

    def rival_epochs(self) -> None:
        """File systems of other classes, warm: beside native and samplefs on the same files."""
        files = self.sets["rivals"]
        makers = self.wanted({"native": lambda _: subjects.Native(files.root),
                              "samplefs": self.samplefs("rivals"), **self.rivals("rivals", False)})
        these = {name: make(f"rivals-{name}") for name, make in makers.items()}
        for each in these.values():
            each.fill()
        self.epochs_of("rivals", files, these, ("warm",), min(RIVAL_ROUNDS, self.plan["rounds"]))
        for each in these.values():
            each.stop()

    def listings(self) -> None:
        """`ls -lR` of the tree, all caches dropped before each."""
        these = self.local_subjects("tree")

        def listing(root: Path) -> Json:
            before, begin = os.times(), time.monotonic()
            subprocess.run(["ls", "-lR", root], stdout=subprocess.DEVNULL, check=True)
            seconds, after = time.monotonic() - begin, os.times()
            return {"files": self.sets["tree"].count, "bytes": 0, "seconds": seconds,
                    "cpu_seconds": after.children_user - before.children_user
                    + after.children_system - before.children_system}
        for at in range(self.plan["cold_rounds"]):
            for name in self.turns(these):
                self.drop(these[name])
                self.settle(these.values())
                self.timed("list-tree", at, name, these[name],
                           partial(listing, these[name].root), 1)
        for each in these.values():
            each.stop()

    def warm_up(self) -> None:
        """A warm-up over a link of WARM_UP_MBIT, beside curl on the same objects and beside the
        limit: the link by itself, or the disk when it is slower."""
        files = self.sets["warmup"]
        self.link.shape(WARM_UP_MBIT)
        for at in range(self.plan["cold_rounds"]):
            seconds = max(self.link.blast(files.total_bytes),
                          subjects.write_to_disk(files.total_bytes))
            self.note("warmup", at, "limit", 1, files.count, files.total_bytes, seconds, cpu_us=0,
                      received=files.total_bytes)
            curl = subjects.CurlDownload(f"warmup-curl-{at}", self.link, BUCKET, files.folder,
                                         files.names)
            self.timed("warmup", at, "curl", curl, partial(curl.download, files.total_bytes), 1)
            subject = self.samplefs("warmup")(f"warmup-samplefs-{at}")

            def fill(subject: subjects.Subject = subject) -> Json:
                begin = time.monotonic()
                subject.fill()
                return {"files": files.count, "bytes": files.total_bytes,
                        "seconds": time.monotonic() - begin, "cpu_seconds": 0}
            self.timed("warmup", at, "samplefs", subject, fill, 1)
            subject.stop()
        self.link.shape(UNSHAPED_MBIT)

    def half_cache(self) -> None:
        """A cache of half of the set, one reader, shuffled epochs: what the cache served after the
        first."""
        files = self.sets["half"]
        subject = subjects.SampleFs("half-samplefs", self.programs, self.link, False, files.source,
                                    cache_mib=files.total_bytes // 2 >> 20)
        self.read(subject, files.order(self.random), 1)
        before = subject.counters()
        for _ in range(2):
            self.drop(subject)
            self.read(subject, files.order(self.random), 1)
        after = subject.counters()
        served = {key: after[key] - before[key]
                  for key in ("fromCache", "fromMemory", "fromSource")}
        self.measured["half_cache_hit_ratio"] = served["fromCache"] / sum(served.values())
        subject.stop()

    def cold_epochs(self) -> None:
        files = self.sets["cold"]
        self.link.shape(LINK_MBIT)
        samplefs, tuned = self.samplefs("cold", far=True), self.juicefs("cold", subjects.TUNED)
        makers = self.wanted({
            "samplefs": samplefs, "samplefs-no-warmup": samplefs,
            "juicefs": self.juicefs("cold", []), "juicefs-tuned": tuned, "juicefs-warmup": tuned,
            **self.rivals("cold", far=True)})
        alongside = ("samplefs", "juicefs-warmup")
        requests = anonymous = 0
        for readers in READERS:
            for at in range(self.plan["cold_rounds"]):
                order = files.order(self.random)
                self.note("cold", at, "link", readers, files.count, files.total_bytes,
                          self.link.blast(files.total_bytes), cpu_us=0, received=files.total_bytes)
                for name in self.turns(makers):
                    subject = makers[name](f"cold-{name}-{readers}-{at}")
                    self.drop(subject)
                    if name in alongside:
                        subject.fill_alongside()
                    mark = self.link.requests_mark()
                    with machine.PeakAnonymousMemory(subject.daemon) as peak:
                        self.timed("cold", at, name, subject,
                                   partial(self.read, subject, order, readers), readers)
                    if name.startswith("samplefs"):
                        requests += self.link.listings_since(mark)
                        anonymous = max(anonymous, peak.kib)
                    if at == 0:
                        native = subjects.Native(files.root)
                        self.check_bytes({name: subject, "native": native}, order)
                    subject.stop()
        self.measured["list_or_head_requests"] = requests
        self.measured["rss_anon_mib"] = anonymous / 1024
