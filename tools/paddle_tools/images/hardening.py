# SPDX-License-Identifier: Apache-2.0
"""Which protections of the toolchain a program of ours lacks, read from the file itself.

tools/images takes no program without them (cmake/paddle_toolchain.cmake, `Release`).
"""
import re
import struct
from pathlib import Path

DYN, RELRO, STACK, DYNAMIC = 3, 0x6474E552, 0x6474E551, 2
FLAGS, FLAGS_1, BIND_NOW, NOW, EXECUTABLE = 30, 0x6FFFFFFB, 8, 1, 1
# Imports by which a protection shows.
IMPORTED = {
    "a canary on the stack (-fstack-protector-strong)": rb"\0__stack_chk_fail\0",
    "checked calls of the C library (-D_FORTIFY_SOURCE)": rb"\0__\w+_chk\0",
    "checked containers (-D_GLIBCXX_ASSERTIONS)": rb"\0\w*__glibcxx_assert_fail\w*\0",
}


def missing(path: str | Path) -> list[str]:
    """What a 64-bit little-endian ELF program lacks, as words for people; empty: nothing."""
    data = Path(path).read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        return ["the format of a program"]
    kind, = struct.unpack_from("<H", data, 16)
    table, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    segments = {}
    for index in range(count):
        found, flags, offset, _, _, length = struct.unpack_from("<IIQQQQ", data,
                                                                table + index * size)
        segments[found] = (flags, offset, length)
    tags = {}
    if DYNAMIC in segments:
        _, offset, length = segments[DYNAMIC]
        tags = dict(struct.iter_unpack("<QQ", data[offset:offset + length // 16 * 16]))
    now = tags.get(FLAGS, 0) & BIND_NOW or tags.get(FLAGS_1, 0) & NOW
    lacking = []
    if kind != DYN:
        lacking.append("addresses that are chosen at each start (-pie)")
    if RELRO not in segments or not now:
        lacking.append("a table of imports that cannot be written (-z relro, -z now)")
    if segments.get(STACK, (EXECUTABLE, 0, 0))[0] & EXECUTABLE:
        lacking.append("a stack that cannot be executed (-z noexecstack)")
    return lacking + [what for what, name in IMPORTED.items() if not re.search(name, data)]
