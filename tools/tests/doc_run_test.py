# SPDX-License-Identifier: Apache-2.0
"""Documents that are run: their steps, what counts as the same output, and a reader's work."""
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from paddle_tools.doc_run import output, pages
from paddle_tools.doc_run.page import Commands, File, PageError, differing_blocks, parse, resources
from paddle_tools.doc_run.reader import LOOKS, Reader, ReadingFailed, trailing_looks
from paddle_tools.doc_run.shell import Shell
from paddle_tools.paths import TOP

SETS = """\
NAME       TOTAL SIZE   CACHED SIZE   AVAIL SPACE   RUNTIME   PHASE   AGE
imagenet   58 MiB       200 B         12 GiB        1/1       Ready   76s
"""
PODS = """\
NAME                                         READY   STATUS    RESTARTS      AGE
imagenet-runtime-0                           1/1     Running   0             30s
paddle-controller-manager-776b84bfb4-qs67f   1/1     Running   2 (3m ago)    11h
"""


def fence(language: str, text: str) -> str:
    return f"```{language}\n{text}```\n"


class Steps(unittest.TestCase):
    def test_commands_have_the_output_that_follows_them(self) -> None:
        page = parse("Do\n\n" + fence("shell", "# first\nls \\\n  -l\nid   # who\n")
                     + "\nIt prints\n\n" + fence("text", "a\n"))
        self.assertEqual(page.steps, (Commands(3, ("ls   -l", "id   # who"), "a\n"),))

    def test_a_block_with_a_title_is_a_file_and_one_without_is_a_fragment(self) -> None:
        page = parse(fence('yaml title="a.yaml"', "a: 1\n") + fence("yaml", "b: 2\n"))
        self.assertEqual(page.steps, (File(1, "a.yaml", "a: 1\n"),))

    def test_a_block_in_a_list_loses_the_indentation_of_the_list(self) -> None:
        page = parse("1. Do\n    ```shell\n    ls\n    ```\n")
        self.assertEqual(page.steps, (Commands(2, ("ls",)),))

    def test_a_command_that_is_not_run_is_named_and_its_output_is_not_compared(self) -> None:
        page = parse("<!-- not run: needs Docker -->\n" + fence("shell", "docker run\n")
                     + fence("text", "a\n"))
        self.assertEqual(page.not_run, [(2, "docker run", "needs Docker")])
        self.assertEqual(page.uncompared, ((5, "needs Docker"),))

    def test_an_output_without_commands_before_it_is_refused(self) -> None:
        for before in ("", fence("shell", "ls\n") + fence("yaml", "a: 1\n"),
                       fence("shell", "ls\n") + "## Another section\n"):
            with self.assertRaisesRegex(PageError, "no commands stand before this output"):
                parse(before + fence("text", "a\n"))
        noted = parse("<!-- not compared: of another cluster -->\n" + fence("text", "a\n"))
        self.assertEqual(noted.uncompared, ((2, "of another cluster"),))

    def test_whole_resources_are_known_from_fragments_of_them(self) -> None:
        whole = "apiVersion: v1\nkind: Pod\n"
        other = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
        page = (fence("yaml", "spec:\n  a: 1\n") + fence('yaml title="a.yaml"', whole)
                + fence("yaml", other))
        self.assertEqual(resources(page), [(5, whole)])

    def test_what_cannot_be_pasted_is_refused(self) -> None:
        for text in ("$ ls\n", "cat <<EOF\na\nEOF\n"):
            with self.assertRaises(PageError):
                parse(fence("shell", text))
        with self.assertRaisesRegex(PageError, "has no end"):
            parse("```shell\nls\n")
        with self.assertRaisesRegex(PageError, "neither"):
            parse("<!-- not done: why -->\n" + fence("shell", "ls\n"))


class Languages(unittest.TestCase):
    def test_comments_may_differ_and_nothing_else(self) -> None:
        one = fence("shell", "ls   # all\n") + fence("text", "a # b\n")
        self.assertEqual(list(differing_blocks(one, one.replace("# all", "# 全部"))), [])
        for old, new in (("ls", "id"), ("a # b", "a # c"), ("```text", "```yaml")):
            self.assertTrue(list(differing_blocks(one, one.replace(old, new))), new)

    def test_a_block_without_a_twin_is_named(self) -> None:
        one = fence("shell", "ls\n")
        self.assertEqual(list(differing_blocks(one + one, one)),
                         ["2 blocks here and 1 there; the first without a twin is at line 4"])


class Output(unittest.TestCase):
    def same(self, shown: str, found: str) -> None:
        self.assertEqual(output.differences(shown, found), [])

    def other(self, shown: str, found: str) -> None:
        self.assertNotEqual(output.differences(shown, found), [], f"{shown!r} {found!r}")

    def test_ages_addresses_hashes_sizes_and_counts_may_differ(self) -> None:
        self.same(SETS, SETS.replace("58 MiB ", "1.3 MiB").replace("200 B  ", "1.3 MiB")
                  .replace("12 GiB  ", "1023 MiB").replace("76s", "3m4s"))
        self.same(PODS, PODS.replace("776b84bfb4-qs67f", "58bb8b57b7-gq4xh").replace("11h", "2s")
                  .replace("2 (3m ago)", "0         "))
        self.same("listening on 10.0.0.1:80 since 2026-11-16T04:51:53Z, 12 files",
                  "listening on 10.9.0.1:81 since 2026-11-17T04:51:54Z, 7 files")

    def test_every_other_word_counts(self) -> None:
        for old, new in (("Ready", "Bound"), ("1/1", "0/1"), ("imagenet", "images"),
                         ("PHASE", "STATE"), ("   PHASE", ""), ("58 MiB", "0 B   "),
                         ("Ready   76s", "Ready      ")):
            self.other(SETS, SETS.replace(old, new))
        for old, new in (("Running   0", "Pending   0"), ("runtime-0", "runtime-1"),
                         ("paddle-controller", "paddle-samplejob")):
            self.other(PODS, PODS.replace(old, new))

    def test_rows_are_neither_missing_nor_too_many(self) -> None:
        shorter = "".join(PODS.splitlines(keepends=True)[:-1])
        self.assertIn("is missing", output.differences(PODS, shorter)[0])
        self.assertIn("is not shown", output.differences(shorter, PODS)[0])

    def test_an_empty_cell_stays_in_its_column(self) -> None:
        header = "NAME        STATUS    MODE   READY   AGE\n"
        jobs = f"{header}elsewhere                             25s\n"
        self.same(jobs, jobs.replace("25s", "1s "))
        self.other(jobs, f"{header}elsewhere   Pending          25s\n")

    def test_dots_stand_for_text_of_a_line_and_for_lines(self) -> None:
        self.same("...\nup after 16.0 s\n", "a\nb\nup after 3.2 s\n")
        self.same("start ... end", "start x y end")
        self.other("...\nup\n", "a\nb\n")
        self.other("start ... end", "start x y")

    def test_words_with_digits_that_are_no_count_are_compared(self) -> None:
        self.other("node1 v1.34.4", "node2 v1.34.4")
        self.other("node1 v1.34.4", "node1 v1.33.0")


class ChangedWords(unittest.TestCase):
    def test_each_word_that_is_changed_is_noticed(self) -> None:
        words = []
        for shown in (SETS, PODS):
            for word, changed in output.changed_words(shown):
                words.append(word)
                self.assertNotEqual(output.differences(changed, shown), [], word)
        for each in ("NAME", "imagenet", "Ready", "controller", "Running"):
            self.assertIn(each, words)
        self.assertNotIn("MiB", words)

    def test_each_word_of_each_output_of_the_pages_counts(self) -> None:
        for name in (*pages.CLUSTER, *pages.LOCAL):
            shown = [step.shown for step in pages.load(TOP, name).steps
                     if isinstance(step, Commands) and step.shown]
            self.assertTrue(shown, name)
            for each in shown:
                self.assertEqual(output.differences(each, each.replace("...", "any")), [], name)
                for word, changed in output.changed_words(each):
                    self.assertNotEqual(output.differences(changed, each.replace("...", "any")),
                                        [], f"{name}: {word}")


class OfPages(unittest.TestCase):
    def test_a_command_beyond_the_limit_that_is_not_run_is_refused(self) -> None:
        run = fence("shell", "ls\n") + fence("text", "a\n")
        left = "<!-- not run: why -->\n" + fence("shell", "docker run\n")
        self.assertEqual(self.problems(run + left * pages.NOT_RUN_LIMIT), [])
        (found,) = self.problems(run + left * (pages.NOT_RUN_LIMIT + 1))
        self.assertIn("commands are not run", found)

    def test_a_page_without_commands_or_with_another_file_is_refused(self) -> None:
        self.assertIn("has no command", self.problems("# Empty\n")[0])
        shown = fence("shell", "ls\n") + fence('yaml title="deploy/a.yaml"', "a: 2\n")
        self.assertIn("of the repository is another", self.problems(shown)[0])
        self.assertEqual(self.problems(shown.replace("a: 2", "a: 1   # one")), [])

    def test_a_metric_that_does_not_exist_is_refused(self) -> None:
        page = fence("shell", "ls\n")
        self.assertEqual(self.problems(page, "`paddle_leader < paddle_seconds_bucket`"), [])
        self.assertEqual(self.problems(page, "`paddle_leaders < 1`"),
                         [f"docs/{each}/monitoring.md: paddle_leaders is not in docs/METRICS.md"
                          for each in ("en", "zh_CN")])

    def problems(self, local: str, monitoring: str = "") -> list[str]:
        """Of a tree with these pages on one machine and on monitoring."""
        with tempfile.TemporaryDirectory() as folder:
            top = Path(folder)
            for language in (pages.ENGLISH, pages.CHINESE):
                (top / language).mkdir(parents=True)
                for name in pages.CLUSTER:
                    (top / language / name).write_text(fence("shell", "ls\n"))
                (top / language / pages.LOCAL[0]).write_text(local)
                (top / language / pages.MONITORING).write_text(monitoring)
            (top / "docs/METRICS.md").write_text("| `paddle_leader` | `paddle_seconds` |")
            (top / "deploy").mkdir()
            (top / "deploy/a.yaml").write_text("# An example.\na: 1\n")
            return list(pages.problems(top))


class Answers:
    """A shell that gives the next of its answers to each command."""

    def __init__(self, *answers: tuple[int, str]) -> None:
        self._answers, self.commands = list(answers), list[str]()

    def run(self, command: str) -> tuple[int, str]:
        self.commands.append(command)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


def read(text: str, *answers: tuple[int, str], patience: float = 5) -> Answers:
    shell = Answers(*answers)
    with tempfile.TemporaryDirectory() as folder:
        Reader(shell, Path(folder), Path(folder), log=lambda _: None, patience=patience).read(
            "page.md", parse(text))
    return shell


class Reading(unittest.TestCase):
    def test_a_look_is_repeated_until_it_is_as_shown(self) -> None:
        shell = read(fence("shell", "kubectl apply -f a\nkubectl get pods\n")
                     + fence("text", "a created\n" + PODS),
                     (0, "a created\n"), (1, "none"), (0, "none\n"), (0, PODS))
        self.assertEqual(shell.commands, ["kubectl apply -f a"] + ["kubectl get pods"] * 3)

    def test_another_output_and_a_failed_command_end_the_reading(self) -> None:
        page = fence("shell", "make\n") + fence("text", "done\n")
        with self.assertRaisesRegex(ReadingFailed, "page.md:1: 'done' is shown"):
            read(page, (0, "failed\n"))
        with self.assertRaisesRegex(ReadingFailed, "ended with exit code 2"):
            read(page, (2, "done\n"))
        with self.assertRaisesRegex(ReadingFailed, "is shown"):
            read(fence("shell", "kubectl get pods\n") + fence("text", PODS), (0, "none\n"),
                 patience=0)

    def test_a_comparison_that_accepts_another_word_ends_the_reading(self) -> None:
        with mock.patch.object(output, "differences", return_value=[]), \
                self.assertRaisesRegex(ReadingFailed, "accepts another word"):
            read(fence("shell", "make\n") + fence("text", "done\n"), (0, "done\n"))

    def test_what_looks_ends_by_itself_and_changes_nothing(self) -> None:
        for each in ("kubectl get pods", "kubectl -n paddle-system get sampleset imagenet",
                     "sudo paddlectl local get pods", "kubectl -n a exec b -- ls /c"):
            self.assertTrue(LOOKS.match(each), each)
        for each in ("kubectl get pods -w", "kubectl apply -f a", "kubectl exec a -- rm b",
                     "sudo paddlectl local logs -f a", "kubectl -n a delete pods b"):
            self.assertFalse(LOOKS.match(each), each)
        self.assertEqual(trailing_looks(["kubectl get a", "make", "kubectl get b"]), 1)

    def test_files_are_written_shown_ones_compared_and_all_removed(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            top = Path(folder)
            (top / "deploy").mkdir()
            (top / "deploy/a.yaml").write_text("a: 1 # one\n")
            reader = Reader(Answers((0, "")), top, top, log=lambda _: None)
            reader.read("p", parse(fence('yaml title="b.yaml"', "b: 1\n")
                                   + fence('yaml title="deploy/a.yaml"', "a: 1\n")))
            self.assertEqual((top / "b.yaml").read_text(), "b: 1\n")
            with self.assertRaisesRegex(ReadingFailed, "is another"):
                reader.read("p", parse(fence('yaml title="deploy/a.yaml"', "a: 2\n")))
            reader.remove_files()
            self.assertFalse((top / "b.yaml").exists())
            self.assertTrue((top / "deploy/a.yaml").exists())


class AShell(unittest.TestCase):
    def test_variables_and_the_directory_stay(self) -> None:
        with tempfile.TemporaryDirectory() as folder, Shell(
                Path(folder), {"PATH": "/usr/bin:/bin", "HOME": "/h h"}) as shell:
            self.assertEqual(shell.run("export A='b c'; mkdir 'd e'; cd 'd e'"), (0, ""))
            self.assertEqual(shell.run('echo "$A" ~; basename "$PWD"'), (0, "b c /h h\nd e\n"))

    def test_both_outputs_are_seen_and_a_failure_in_a_pipe_counts(self) -> None:
        with Shell(Path("/"), {"PATH": "/usr/bin:/bin"}) as shell:
            self.assertEqual(shell.run("echo a; echo b >&2"), (0, "a\nb\n"))
            self.assertEqual(shell.run("(exit 3) | cat"), (3, ""))
            self.assertEqual(shell.run("sleep 100", limit=0.2)[0], 124)


if __name__ == "__main__":
    unittest.main()
