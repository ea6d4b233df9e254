# SPDX-License-Identifier: Apache-2.0
"""The checks must be able to fail: each is shown a small tree with one thing wrong."""
import contextlib
import io
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import ClassVar
from unittest import mock

from paddle_tools.checks import (
    clang_tidy,
    clocks,
    layers,
    links,
    python_code,
    reasons,
    shell,
    sizes,
    source_tree,
    surface,
    test_places,
    words,
)
from paddle_tools.paths import TOP


class Tree(unittest.TestCase):
    """A fabricated checkout."""

    @contextlib.contextmanager
    def checkout(self, files):
        with tempfile.TemporaryDirectory() as top:
            subprocess.run(["git", "init", "-q", top], check=True)
            for name, text in files.items():
                path = Path(top) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            yield top

    def problems(self, check, files):
        with self.checkout(files) as top:
            return list(check.problems(top))

    def assert_one(self, found, *words):
        self.assertEqual(len(found), 1, found)
        for word in words:
            self.assertIn(word, found[0])


GOOD = {
    "src/base/CMakeLists.txt": "module(base\n  SOURCES a.cc)\n",
    "src/base/a.h": "#pragma once\n#include <string>\n",
    "src/net/CMakeLists.txt": "module(net\n  DEPS base  # only\n  SOURCES b.cc\n  LIBS CURL)\n",
    "src/net/b.cc": '#include <curl/curl.h>\n#include <sys/socket.h>\n#include "base/a.h"\n',
    "src/net/b.h": "#pragma once\n",
    "src/kube/CMakeLists.txt": "module(kube\n  DEPS base net)\n"
                               "if(T)\n  paddle_test(k SOURCES c_test.cc DEPS kube kube/fake)\n"
                               "endif()\n",
    "src/kube/c.cc": '#include "net/b.h"\n',
    "src/kube/c_test.cc": '#include <gtest/gtest.h>\n#include "kube/fake/f.h"\n'
                          '#include "test/support/ports.h"\n',
    "src/kube/fake/CMakeLists.txt": "module(kube/fake DEPS kube)\n",
    "src/kube/fake/f.h": "#pragma once\n",
}


class Layers(Tree):
    def with_file(self, name, text):
        return self.problems(layers, {**GOOD, name: text})

    def test_a_tree_that_keeps_to_its_lists_is_good(self):
        self.assertEqual(self.problems(layers, GOOD), [])

    def test_a_folder_that_is_not_listed_is_refused(self):
        self.assert_one(self.with_file("src/base/a.cc", '#include "net/b.h"\n'),
                        "src/base/a.cc:1", "does not list net")

    def test_what_only_a_test_lists_is_refused_in_the_code(self):
        self.assert_one(self.with_file("src/kube/c.h", '#include "kube/fake/f.h"\n'),
                        "does not list kube/fake")

    def test_a_helper_of_the_tests_may_include_what_they_may(self):
        files = {"src/kube/CMakeLists.txt": GOOD["src/kube/CMakeLists.txt"].replace(
                     "c_test.cc", "c_test.cc helper.cc"),
                 "src/kube/helper.h": '#include "kube/fake/f.h"\n'}
        self.assertEqual(self.problems(layers, {**GOOD, **files}), [])

    def test_test_support_is_for_tests(self):
        self.assert_one(self.with_file("src/kube/c.h", '#include "test/support/ports.h"\n'),
                        "only tests may")

    def test_a_cycle_is_refused(self):
        found = self.with_file("src/base/CMakeLists.txt", "module(base DEPS kube)\n")
        self.assertTrue(any("cycle: base -> kube" in each for each in found), found)

    def test_a_name_that_is_no_module_is_refused(self):
        self.assert_one(self.with_file("src/base/CMakeLists.txt", "module(base DEPS util)\n"),
                        "lists util, which is no module")

    def test_a_library_outside_its_folder_is_refused(self):
        self.assert_one(self.with_file("src/kube/d.cc", "#include <curl/curl.h>\n"),
                        "only net may")

    def test_an_unknown_library_is_refused(self):
        self.assert_one(self.with_file("src/kube/d.cc", "#include <qt/any.h>\n"),
                        "does not know")

    def test_a_folder_without_a_module_is_refused(self):
        self.assert_one(self.with_file("src/stray/x.cc", "int x;\n"), "has no module()")


# kube with two sections: wire is PURE, client is not.
PURE = {
    **GOOD,
    "src/base/log.h": "#pragma once\n",
    "src/kube/CMakeLists.txt": "module(kube\n  DEPS base net)\n",
    "src/kube/c_test.cc": "",
    "src/kube/cluster.h": "#pragma once\n",
    "src/kube/values.h": '#pragma once\n#include "base/a.h"\n',
    "src/kube/wire/CMakeLists.txt": "section(kube/wire\n  DEPS base\n  SOURCES w.cc\n  PURE)\n",
    "src/kube/wire/w.h": '// Splits a stream. Pure.\n#pragma once\n#include "kube/values.h"\n',
    "src/kube/wire/w.cc": '#include "kube/wire/w.h"\n',
    "src/kube/client/CMakeLists.txt": "section(kube/client\n  DEPS base net kube/wire)\n",
    "src/kube/client/c.cc": '#include "kube/cluster.h"\n#include "kube/wire/w.h"\n'
                            '#include "net/b.h"\n',
    "src/kube/client/c.h": '#pragma once\n#include "net/b.h"\n',
}


class Purity(Tree):
    def with_files(self, **texts):
        files = {"src/" + name.replace("__", "/").replace("_h", ".h").replace("_cc", ".cc"): text
                 for name, text in texts.items()}
        return self.problems(layers, {**PURE, **files})

    def test_values_and_pure_sections_are_good(self):
        self.assertEqual(self.problems(layers, PURE), [])

    def test_a_pure_section_that_reaches_io_through_a_chain_is_refused(self):
        found = self.with_files(kube__values_h='#include "net/b.h"\n')
        self.assertEqual(len(found), 2, found)  # w.h, and w.cc that includes it
        for each in found:
            self.assertIn("is PURE but reaches I/O", each)
            self.assertIn("net/b.h <- kube/values.h <- kube/wire/w.h", each)

    def test_an_interface_to_io_is_io_although_it_includes_none(self):
        self.assert_one(self.with_files(kube__wire__w_cc='#include "kube/cluster.h"\n'),
                        "src/kube/wire/w.cc", "reaches I/O", "kube/cluster.h")

    def test_the_log_is_io_and_the_rest_of_base_is_not(self):
        self.assert_one(self.with_files(kube__wire__w_cc='#include "base/log.h"\n'),
                        "src/kube/wire/w.cc", "reaches I/O", "base/log.h")

    def test_a_test_of_a_pure_section_may_do_io(self):
        self.assertEqual(self.with_files(kube__wire__w_test_cc='#include "base/log.h"\n'), [])

    def test_a_section_that_uses_a_sibling_that_it_does_not_list_is_refused(self):
        files = {**PURE, "src/kube/client/CMakeLists.txt": "section(kube/client DEPS base net)\n"}
        self.assert_one(self.problems(layers, files), "src/kube/client/c.cc:2",
                        "section(kube/client) does not list kube/wire")

    def test_who_lists_a_module_may_include_its_sections(self):
        files = {"src/app/CMakeLists.txt": "module(app DEPS kube)\n",
                 "src/app/a.cc": '#include "kube/wire/w.h"\n'}
        self.assertEqual(self.problems(layers, {**PURE, **files}), [])

    def test_a_section_without_a_module_above_it_is_refused(self):
        files = {"src/lost/wire/CMakeLists.txt": "section(lost/wire DEPS base)\n"}
        self.assert_one(self.problems(layers, {**PURE, **files}), "no module() above it")

    def test_a_header_that_says_pure_in_a_folder_that_is_not_is_refused(self):
        self.assert_one(self.with_files(kube__client__c_h="// Names of verbs. Pure.\n"),
                        "src/kube/client/c.h", "says that it is pure")
        self.assertEqual(self.with_files(kube__client__c_h="// Pure but for the sink.\n"), [])


class Clocks(Tree):
    def lines(self, text, name="src/net/x.cc"):
        return self.problems(clocks, {name: text})

    def test_every_way_to_tell_the_time_is_found(self):
        for text in ("auto t = std::chrono::steady_clock::now();",
                     "using namespace std::chrono; auto t = system_clock::now();",
                     "std::this_thread::sleep_for(pause);", "::usleep(1);", "sleep(1);",
                     "time_t t = time(nullptr);", "std::time(0);", "gettimeofday(&tv, nullptr);",
                     "clock_gettime(CLOCK_REALTIME, &ts);", "std::random_device seed;",
                     "int dice = rand();"):
            self.assert_one(self.lines(text), "src/net/x.cc:1")

    def test_our_own_clock_comments_and_strings_are_not(self):
        self.assertEqual(self.lines(
            "// not std::chrono::steady_clock::now()\n/* sleep(1)\n usleep(1) */\n"
            'auto s = "time(nullptr)"; auto r = R"(rand())";\n'
            "clock.sleep(pause, stop); clock->sleep(pause, stop); system_clock().wall();\n"
            "auto n = 1'000'000; auto m = rfc3339_time(x); Random random(7);\n"), [])

    def test_base_may(self):
        self.assertEqual(self.lines("std::chrono::steady_clock::now();", "src/base/x.cc"), [])


class Sizes(Tree):
    def test_the_limit_is_800_lines(self):
        self.assertEqual(self.problems(sizes, {"src/a.cc": "x\n" * 799}), [])
        self.assert_one(self.problems(sizes, {"src/a.cc": "x\n" * 800}), "800 lines")
        self.assertEqual(self.problems(sizes, {"deploy/crd.yaml": "x\n" * 9000}), [])


class Words(Tree):
    def test_each_kind_is_found(self):
        for text in ("// TODO later", "TEST(A, DISABLED_B)", "GOPROXY=https://proxy.golang.org",
                     "see /root/x", "cd /work/main"):
            self.assert_one(self.problems(words, {"docs/a.md": text + "\n"}), "docs/a.md:1")

    def test_innocent_words_pass(self):
        self.assertEqual(self.problems(words, {
            "docs/a.md": "todo lists, a/work/tree, $HOME/root/x, chroot/root/\n"}), [])


class RetiredWords(Tree):
    """In folders that are held to the lists; `tools` is one of them, `src` may become one."""

    def of(self, name, text, folders=("tools",)):
        with mock.patch.object(words, "CLEAN_FOLDERS", list(folders)):
            return self.problems(words, {name: text})

    def test_each_phrase_is_found_in_python_shell_and_cmake(self):
        for phrase in words.RETIRED_PHRASES:
            for name, text in {"tools/a.py": f"# it {phrase} x\n",
                               "tools/b": f"#!/bin/sh\necho 'it {phrase} x'\n",
                               "tools/CMakeLists.txt": f"# it {phrase} x\n"}.items():
                self.assert_one(self.of(name, text), f"{name}:", "a retired phrase", phrase)

    def test_a_phrase_at_the_start_of_a_sentence_or_over_two_lines_is_found(self):
        self.assert_one(self.of("tools/a.py", "# Nobody knows.\n"), "tools/a.py:1", "'Nobody'")
        self.assert_one(self.of("tools/a.py", "# it can\n# not\n"), "tools/a.py:1", "'can not'")
        self.assert_one(self.of("tools/a.cc", "// it can\n//   not\n"), "'can not'")
        self.assert_one(self.of("tools/a.cc", 'auto s = "it can "\n  "not";\n'), "'can not'")

    def test_of_cxx_only_comments_and_literals_count(self):
        for text in ("// whoever\n", "int a;  /* x\n whoever */\n", 'auto s = "whoever";\n',
                     'auto s = R"(whoever)";\n'):
            self.assert_one(self.of("tools/a.cc", text), "'whoever'")
        self.assertEqual(self.of("tools/a.cc", "int whoever = 1'000; char c = 'x';\n"), [])

    def test_a_retired_word_in_the_name_of_a_file_or_folder_is_found(self):
        self.assert_one(self.of("tools/verdict.cc", ""), "tools/verdict.cc: its name", "'verdict'")
        self.assert_one(self.of("tools/crew/a.h", ""), "'crew'")
        self.assert_one(self.of("tools/job_news_test.cc", ""), "'news'")
        self.assertEqual(self.of("tools/handler.cc", ""), [])

    def test_a_retired_word_in_the_name_of_a_type_is_found(self):
        for text in ("struct Hand {};\n", "class PlanHand final {};\n", "enum class Goal { kA };\n",
                     "using Roster = int;\n", "template <typename T> concept Crew = true;\n",
                     'class CAPABILITY("mutex") Verdict {};\n'):
            self.assert_one(self.of("tools/a.h", text), "tools/a.h:1", "has a retired word")
        self.assert_one(self.of("tools/a.py", "class Verdict:\n    pass\n"), "'verdict'")

    def test_other_names_and_folders_are_free(self):
        fine = "// class Hand\nstruct Handler {};\nint hand();\n"
        self.assertEqual(self.of("tools/a.h", fine), [])
        self.assertEqual(self.of("src/hand.h", "// nobody\nstruct Hand {};\n"), [])
        self.assertEqual(self.of("tools/a.py", "USER = 'nobody:x:65534:65534:nobody:/'\n"), [])
        self.assertEqual(len(self.of("src/hand.h", "// nobody\nstruct Hand {};\n", ["src"])), 3)

    def test_the_folders_are_those_of_this_repository(self):
        for folder in words.CLEAN_FOLDERS:
            self.assertTrue((TOP / folder).exists(), folder)


class WideComments(Tree):
    def test_a_comment_has_100_columns_at_most(self):
        self.assertEqual(self.problems(sizes, {"src/a.h": "// " + "x" * 97 + "\n"}), [])
        self.assert_one(self.problems(sizes, {"src/a.h": "\n  // " + "x" * 96 + "\n"}),
                        "src/a.h:2", "101 columns")


class Links(Tree):
    FILES: ClassVar = {"src/net/b.h": "", "docs/design/0001-why.md": "# Why\n", "deploy/a.yaml": "",
             "docs/en/a.md": "# A page\n\n## Two words, `code`\n\n## 第一个 作业\n"}

    def of(self, text, name="docs/en/b.md"):
        return self.problems(links, {**self.FILES, name: text})

    def test_what_is_there_is_good(self):
        self.assertEqual(self.of(
            "[a](a.md) [b](a.md#two-words-code) [c](#own) [d](../../deploy) [e](a.md#第一个-作业)\n"
            "# Own\n`deploy/a.yaml` `docs/design/0001` `src/*/b.h` `net/b`\n"
            "`kubectl -f deploy/a.yaml`\n"
            "`build/bin/x` `host:port/x` `and/or` [w](https://example.com/x#y)\n"
            "    kubectl apply -k deploy\n"), [])

    def test_a_file_that_is_not_there_is_found(self):
        self.assert_one(self.of("one\n[a](c.md)\n"), "docs/en/b.md:2", "docs/en/c.md")

    def test_a_heading_that_is_not_there_is_found(self):
        self.assert_one(self.of("[a](a.md#three)\n"), "a.md#three", "no such heading")
        self.assert_one(self.of("[a](#b)\n"), "no such heading")
        self.assert_one(self.of("[a](#b)\n\n    # b\n"), "no such heading")

    def test_a_path_in_code_that_is_not_there_is_found(self):
        for text in ("`deploy/b.yaml`", "`kubectl apply -f deploy/b.yaml`", "`src/*/c.h`",
                     "`net/c.h`", "    kubectl apply -k deploy/b", "```\ncat src/x\n```"):
            self.assert_one(self.of(text + "\n"), "is not in this repository")

    def test_a_source_file_may_be_named_by_the_end_of_its_path(self):
        for text in ("`b.h`, `x.cc`, `gtest/gtest.h`", "    b.h -> net/b.h", "`<stdio.h>`"):
            self.assertEqual(self.of(text + "\n"), [])
        for text in ("`crew.h`", "    net/b.h -> c.cc", "`src/b.h`"):
            self.assert_one(self.of(text + "\n"), "is not in this repository")

    def test_a_ratio_is_no_path(self):
        self.assertEqual(self.of("`net/juicefs`\n", "bench/b.md"), [])


class Reasons(Tree):
    HEADER = """namespace a {
namespace condition_type {
inline constexpr const char* kReady = "Ready";
}  // namespace condition_type
namespace reason {
inline constexpr const char* kNoRoom = "NoRoom";
}  // namespace reason
namespace other {
inline constexpr const char* kName = "Elsewhere";
}  // namespace other
}  // namespace a
"""

    def of(self, english, chinese, header=HEADER):
        return self.problems(reasons, {
            "src/controllers/set/reasons.h": header,
            "docs/en/troubleshooting.md": english, "docs/zh_CN/troubleshooting.md": chinese})

    def test_rows_in_both_languages_are_good(self):
        self.assertEqual(self.of("| `Ready`: `NoRoom` |", "| 条件 `Ready` 为 `NoRoom` |"), [])

    def test_a_reason_without_a_row_is_found(self):
        self.assert_one(self.of("`Ready` `NoRoom`", "`Ready` NoRoom"),
                        "docs/zh_CN/troubleshooting.md", "`NoRoom`", "set/reasons.h")
        self.assert_one(self.of("`Ready` `NoRooms`", "`Ready` `NoRoom`"), "docs/en")

    def test_a_block_of_code_is_not_taken_for_the_words_around_it(self):
        page = "```shell\nkubectl get pdj\n```\n"
        self.assertEqual(reasons.missing(page + "| `NoRoom` | no room |", {"NoRoom"}), [])
        self.assertEqual(reasons.missing(page + "NoRoom", {"NoRoom"}), ["NoRoom"])

    def of_phases(self, text, name="src/cli/a.cc"):
        phases = ('namespace a {\nnamespace pod_phase {\n'
                  'inline constexpr const char* kFailed = "Failed";\n'
                  'inline constexpr const char* kUnknown = "Unknown";\n'
                  '}  // namespace pod_phase\n}\n')
        return self.problems(reasons, {
            "src/controllers/set/reasons.h": self.HEADER, "src/api/phases.h": phases, name: text,
            **dict.fromkeys(reasons.PAGES, "`Ready` `NoRoom`")})

    def test_a_phase_as_a_literal_is_found(self):
        self.assert_one(self.of_phases('\nif (pod.phase == "Failed") return;\n'),
                        "src/cli/a.cc:2:", '"Failed"')
        self.assert_one(self.of_phases('return good ? "Good" : "Failed";\n', "src/cli/a.h"),
                        "src/cli/a.h:1:")

    def test_the_same_word_with_another_meaning_is_not(self):
        for line in ('constexpr const char* kFailed = "Failed";', 'find_condition(list, "Failed")',
                     '// "Failed": a phase', '{.name = "Failed", .cell = x}', 'if (all["Failed"])',
                     '{{"type", "Failed"}}', 'use("has Failed")', 'status == "Unknown"'):
            self.assertEqual(self.of_phases(line + "\n"), [], line)
        self.assertEqual(self.of_phases('phase == "Failed"', "src/cli/a_test.cc"), [])
        self.assertEqual(self.of_phases('phase == "Failed"', "src/cli/fake/a.cc"), [])

    def test_a_tree_without_reasons_is_an_error(self):
        self.assert_one(self.of("", "", "struct A {};\n"), "no header declares a reason")


class TestPlaces(Tree):
    def of(self, readme, *names):
        return self.problems(test_places, {"src/kube/README.md": readme,
                                           **{f"src/{name}": "" for name in names}})

    def test_a_test_beside_its_file_needs_no_word(self):
        self.assertEqual(self.of("# kube\n", "kube/a.cc", "kube/a_test.cc", "kube/b.h",
                                 "kube/b_test.cc"), [])

    def test_a_file_without_a_test_is_named_where_the_readme_is_about_tests(self):
        self.assertEqual(self.of("# kube\n\n`a_test` also tests `wire`.\n", "kube/wire.cc"), [])
        self.assertEqual(self.of("# kube\n\nTests:\n\n| `wire` | a |\n", "kube/x/wire.cc"), [])
        self.assert_one(self.of("# kube\n\n`wire` is the protocol.\n\n`a_test` is slow.\n",
                                "kube/wire.cc"), "src/kube/wire.cc", "in which test")
        self.assert_one(self.of("`wire` is tested by `a_test`", "net/wire.cc"), "src/net/wire.cc")

    def test_a_test_of_no_file_is_named(self):
        self.assertEqual(self.of("`crash_test` kills.\n", "kube/testing/crash_test.cc"), [])
        self.assert_one(self.of("Tests: `x_test.cc`.\n", "kube/testing/crash_test.cc"),
                        "crash_test.cc: tests no crash.cc")

    def test_code_of_tests_and_programs_needs_none(self):
        self.assertEqual(self.of("", "kube/fake/a.cc", "kube/a_fixture.cc", "kube/a_fuzz.cc",
                                 "programs/main/a.cc"), [])


class PythonCode(Tree):
    def test_an_edit_of_sys_path_is_found(self):
        for text in ("import sys\nsys.path.insert(0, 'x')\n", "\nsys.path[:0] = ['x']\n",
                     "\nsys.path += ['x']\n"):
            self.assert_one(self.problems(python_code, {"tools/a.py": text}), "tools/a.py:2",
                            "edits sys.path")
        self.assertEqual(self.problems(python_code, {"tools/a.py": "print(sys.path[0])\n"}), [])

    def test_a_check_that_is_switched_off_is_found(self):
        for word in ("noqa", "type: ignore", "pylint: disable=x"):
            self.assert_one(self.problems(python_code, {"tools/a.py": f"x = 1  # {word}\n"}),
                            "switches a check off")

    def test_programs_without_an_ending_are_python_and_shell_too(self):
        files = {"a": "#!/usr/bin/python3 -BE\n", "b": "#!/usr/bin/env bash\n", "c.py": "",
                 "d.sh": "", "e": "#!/bin/sh\n", "f": "text\n", "g.txt": "#!/bin/sh\n"}
        with self.checkout(files) as top:
            self.assertEqual([str(each) for each in python_code.python_files(top)], ["a", "c.py"])
            self.assertEqual([str(each) for each in shell.shell_files(top)], ["b", "d.sh", "e"])


class Shell(Tree):
    @unittest.skipIf(not shutil.which("shellcheck"), "tools/bootstrap installs shellcheck")
    def test_a_finding_of_shellcheck_is_a_problem(self):
        self.assertEqual(self.problems(shell, {"a": '#!/bin/sh\nrm "$1"\n'}), [])
        self.assert_one(self.problems(shell, {"a": "#!/bin/sh\nrm $1\n"}), "a:2:", "SC2086")


class Tidy(Tree):
    FILES: ClassVar = {".clang-tidy": "Checks: x\n", "tools/tidy.base": "# a comment\nnone\n",
                       "src/a/a.h": "#pragma once\n", "src/a/a.cc": '#include "a/a.h"\n',
                       "src/a/b.cc": '#include "a/c.h"\n', "src/a/c.h": '#include "a/a.h"\n'}

    def commit(self, top):
        git = ["git", "-C", top, "-c", "user.name=x", "-c", "user.email=x@example.com"]
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-qm", "x"], check=True)
        return subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True,
                              text=True).stdout.strip()

    def check(self, top, findings=()):
        """(exit code, files that clang-tidy was run on, what was printed)"""
        checked, out = [], io.StringIO()

        def run_tidy(_top, _build, file, _options=()):
            name = str(file.relative_to(top))
            checked.append(name)
            found = name in findings
            return not found, f"{file}:1:1: warning: bad [x]\n  code\n" if found else ""

        with mock.patch.object(clang_tidy, "run_tidy", run_tidy), \
                mock.patch.object(clang_tidy, "configure"), \
                contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code = clang_tidy.check_changes(Path(top))
        return code, sorted(checked), out.getvalue()

    def test_without_a_base_nothing_is_checked(self):
        with self.checkout(self.FILES) as top:
            code, checked, text = self.check(top)
            self.assertEqual((code, checked), (0, []))
            self.assertIn("names no commit", text)

    def test_a_base_that_the_clone_lacks_is_one_sentence(self):
        with self.checkout({**self.FILES, "tools/tidy.base": "0123456789abcdef\n"}) as top:
            code, checked, text = self.check(top)
            self.assertEqual((code, checked), (0, []))
            self.assertIn("is it shallow?", text)

    def test_files_that_changed_since_the_base_are_checked_once(self):
        with self.checkout(self.FILES) as top:
            (Path(top) / "tools/tidy.base").write_text(self.commit(top) + "\n")
            self.assertEqual(self.check(top), (0, [], ""))
            (Path(top) / "src/a/b.cc").write_text('#include "a/c.h"\nint b;\n')
            (Path(top) / "src/a/new.cc").write_text("int n;\n")
            self.assertEqual(self.check(top)[:2], (0, ["src/a/b.cc", "src/a/new.cc"]))
            self.assertEqual(self.check(top)[:2], (0, []))
            (Path(top) / "src/a/a.h").write_text("#pragma once\nint a();\n")  # b.cc includes it
            self.assertEqual(self.check(top)[:2], (0, ["src/a/a.h", "src/a/b.cc"]))

    def test_a_finding_fails_until_it_is_mended(self):
        with self.checkout(self.FILES) as top:
            (Path(top) / "tools/tidy.base").write_text(self.commit(top) + "\n")
            (Path(top) / "src/a/a.cc").write_text("int a;\n")
            for _ in range(2):
                code, checked, text = self.check(top, ["src/a/a.cc"])
                self.assertEqual((code, checked), (1, ["src/a/a.cc"]))
                self.assertIn("src/a/a.cc:1:1: warning: bad [x]", text)
            self.assertEqual(self.check(top)[0], 0)

    def test_a_finding_in_a_header_of_many_units_is_reported_once(self):
        one = "/t/src/a.h:1:1: warning: bad [x]\n  code\n/t/src/a.h:2:1: note: here\n"
        two = "/t/src/b.cc:9:1: error: worse [y]\n"
        found = clang_tidy.unique_diagnostics(["noise\n" + one, one + two], Path("/t"))
        self.assertEqual(found, ["src/a.h:1:1: warning: bad [x]\n  code\nsrc/a.h:2:1: note: here",
                                 "src/b.cc:9:1: error: worse [y]"])


CRD = """# Generated
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: example.org
  names:
    kind: Job
    shortNames:
    - j
  scope: Namespaced
  versions:
  - additionalPrinterColumns:
    - jsonPath: .status.phase
      name: Status
      type: string
    name: v1
    schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
              limit:
                description: "Prose: of any kind."
                format: int32
                type: integer
              parts:
                items: {properties: {size: {type: string},
                  kind: {enum: [A, ""], type: string}}, required: [size], type: object}
                type: array
              template:
                properties: {spec: {properties: {containers: {type: array}}, type: object}}
                type: object
            type: object
        type: object
    served: true
    storage: true
    subresources:
      status: {}
"""
HELP = """Runs it.
Usage: tool run [OPTIONS] what...

Positionals:
  what TEXT ... REQUIRED      KIND/NAME

Options:
  -h,--help                   Print this help message and exit
  --engine TEXT=samplefs      one or the other
  --health-probe-bind-address TEXT=:8081
                              where it is served
  --seconds-between-two INT=3 with one blank before

Subcommands:
  up                          Starts it.

Examples:
  tool run --never
"""


class Surface(Tree):
    FILES: ClassVar = {
        "src/base/CMakeLists.txt": "module(base\n  SOURCES a.cc\n  TESTS a_test.cc)\n",
        "src/base/a.h": '#pragma once\ninline constexpr const char* kLost = "NodeLost";\n',
        "src/base/a.cc": '#include "base/a.h"\n// "NotThis"\nauto a = say("PADDLE_" "RANK", '
                         '"Prose is free.", "/v1/jobs", "batch.paddlepaddle.org/epoch", '
                         '"-runtime");\n',
        "src/base/a_test.cc": 'auto b = "OnlyInATest";\n',
        "src/unused/CMakeLists.txt": "module(unused\n  SOURCES u.cc)\n",
        "src/unused/u.cc": 'auto u = "InNoProgram";\n',
        "src/tool/CMakeLists.txt": "program(tool SOURCES main.cc\n  DEPS base)\n",
        "src/tool/main.cc": 'app.add_option("-f,--filename", flags.files, "files");\n'
                            'm.counter("paddle_x_total", "Helps; (much", {{"op", name}});\n',
        "deploy/v1/crd.yaml": CRD,
    }

    def after(self, changes):
        """The problems of a tree whose golden files were written before the changes."""
        with tempfile.TemporaryDirectory() as top:
            subprocess.run(["git", "init", "-q", top], check=True)
            check = surface
            golden = {}
            for files in (self.FILES, {**self.FILES, **changes}):
                for name, text in {**files, **golden}.items():
                    path = Path(top) / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text)
                if not golden:
                    golden = {f"{check.GOLDEN}/{name}": "\n".join(entries) + "\n" * bool(entries)
                              for name, entries in check.of_tree(top).items()}
            self.golden = golden
            return list(check.problems(top))

    def test_the_golden_files_hold_names_and_types(self):
        self.assertEqual(self.after({}), [])
        held = {Path(name).stem: set(text.splitlines()) for name, text in self.golden.items()}
        self.assertEqual(held["words"], {"NodeLost"})
        self.assertEqual(held["environment"], {"PADDLE_RANK"})
        self.assertEqual(held["labels"], {"batch.paddlepaddle.org/epoch"})
        self.assertEqual(held["names"], {"-runtime"})
        self.assertEqual(held["routes"], {"/v1/jobs"})
        self.assertEqual(held["options"], {"--filename"})
        self.assertEqual(held["metrics"], {"paddle_x_total{op}"})
        self.assertEqual(held["columns"],
                         {"example.org/v1 Job Status: string .status.phase (v1/crd.yaml)"})
        self.assertEqual({each.split(" ", 2)[2] for each in held["fields"] if " ." in each},
                         {".spec.limit: integer int32 (v1/crd.yaml)", ".spec: object (v1/crd.yaml)",
                          ".spec.parts: array (v1/crd.yaml)", ".spec.parts[]: object (v1/crd.yaml)",
                          ".spec.parts[].size: string required (v1/crd.yaml)",
                          ".spec.parts[].kind: string one of A| (v1/crd.yaml)",
                          ".spec.template: PodTemplateSpec (v1/crd.yaml)"})

    def test_a_reason_that_is_gone_is_found(self):
        self.assert_one(self.after({"src/base/a.h": "#pragma once\n"}), "words.txt",
                        "'NodeLost' is gone")

    def test_a_new_flag_is_found(self):
        text = self.FILES["src/tool/main.cc"] + 'app.add_flag("--dry-run", flags.dry, "no");\n'
        self.assert_one(self.after({"src/tool/main.cc": text}), "options.txt", "'--dry-run' is new")

    def test_a_renamed_field_is_found(self):
        gone, new = self.after({"deploy/v1/crd.yaml": CRD.replace("limit:", "limits:")})
        self.assertIn(".spec.limit: integer int32 (v1/crd.yaml)' is gone", gone)
        self.assertIn(".spec.limits: integer int32 (v1/crd.yaml)' is new", new)

    def test_another_label_of_a_metric_is_found(self):
        text = self.FILES["src/tool/main.cc"].replace('"op"', '"verb"')
        self.assertEqual(len(self.after({"src/tool/main.cc": text})), 2)

    def test_a_metric_named_by_a_constant_is_no_difference(self):
        text = self.FILES["src/tool/main.cc"].replace('"paddle_x_total"', "names::kTotal")
        constant = 'constexpr char kTotal[] = "paddle_x_total";\n'
        self.assertEqual(self.after({"src/base/a.h": self.FILES["src/base/a.h"] + constant,
                                     "src/tool/main.cc": text}), [])

    def test_a_literal_that_moved_is_no_difference(self):
        prose = self.FILES["src/base/a.cc"].replace('"Prose is free."', '"Or not at all."')
        moved = self.FILES["src/tool/main.cc"] + 'Reason reason{"Node"  // x\n "Lost"};\n'
        self.assertEqual(self.after({"src/base/a.h": "#pragma once\n", "src/base/a.cc": prose,
                                     "src/tool/main.cc": moved}), [])

    def test_help_is_read_by_columns(self):
        self.assertEqual(surface.verbs_of(HELP), ["up"])
        self.assertEqual(list(surface.read_help("tool run", HELP)), [
            "tool run", "tool run what: TEXT ... REQUIRED", "tool run -h,--help: flag",
            "tool run --engine: TEXT=samplefs",
            "tool run --health-probe-bind-address: TEXT=:8081",
            "tool run --seconds-between-two: INT=3"])


class CodeOnly(unittest.TestCase):
    def test_literals_are_what_a_compiler_sees(self):
        text = ('#include "x.h"\nf("a" /* "no" */\n "b", 1\'000, \'"\', "c\\"d"); // "no"\n'
                'g(R"sh(one "two")sh" "3");')
        self.assertEqual(source_tree.literals(text), ["ab", 'c\\"d', 'one "two"3'])

    def test_comments_and_literals_are_the_rest(self):
        text = 'a /* x\n y */ b\n"s" c // d\n1\'000'
        kept = source_tree.comments_and_literals(text)
        self.assertEqual(kept.count("\n"), 3)
        self.assertEqual(kept.split(), ["/*", "x", "y", "*/", '"s"', "//", "d"])

    def test_lines_stay_where_they_are(self):
        text = 'a /* x\n y */ b\n"s\\"" c // d\n'
        self.assertEqual(source_tree.code_only(text).count("\n"), 3)
        self.assertEqual(source_tree.code_only(text).split(), ["a", "b", "c"])


if __name__ == "__main__":
    unittest.main()
