# SPDX-License-Identifier: Apache-2.0
"""Builds the documentation site from docs/ and the documents that it links to.

    tools/docs build           both languages, with search, in build/docs/site; a broken link, or a
                               page that is in no menu, fails it
    tools/docs serve [PORT]    builds, then shows it at http://127.0.0.1:8000 until Ctrl-C

docs/site has the menus and settings. MkDocs Material is a pinned component (tools/components) and
is installed on first use; afterwards no network is needed, and the site itself loads nothing from
other servers.
"""
import functools
import http.server
import os
import shutil
import subprocess
import sys
from pathlib import Path

from paddle_tools import components
from paddle_tools.checks import source_tree
from paddle_tools.docs_site.pages import LANGUAGES, Pages, place
from paddle_tools.errors import ToolError
from paddle_tools.paths import TOP

OUTPUT = TOP / "build" / "docs"
SETTINGS = TOP / "docs" / "site"


def stage(language: str, source: Path) -> int:
    """Writes the pages of a language as MkDocs reads them; how many there are."""
    pages = Pages(TOP, source_tree.list_files(TOP), language)
    pages.collect()
    for path, text in pages.staged.items():
        target = source / place(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            shutil.copyfile(TOP / path, target)
        else:
            target.write_text(text)
    return sum(text is not None for text in pages.staged.values())


def build() -> None:
    components.install(["mkdocs"])
    site = components.program("mkdocs", components.find_entry("mkdocs"))
    shutil.rmtree(OUTPUT, ignore_errors=True)
    environment = {**os.environ, "PYTHONPATH": str(site), "NO_MKDOCS_2_WARNING": "1"}
    for language in LANGUAGES:
        count = stage(language, OUTPUT / "source" / language)
        command = [sys.executable, "-B", "-m", "mkdocs", "build", "--strict",
                   "--config-file", str(SETTINGS / f"{language}.yml")]
        if subprocess.run(command, env=environment, cwd=TOP, check=False).returncode != 0:
            raise ToolError(f"the site in {language} was not built: the reason is above")
        print(f"docs: {count} pages in {language}", flush=True)
    shutil.copyfile(SETTINGS / "index.html", OUTPUT / "site" / "index.html")
    print(f"docs: the site is in {(OUTPUT / 'site').relative_to(TOP)}", flush=True)


def serve(port: int) -> None:
    handler = functools.partial(http.server.SimpleHTTPRequestHandler,
                                directory=str(OUTPUT / "site"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        print(f"docs: http://127.0.0.1:{server.server_address[1]}/ (Ctrl-C ends it)", flush=True)
        server.serve_forever()


def main(argv: list[str]) -> int:
    try:
        if argv == ["build"]:
            build()
        elif argv[:1] == ["serve"] and (len(argv) == 1 or (len(argv) == 2 and argv[1].isdigit())):
            build()
            serve(int(argv[1]) if len(argv) == 2 else 8000)
        else:
            print(__doc__, file=sys.stdout if argv == ["--help"] else sys.stderr)
            return 0 if argv == ["--help"] else 2
    except (ToolError, OSError) as failure:
        print(f"docs: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0
