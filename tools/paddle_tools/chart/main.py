# SPDX-License-Identifier: Apache-2.0
"""Writes deploy/install.yaml and the Helm chart charts/paddle-operator from the files of deploy/.

    tools/chart            writes them
    tools/chart --check    fails when one differs, or when deploy/ has a file that is in no template

`tools/manifests` and `tools/crds`, which write deploy/, end with this.
"""
import re
from pathlib import Path

from paddle_tools.chart.readme import readme
from paddle_tools.chart.templates import TEMPLATES, missing_files, render
from paddle_tools.chart.values import schema_json, table, values_yaml
from paddle_tools.errors import ToolError
from paddle_tools.generated_files import Generator

CHART = "charts/paddle-operator"
# All that PaddleJobs, SampleSets and SampleJobs need, in one file.
BUNDLED = ("v1/crd.yaml", "v1/operator.yaml", "extensions/controllers.yaml")
BUNDLE_HEADER = f"# Made by tools/chart: {', '.join(BUNDLED)} in one file.\n"

CHART_YAML = """\
# SPDX-License-Identifier: Apache-2.0
# Made by tools/chart: change tools/paddle_tools/chart/main.py or the version in CMakeLists.txt.
apiVersion: v2
name: paddle-operator
description: Distributed PaddlePaddle training on Kubernetes, with samples cached beside the workers
type: application
version: {version}
appVersion: v{version}
kubeVersion: ">=1.21.0-0"
keywords: [paddlepaddle, training, cache, juicefs]
"""


def version(top: Path) -> str:
    found = re.search(r"project\([^)]*VERSION ([0-9.]+)", (top / "CMakeLists.txt").read_text())
    if not found:
        raise ToolError("CMakeLists.txt has no version")
    return found.group(1)


def bundle(deploy: Path) -> str:
    parts = [re.sub(r"\A(?:#.*\n)*(?:---\n)?", "", (deploy / name).read_text())
             for name in BUNDLED]
    return BUNDLE_HEADER + "---\n" + "---\n".join(parts)


def files(top: Path) -> dict[str, str]:
    """Everything that this tool writes: path beneath the repository -> text."""
    deploy = top / "deploy"
    if missing := missing_files(deploy):
        raise ToolError(f"deploy/{missing[0]} is in no template of the chart; add it to TEMPLATES "
                        "or OTHERS in tools/paddle_tools/chart/templates.py")
    values = table(deploy)
    found = {"deploy/install.yaml": bundle(deploy),
             f"{CHART}/Chart.yaml": CHART_YAML.format(version=version(top)),
             f"{CHART}/values.yaml": values_yaml(values),
             f"{CHART}/values.schema.json": schema_json(values),
             f"{CHART}/README.md": readme(values, version(top))}
    for each in TEMPLATES:
        found[f"{CHART}/templates/{each.name}"] = render(each, deploy, values)
    return found


GENERATOR = Generator("chart", __doc__ or "", "deploy/", files)


def main(argv: list[str]) -> int:
    return GENERATOR.main(argv)
