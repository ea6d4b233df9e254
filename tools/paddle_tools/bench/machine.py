# SPDX-License-Identifier: Apache-2.0
"""The machine on which a benchmark ran, and processor time on it."""
import contextlib
import os
import platform
import threading
from pathlib import Path
from typing import Self

from paddle_tools.sandbox import Daemon


def describe(directory: Path) -> dict[str, str]:
    """{what: text}; `directory` is on the disk that is measured."""
    return {
        "processor": processor(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{memory_kib() / 2**20:.0f} GiB",
        "kernel": platform.release(),
        "disk": disk(directory),
        "load before": " ".join(f"{each:.2f}" for each in os.getloadavg()),
    }


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def memory_kib() -> int:
    first = Path("/proc/meminfo").read_text().splitlines()[0]
    return int(first.split()[1])


def disk(directory: Path) -> str:
    """File system, device and whether it is rotational."""
    number = os.stat(directory).st_dev
    wanted = f"{os.major(number)}:{os.minor(number)}"
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields = line.split()
        if fields[2] == wanted:
            kind, device = line.partition(" - ")[2].split()[:2]
            return f"{kind} on {device}{spinning(wanted)}"
    return "unknown"


def spinning(device: str) -> str:
    try:
        turns = Path(f"/sys/dev/block/{device}/queue/rotational").read_text().strip()
    except OSError:
        return ""
    return ", rotational" if turns == "1" else ", not rotational"


def busy_seconds() -> tuple[float, float]:
    """Processor seconds of all programs on this machine, all cores together, and those that the
    hypervisor gave to other guests."""
    fields = [int(each) for each in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    user, nice, system, _, _, irq, softirq, steal = fields
    tick = os.sysconf("SC_CLK_TCK")
    return (user + nice + system + irq + softirq) / tick, steal / tick


def group_seconds(group: str) -> float:
    """Processor seconds of a control group of version 1 or 2."""
    root = Path("/sys/fs/cgroup")
    for first in (root / "cpuacct" / group, root / "cpu,cpuacct" / group):
        if (first / "cpuacct.usage").exists():
            return int((first / "cpuacct.usage").read_text()) / 1e9
    for line in (root / group / "cpu.stat").read_text().splitlines():
        if line.startswith("usage_usec"):
            return int(line.split()[1]) / 1e6
    return 0.0


def give_weight(group: str, times: int) -> None:
    """Sets the group's share of busy processors to `times` the standard."""
    for path, standard in ((Path("/sys/fs/cgroup/cpu") / group / "cpu.shares", 1024),
                           (Path("/sys/fs/cgroup") / group / "cpu.weight", 100)):
        if path.exists():
            path.write_text(str(times * standard))


def kernel_thread_seconds() -> float:
    """Processor seconds of the kernel's own threads, such as those that end disk I/O."""
    used = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if fields[1] == "2":
                    used += int(fields[11]) + int(fields[12])
    return used / os.sysconf("SC_CLK_TCK")


class PeakAnonymousMemory:
    """The most anonymous memory of a daemon that was seen, looking ten times a second."""

    def __init__(self, daemon: Daemon | None) -> None:
        self.kib = 0
        self._status = Path(f"/proc/{daemon.process.pid}/status") if daemon else None
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _watch(self) -> None:
        while self._status:
            with contextlib.suppress(OSError):
                for line in self._status.read_text().splitlines():
                    if line.startswith("RssAnon:"):
                        self.kib = max(self.kib, int(line.split()[1]))
            if self._end.wait(0.1):
                return
