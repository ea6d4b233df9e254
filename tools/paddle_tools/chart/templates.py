# SPDX-License-Identifier: Apache-2.0
"""The chart's templates: the objects of deploy/ with values in the places that users change.

Rendered with the defaults they are the objects of deploy/ again; tools/tests/chart_test.py
compares them. An image that no value names, or a file that is in no template, is an error.
"""
import re
from dataclasses import dataclass
from pathlib import Path

from paddle_tools.chart import manifests
from paddle_tools.chart.manifests import Manifest
from paddle_tools.chart.values import Value
from paddle_tools.errors import ToolError


@dataclass(frozen=True)
class Template:
    """A file of the chart: its source beneath deploy/, and the value that switches it on."""
    name: str
    source: str
    switch: str = ""


TEMPLATES = (
    Template("crds.yaml", "v1/crd.yaml", "crds.enabled"),
    Template("operator.yaml", "v1/operator.yaml"),
    Template("extensions.yaml", "extensions/controllers.yaml", "extensions.enabled"),
    Template("policies.yaml", "v1/policies.yaml", "policies.enabled"),
    Template("warnings.yaml", "v1/warnings.yaml", "warnings.enabled"),
    Template("etcd.yaml", "elastic/etcd.yaml", "elastic.etcd.enabled"),
    Template("juicefs.yaml", "csi/juicefs.yaml", "juicefs.enabled"),
)
# Beneath deploy/ and not installed by the chart: what users apply afterwards, what older servers
# get instead, and what is made of the same files.
OTHERS = ("examples/*", "heter/*", "elastic/resnet.yaml", "v1beta1/*", "images/*", "install.yaml")

HEADER = "{{/* Made by tools/chart from deploy/%s: change config/ or src/api. */ -}}\n"
CONTROLLERS = "{{ .Values.controllernamespace }}"
JOBS = "{{ .Values.jobnamespace | default .Values.controllernamespace | quote }}"
KEEP = """\
  {{- if .Values.keepOnUninstall }}
  annotations:
    helm.sh/resource-policy: keep
  {{- end }}
"""
# Managers that have a namespace to themselves need nothing that the strictest profile forbids.
RESTRICTED = """\
    {{- if and .Values.jobnamespace (ne .Values.jobnamespace .Values.controllernamespace) }}
    pod-security.kubernetes.io/enforce: restricted
    {{- end }}
"""
POD_FIELDS = """\
      {{- with .Values.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      {{- with .Values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
"""
# Arguments of the manager of PaddleJobs alone.
CHOICES = """\
        {{- if .Values.volcano.enabled }}
        - --scheduling=volcano
        {{- end }}
        {{- with include "paddle-operator.etcd" . }}
        - --etcd-server={{ . }}
        {{- end }}
"""



def missing_files(deploy: Path) -> list[str]:
    """Files of deploy/ that are neither in a template nor among the others."""
    sources = {each.source for each in TEMPLATES}
    names = sorted(each.relative_to(deploy).as_posix() for each in deploy.rglob("*.yaml"))
    return [name for name in names
            if name not in sources and not any(Path(name).match(other) for other in OTHERS)]


def render(template: Template, deploy: Path, values: list[Value]) -> str:
    """The text of one template."""
    found = manifests.read(deploy, template.source)
    texts = [_object(each, found, values) for each in found]
    body = HEADER % template.source + "---\n".join(texts)
    if template.switch:
        return f"{{{{- if .Values.{template.switch} }}}}\n{body}{{{{- end }}}}\n"
    return body


def _object(one: Manifest, beside: list[Manifest], values: list[Value]) -> str:
    if one.kind == "CustomResourceDefinition":
        return _definition(one)
    text = _escaped(one.text)
    text = _names(one, text, beside)
    text = _images(one, text, values)
    if one.is_manager:
        text = _manager(one, text)
    if one.kind == "DaemonSet" or one.name == "juicefs-csi-driver-config":
        text = text.replace("/var/lib/kubelet", "{{ .Values.juicefs.kubeletDirectory }}")
    if one.kind == "Namespace" and one.name == "paddle-volumes":  # volumes that stay need it
        return _replaced(one, text, "metadata:\n", "metadata:\n" + KEEP)
    if one.kind == "Namespace" and one.name == "paddle-system":
        text = _replaced(one, text, "metadata:\n", "metadata:\n" + KEEP)
        text = _replaced(one, text, "  labels:\n", "  labels:\n" + RESTRICTED)
        return ("{{- if ne .Values.controllernamespace .Release.Namespace }}\n"
                f"{text}{{{{- end }}}}\n")
    return _everywhere(one, text, beside)


def _escaped(text: str) -> str:
    return re.sub(r"\{\{|\}\}", lambda found: f'{{{{ "{found.group()}" }}}}', text)


def _definition(one: Manifest) -> str:
    return _replaced(one, _escaped(one.text), "metadata:\n", "metadata:\n" + KEEP)


def _replaced(one: Manifest, text: str, old: str, new: str) -> str:
    """The text with the first occurrence of `old` replaced; there must be one."""
    if old not in text:
        raise ToolError(f"{one.kind} {one.name} has no '{old.strip()}', which the chart replaces")
    return text.replace(old, new, 1)


# --- namespaces and rights ------------------------------------------------------------------------

def _everywhere_names(beside: list[Manifest]) -> set[str]:
    """Names of the ClusterRoles and their bindings that are empty unless all namespaces are
    watched; see config/components/all-namespaces."""
    return {each.name for each in beside
            if (each.kind == "ClusterRole" and "rules" not in each.fields)
            or (each.kind == "ClusterRoleBinding" and "subjects" not in each.fields)}


def _names(one: Manifest, text: str, beside: list[Manifest]) -> str:
    if one.kind in ("Role", "RoleBinding") and one.name in _everywhere_names(beside):
        text = _replaced(one, text, "  namespace: paddle-system\n", f"  namespace: {JOBS}\n")
    text = text.replace("        - --namespace=paddle-system\n",
                        "        {{- with .Values.jobnamespace }}\n"
                        "        - --namespace={{ . }}\n"
                        "        {{- end }}\n")
    return _controllers(text)


def _controllers(text: str) -> str:
    """The managers' namespace, quoted where it is a whole scalar: a name may be a number."""
    quoted = CONTROLLERS.replace(" }}", " | quote }}")
    text = re.sub(r"(?<=[:-] )paddle-system$", quoted, text, flags=re.M)
    return re.sub(r"(?<![\w-])paddle-system(?![\w-])", CONTROLLERS, text)


def _everywhere(one: Manifest, text: str, beside: list[Manifest]) -> str:
    """A ClusterRole that is empty gets what the Role of its name has, when there is no namespace of
    jobs; a binding likewise."""
    field = {"ClusterRole": "rules", "ClusterRoleBinding": "subjects"}.get(one.kind)
    if field is None or field in one.fields:
        return text
    twin = manifests.only(beside, one.kind.removeprefix("Cluster"), one.name)
    lines = twin.text.splitlines(keepends=True)
    begin = lines.index(f"{field}:\n")
    end = next((at for at in range(begin + 1, len(lines)) if lines[at][0] not in " -"), len(lines))
    part = _controllers("".join(lines[begin:end]))
    return f"{text}{{{{- if not .Values.jobnamespace }}}}\n{part}{{{{- end }}}}\n"


# --- pods -----------------------------------------------------------------------------------------

def _images(one: Manifest, text: str, values: list[Value]) -> str:
    """Images become values: the one whose default is the image, and among several of the same
    default the one of this object's part of the chart."""
    juicefs = "juicefs" in one.name
    by_image = {each.default: each.path for each in values
                if each.path.lower().endswith("image")
                and each.path.startswith("juicefs.") == juicefs}
    def value(found: re.Match[str]) -> str:
        before, image = found.groups()
        if image not in by_image:
            if before.endswith("image: "):
                raise ToolError(f"{one.kind} {one.name}: no value of the chart has the image "
                                f"{image}; add one to tools/paddle_tools/chart/values.py")
            return found.group()
        call = f'include "paddle-operator.image" (list . .Values.{by_image[image]})'
        return f"{before}{{{{ {call} }}}}"

    return re.sub(r"^(\s*(?:- )?(?:image|value): )(\S+)$", value, text, flags=re.M)


def _manager(one: Manifest, text: str) -> str:
    part = one.name.removeprefix("paddle-").removesuffix("-manager")
    part = "paddlejob" if part == "controller" else part
    text = _replaced(one, text, "  replicas: 1\n", "  replicas: {{ .Values.replicas }}\n")
    policy = manifests.container(one, "manager")["imagePullPolicy"]
    text = _replaced(one, text, f"imagePullPolicy: {policy}\n",
                     "imagePullPolicy: {{ .Values.imagePullPolicy }}\n")
    arguments = (f"        {{{{- range .Values.{part}.args }}}}\n"
                 "        - {{ . | quote }}\n        {{- end }}\n")
    choices = CHOICES if part == "paddlejob" else ""
    text = _replaced(one, text, "        command:\n", choices + arguments + "        command:\n")
    text = re.sub(r"^        resources:\n(?: {10}.*\n)+",
                  f"        resources:\n          {{{{- toYaml .Values.{part}.resources"
                  " | nindent 10 }}\n", text, count=1, flags=re.M)
    return _replaced(one, text, "      serviceAccountName:",
                     POD_FIELDS + "      serviceAccountName:")
