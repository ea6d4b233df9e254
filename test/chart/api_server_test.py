# SPDX-License-Identifier: Apache-2.0
"""The chart on a real API server: installed, upgraded, rolled back and uninstalled by the real
Helm, and compared by kubeconform with the schemas that this server publishes.

Needs the components helm, kubectl, kubeconform, etcd and kube-apiserver.
"""
import json
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from paddle_tools.bare_api_server import bare_api_server, component
from paddle_tools.paths import TOP

CHART = str(TOP / "charts/paddle-operator")
SYSTEM = "paddle-system"
KINDS = ("v1.PaddleJob", "v1alpha1.SampleSet", "v1alpha1.SampleJob")
SERVED_LIMIT = 60.0  # seconds
EXAMPLES = sorted(each for folder in ("examples", "elastic", "heter")
                  for each in (TOP / "deploy" / folder).glob("*.yaml"))
EVERYTHING = ("jobnamespace=", "volcano.enabled=true", "elastic.etcd.enabled=true",
              "warnings.enabled=true", "policies.enabled=true", "juicefs.enabled=true",
              "replicas=2", "nodeSelector.role=control", "imagePullSecrets[0].name=pull")
JOB = {"apiVersion": "batch.paddlepaddle.org/v1", "kind": "PaddleJob",
       "metadata": {"name": "mine", "namespace": SYSTEM},
       "spec": {"worker": {"replicas": 1, "template": {"spec": {
           "containers": [{"name": "paddle", "image": "busybox:1.35"}]}}}}}


class OnAServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = Path(cls.enterClassContext(
            tempfile.TemporaryDirectory(prefix="paddle-chart.")))
        cls.server = cls.enterClassContext(bare_api_server(cls.scratch))

    def run_program(self, name, *arguments, stdin=None):
        done = subprocess.run([component(name), *map(str, arguments)], check=False, text=True,
                              capture_output=True, input=stdin,
                              env={"HOME": str(self.scratch), "PATH": "/usr/bin:/bin",
                                   "KUBECONFIG": str(self.server.kubeconfig)})
        return done.returncode, done.stdout, done.stderr

    def helm(self, *arguments):
        code, out, err = self.run_program("helm", *arguments)
        self.assertEqual(code, 0, f"helm {' '.join(arguments)}: {err}")
        return out

    def kubectl(self, *arguments, stdin=None):
        code, out, err = self.run_program("kubectl", *arguments, stdin=stdin)
        self.assertEqual(code, 0, f"kubectl {' '.join(map(str, arguments))}: {err}")
        return out

    def exists(self, kind, name):
        return bool(self.kubectl("-n", SYSTEM, "get", kind, name, "--ignore-not-found",
                                 "-o", "name"))

    def arguments_of_the_manager(self):
        return json.loads(self.kubectl(
            "-n", SYSTEM, "get", "deployment", "paddle-controller-manager", "-o",
            "jsonpath={.spec.template.spec.containers[0].args}"))


class Life(OnAServer):
    def test_install_upgrade_rollback_and_uninstall(self):
        self.helm("install", "paddle-operator", CHART)
        self.assertEqual(self.arguments_of_the_manager(),
                         ["--leader-elect", "--namespace=paddle-system"])
        self.create_a_job()

        self.break_a_definition()
        notes = self.helm("upgrade", "paddle-operator", CHART,
                          *(f"--set={each}" for each in EVERYTHING))
        self.assertIn("kubectl -n paddle-system get pods", notes)
        self.assertIn("--scheduling=volcano", self.arguments_of_the_manager())
        self.assertTrue(self.exists("csidriver", "csi.juicefs.com"))
        self.assertTrue(self.a_definition_is_whole(), "the upgrade left an old definition")
        rules = self.kubectl("get", "clusterrole", "paddle-manager-role", "-o", "jsonpath={.rules}")
        self.assertIn("paddlejobs", rules)

        self.helm("rollback", "paddle-operator", "1")
        self.assertNotIn("--scheduling=volcano", self.arguments_of_the_manager())
        self.assertFalse(self.exists("csidriver", "csi.juicefs.com"))
        rules = self.kubectl("get", "clusterrole", "paddle-manager-role", "-o", "jsonpath={.rules}")
        self.assertNotIn("paddlejobs", rules)

        self.helm("uninstall", "paddle-operator")
        self.assertFalse(self.exists("deployment", "paddle-controller-manager"))
        self.assertFalse(self.exists("clusterrole", "paddle-manager-role"))
        self.assertTrue(self.exists("paddlejob", "mine"), "uninstalling took a user's job away")

        self.helm("install", "paddle-operator", CHART)  # what was kept is taken over
        self.assertTrue(self.exists("paddlejob", "mine"))
        self.helm("upgrade", "paddle-operator", CHART, "--set=keepOnUninstall=false")
        self.helm("uninstall", "paddle-operator")
        for kind in ("paddlejobs", "samplesets", "samplejobs"):
            self.kubectl("wait", "--for=delete", f"crd/{kind}.batch.paddlepaddle.org",
                         "--timeout=60s")

    def create_a_job(self):
        """Tries until the server serves the definition that it has just stored."""
        end = time.monotonic() + SERVED_LIMIT
        code, err = 1, ""
        while code != 0 and time.monotonic() < end:
            code, _, err = self.run_program("kubectl", "apply", "-f", "-", stdin=json.dumps(JOB))
        self.assertEqual(code, 0, err)

    def break_a_definition(self):
        """As an older version has it: without one of the columns."""
        column = "/spec/versions/0/additionalPrinterColumns/2"
        self.kubectl("patch", "crd", "paddlejobs.batch.paddlepaddle.org", "--type=json", "-p",
                     json.dumps([{"op": "remove", "path": column}]))
        self.assertFalse(self.a_definition_is_whole())

    def a_definition_is_whole(self):
        return "Ready" in self.kubectl(
            "get", "crd", "paddlejobs.batch.paddlepaddle.org", "-o",
            "jsonpath={.spec.versions[0].additionalPrinterColumns[2].name}")


class Schemas(OnAServer):
    """kubeconform with one schema per kind, strict: a field that the server does not know is an
    error."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        subprocess.run([component("kubectl"), f"--kubeconfig={cls.server.kubeconfig}", "apply",
                        "-f", TOP / "deploy/v1/crd.yaml"], check=True, capture_output=True)
        cls.schemas = cls.scratch / "schemas"
        cls.schemas.mkdir()
        definitions = strict(cls.published()["definitions"])
        for one in definitions.values():
            for kind in one.get("x-kubernetes-group-version-kind", ()):
                # kubeconform knows a group by its first word.
                group = kind["group"].split(".")[0]
                name = "-".join(filter(None, (kind["kind"], group, kind["version"])))
                (cls.schemas / f"{name.lower()}.json").write_text(
                    json.dumps({**one, "definitions": reachable(one, definitions)}))

    @classmethod
    def published(cls):
        """The server's OpenAPI document, once our kinds are in it."""
        for _ in range(600):
            found = cls.server.get("/openapi/v2")
            if all(f"org.paddlepaddle.batch.{each}" in found["definitions"] for each in KINDS):
                return found
        raise AssertionError("the server does not publish the schemas of our kinds")

    def conform(self, text):
        return self.run_program(
            "kubeconform", "-summary", "-output=json", "-strict", "-schema-location",
            str(self.schemas / "{{.ResourceKind}}{{.KindSuffix}}.json"), stdin=text)

    def rendered(self, *settings):
        return self.helm("template", "paddle-operator", CHART, "--kube-version=1.34.4",
                         *(f"--set={each}" for each in settings))

    def test_the_chart_conforms_with_the_defaults_and_with_everything(self):
        for settings in ((), EVERYTHING, ("controllernamespace=a", "jobnamespace=b")):
            with self.subTest(settings):
                code, out, err = self.conform(self.rendered(*settings))
                summary = json.loads(out)["summary"]
                self.assertEqual((code, summary["invalid"], summary["errors"],
                                  summary["skipped"]), (0, 0, 0, 0), out + err)
                self.assertGreater(summary["valid"], 35)

    def test_the_server_accepts_every_example_alone(self):
        self.kubectl("create", "namespace", SYSTEM)
        for file in EXAMPLES:
            with self.subTest(file.name):
                out = self.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", file)
                self.assertIn("created (server dry run)", out)

    def test_every_example_conforms(self):
        self.assertGreater(len(EXAMPLES), 20)
        code, out, err = self.conform("\n---\n".join(each.read_text() for each in EXAMPLES))
        summary = json.loads(out)["summary"]
        self.assertEqual((code, summary["invalid"], summary["errors"], summary["skipped"]),
                         (0, 0, 0, 0), out + err)

    def test_a_wrong_field_is_found(self):
        text = self.rendered().replace("serviceAccountName: paddle-manager-sa",
                                       "serviceAcountName: paddle-manager-sa")
        code, out, _ = self.conform(text)
        self.assertEqual((code, json.loads(out)["summary"]["invalid"]), (1, 1), out)


def strict(definitions):
    """The same schemas, with fields that they do not name forbidden."""
    for one in definitions.values():
        refuse_others(one)
    return definitions


def refuse_others(schema):
    if not isinstance(schema, dict):
        return
    # A quantity is published as text and may be written as a number.
    if schema.pop("x-kubernetes-int-or-string", None) or schema.get("format") == "int-or-string":
        schema.pop("type", None)
        schema.pop("format", None)
    if schema.get("properties") and not schema.get("x-kubernetes-preserve-unknown-fields"):
        schema.setdefault("additionalProperties", False)
    for key in ("properties", "definitions"):
        for each in schema.get(key, {}).values():
            refuse_others(each)
    for key in ("items", "additionalProperties"):
        refuse_others(schema.get(key))


def reachable(schema, definitions):
    """The definitions that a schema needs."""
    needed, waiting = {}, [schema]
    while waiting:
        text = json.dumps(waiting.pop())
        for name in {part.split('"', 1)[0] for part in text.split('"#/definitions/')[1:]}:
            if name not in needed:
                needed[name] = definitions[name]
                waiting.append(definitions[name])
    return needed


if __name__ == "__main__":
    unittest.main()
