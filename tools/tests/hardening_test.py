# SPDX-License-Identifier: Apache-2.0
"""Programs of the preset release are protected, and are the same bytes wherever they are built."""
import subprocess
import tempfile
import unittest
from pathlib import Path

from paddle_tools.errors import ToolError
from paddle_tools.images import builder, hardening
from paddle_tools.images.content import stripped_copy
from paddle_tools.paths import TOP

# With an array on the stack, a copy of unknown size, a checked container, and its own path.
PROGRAM = r"""
#include <cstdio>
#include <cstring>
#include <vector>

int main(int count, char** words) {
  std::vector<int> all(static_cast<unsigned>(count));
  char text[64];
  std::strncpy(text, words[0], sizeof text - 1);
  text[63] = 0;
  std::memcpy(text + 8, words[0], static_cast<unsigned>(count));
  return std::printf("%s %s %d\n", text, __FILE__, all[static_cast<unsigned>(count) - 1]) < 0;
}
"""
PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(demo LANGUAGES CXX)
include({top}/cmake/paddle_toolchain.cmake)
add_executable(demo main.cc)
target_link_libraries(demo PRIVATE paddle_flags)
"""
_scratch = tempfile.TemporaryDirectory()
_built: dict[tuple[str, str], Path] = {}


def built(place: str, kind: str) -> Path:
    """The program, built in a directory of that name. No result of a cache is taken."""
    if (place, kind) not in _built:
        source = Path(_scratch.name) / place / kind
        source.mkdir(parents=True)
        (source / "main.cc").write_text(PROGRAM)
        (source / "CMakeLists.txt").write_text(PROJECT.format(top=TOP))
        for argv in (["cmake", "-G", "Ninja", f"-DCMAKE_BUILD_TYPE={kind}",
                      "-DCMAKE_CXX_COMPILER=g++",
                      "-DCMAKE_CXX_COMPILER_LAUNCHER=env;CCACHE_DISABLE=1",
                      f"-DCMAKE_CXX_FLAGS_{kind.upper()}=-O2 -g1", "-S", source,
                      "-B", source / "build"],
                     ["cmake", "--build", source / "build"]):
            done = subprocess.run([str(each) for each in argv], check=False, text=True,
                                  capture_output=True)
            if done.returncode != 0:
                raise AssertionError(done.stdout + done.stderr)
        (found,) = source.glob("build/**/demo")
        _built[place, kind] = found
    return _built[place, kind]


def tearDownModule():
    _scratch.cleanup()


class Release(unittest.TestCase):
    def test_lacks_no_protection_and_others_do(self):
        self.assertEqual(hardening.missing(built("one", "Release")), [])
        lacking = "; ".join(hardening.missing(built("one", "Debug")))
        for word in ("relro", "_FORTIFY_SOURCE", "stack-protector", "_GLIBCXX_ASSERTIONS"):
            self.assertIn(word, lacking)

    def test_lands_calls_on_marked_places_only(self):
        told = subprocess.run(["objdump", "-d", "--no-show-raw-insn", built("one", "Release")],
                              check=True, capture_output=True, text=True).stdout
        first = told[told.index("<main>:"):].splitlines()[1]
        self.assertRegex(first, "endbr64|bti|paciasp")

    def test_is_the_same_bytes_in_another_directory(self):
        one, other = built("one", "Release"), built("another/place/of/any/length", "Release")
        self.assertEqual(one.read_bytes(), other.read_bytes())
        self.assertNotIn(_scratch.name.encode(), one.read_bytes())


class AProgramOfAnImage(unittest.TestCase):
    def test_has_a_build_id_of_what_is_shipped_alone(self):
        with tempfile.TemporaryDirectory() as scratch:
            one = stripped_copy(built("one", "Debug"), scratch).read_bytes()
            other = stripped_copy(built("another", "Debug"), scratch).read_bytes()
            self.assertEqual(len(one), len(other))
            path = Path(scratch) / "program"
            path.write_bytes(one)
            path.chmod(0o755)
            self.assertEqual(subprocess.run([path], check=False, capture_output=True).returncode, 0)

    def test_is_refused_without_the_protections(self):
        with tempfile.TemporaryDirectory() as scratch:
            top = Path(scratch)
            place = top / "build" / "bin"
            place.mkdir(parents=True)
            (place / ".built").write_text("with CSI")
            maker = builder.ImageBuilder(top, scratch)
            (place / "demo").write_bytes(built("one", "Debug").read_bytes())
            with self.assertRaisesRegex(ToolError, r"lacks .*relro.*preset release"):
                maker._own_program("demo")
            (place / "demo").write_bytes(built("one", "Release").read_bytes())
            self.assertTrue(maker._own_program("demo").exists())


if __name__ == "__main__":
    unittest.main()
