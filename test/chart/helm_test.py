# SPDX-License-Identifier: Apache-2.0
"""The chart, rendered by the real Helm: it is deploy/ by values, and wrong values are refused.

Needs the components helm and kubectl (tools/components install helm kubectl).
"""
import json
import re
import subprocess
import tempfile
import unittest

from paddle_tools.bare_api_server import component
from paddle_tools.chart.templates import TEMPLATES
from paddle_tools.chart.values import table
from paddle_tools.manifests import built
from paddle_tools.paths import TOP

CHART = TOP / "charts/paddle-operator"
DEPLOY = TOP / "deploy"
# The version of the server, which Helm has no other way to know here.
RENDER = ("template", "paddle-operator", str(CHART), "--kube-version=1.34.4", "--skip-tests")
KEEP = "helm.sh/resource-policy"


def helm(*arguments):
    """(exit code, output, errors) of Helm without any configuration of the user."""
    with tempfile.TemporaryDirectory(prefix="paddle-helm.") as home:
        done = subprocess.run([component("helm"), *arguments], check=False, text=True,
                              capture_output=True,
                              env={"HOME": home, "PATH": "/usr/bin:/bin", "HELM_NAMESPACE": "x"})
    return done.returncode, done.stdout, done.stderr


def objects(text):
    """The objects in a text, by kind, namespace and name."""
    done = subprocess.run([component("kubectl"), "patch", "--local", "--type=merge", "-p", "{}",
                           "-o", "json", "-f", "-"], input=text, check=True, text=True,
                          capture_output=True, env={"PATH": "/usr/bin:/bin"})
    found, at, decoder = {}, 0, json.JSONDecoder()
    while at < len(done.stdout.rstrip()):
        one, at = decoder.raw_decode(done.stdout, at)
        at += len(done.stdout[at:]) - len(done.stdout[at:].lstrip())
        meta = one["metadata"]
        key = f"{one['kind']} {meta.get('namespace', '')}/{meta['name']}"
        assert key not in found, f"{key} is there twice"
        found[key] = one
    return found


def rendered(*settings):
    """The objects of the chart with settings as for --set, without what only Helm reads."""
    code, out, err = helm(*RENDER, *(f"--set={each}" for each in settings))
    assert code == 0, err
    found = objects(out)
    for one in found.values():
        annotations = one["metadata"].get("annotations", {})
        if annotations.pop(KEEP, None) and not annotations:
            del one["metadata"]["annotations"]
    return found


def kustomized(*sources):
    """The objects of folders of config/, and of files of deploy/."""
    texts = [(DEPLOY / each).read_text() if each.endswith(".yaml")
             else built(component("kubectl"), each) for each in sources]
    return objects("\n---\n".join(texts))


class TheChartIsDeploy(unittest.TestCase):
    maxDiff = 4000

    def assert_same(self, found, wanted):
        self.assertEqual(sorted(found), sorted(wanted))
        for key, one in wanted.items():
            self.assertEqual(found[key], one, key)

    def test_with_the_defaults_it_is_install_yaml(self):
        self.assert_same(rendered(), kustomized("v1/crd.yaml", "operator", "extensions"))
        self.assert_same(rendered(), kustomized("install.yaml"))

    def test_without_a_job_namespace_it_is_the_overlay_of_all_namespaces(self):
        self.assert_same(rendered("jobnamespace="),
                         kustomized("v1/crd.yaml", "overlays/all-namespaces"))

    def test_volcano_is_its_overlay(self):
        self.assert_same(rendered("volcano.enabled=true", "extensions.enabled=false"),
                         kustomized("v1/crd.yaml", "overlays/volcano"))

    def test_elastic_is_its_overlay_with_an_etcd(self):
        self.assert_same(rendered("elastic.etcd.enabled=true", "extensions.enabled=false"),
                         kustomized("v1/crd.yaml", "overlays/elastic", "elastic/etcd.yaml"))

    def test_every_file_beside_install_yaml_is_a_switch(self):
        base = rendered()
        for each in TEMPLATES:
            if each.switch and each.switch not in ("crds.enabled", "extensions.enabled",
                                                   "elastic.etcd.enabled"):
                with self.subTest(each.switch):
                    more = rendered(f"{each.switch}=true")
                    self.assert_same({key: one for key, one in more.items() if key not in base},
                                     kustomized(each.source))

    def test_definitions_and_extensions_can_be_left_out(self):
        self.assert_same(rendered("crds.enabled=false", "extensions.enabled=false"),
                         kustomized("operator"))

    def test_definitions_and_the_namespace_are_kept_unless_told_otherwise(self):
        def kept(*settings):
            _, out, _ = helm(*RENDER, *settings)
            return sorted(one["kind"] for one in objects(out).values()
                          if one["metadata"].get("annotations", {}).get(KEEP) == "keep")
        self.assertEqual(kept(), ["CustomResourceDefinition"] * 3 + ["Namespace"] * 2)
        self.assertEqual(kept("--set=keepOnUninstall=false"), [])


class Values(unittest.TestCase):
    def test_other_namespaces_reach_every_place(self):
        found = rendered("controllernamespace=managers", "jobnamespace=training",
                         "elastic.etcd.enabled=true", "warnings.enabled=true",
                         "policies.enabled=true")
        self.assertNotIn("paddle-system", json.dumps(found))
        roles = {key for key in found if re.match(r"Role(Binding)? training/", key)}
        self.assertEqual(len(roles), 6, roles)
        for key in roles:
            if key.startswith("RoleBinding"):
                self.assertEqual(found[key]["subjects"][0]["namespace"], "managers", key)
        manager = found["Deployment managers/paddle-controller-manager"]
        arguments = manager["spec"]["template"]["spec"]["containers"][0]["args"]
        self.assertIn("--namespace=training", arguments)
        self.assertIn("--etcd-server=paddle-elastic-etcd.managers.svc.cluster.local:2379",
                      arguments)
        labels = found["Namespace /managers"]["metadata"]["labels"]
        self.assertEqual(labels["pod-security.kubernetes.io/enforce"], "restricted")

    def test_a_namespace_may_look_like_a_number(self):
        self.assertIn("Deployment 123/paddle-controller-manager",
                      objects(helm(*RENDER, "--set-string=controllernamespace=123",
                                   "--set-string=jobnamespace=123")[1]))

    def test_the_namespace_of_the_release_is_left_to_helm(self):
        _, out, _ = helm(*RENDER, "--namespace=paddle-system")
        self.assertNotIn("Namespace /paddle-system", objects(out))

    def test_a_registry_is_put_before_every_image(self):
        found = json.dumps(rendered("registry=registry.example:5000/ml", "juicefs.enabled=true"))
        ours = r"(?:paddle-(?:operator|cache)|juicefs-(?:mount|csi-driver))"
        images = re.findall(rf'"((?:[^" ]*/)?{ours}[a-z-]*:[^"]+)"', found)
        self.assertEqual(len(images), 8, images)
        for each in images:
            self.assertTrue(each.startswith("registry.example:5000/ml/"), each)
        own = json.dumps(rendered("registry=registry.example", "image=other.example/x/manager:v2"))
        self.assertEqual(own.count('"other.example/x/manager:v2"'), 3)

    def test_settings_of_pods_reach_the_managers(self):
        found = rendered("replicas=2", "priorityClassName=high", "imagePullPolicy=Always",
                         "imagePullSecrets[0].name=pull", "nodeSelector.role=control",
                         "tolerations[0].operator=Exists", "affinity.nodeAffinity=null",
                         "samplejob.args[0]=--workers=8", "samplejob.resources.limits.memory=2Gi")
        for name in ("controller", "sampleset", "samplejob"):
            spec = found[f"Deployment paddle-system/paddle-{name}-manager"]["spec"]
            pod = spec["template"]["spec"]
            self.assertEqual(spec["replicas"], 2)
            self.assertEqual(pod["priorityClassName"], "high")
            self.assertEqual(pod["imagePullSecrets"], [{"name": "pull"}])
            self.assertEqual(pod["nodeSelector"], {"role": "control"})
            self.assertEqual(pod["tolerations"], [{"operator": "Exists"}])
            self.assertEqual(pod["containers"][0]["imagePullPolicy"], "Always")
        one = pod["containers"][0]
        self.assertEqual(one["args"],
                         ["--leader-elect", "--namespace=paddle-system", "--workers=8"])
        self.assertEqual(one["resources"]["limits"]["memory"], "2Gi")

    def test_another_kubelet_directory_reaches_every_place(self):
        found = json.dumps(rendered("juicefs.enabled=true",
                                    "juicefs.kubeletDirectory=/data/kubelet"))
        self.assertNotIn("/var/lib/kubelet", found)
        self.assertEqual(found.count("/data/kubelet"), 4)

    def test_etcd_elsewhere_is_told_to_the_manager_alone(self):
        found = rendered("elastic.etcdServer=etcd-0.example:2379\\,etcd-1.example:2379")
        self.assertEqual(json.dumps(found).count("--etcd-server="), 1)
        self.assertNotIn("paddle-elastic-etcd", json.dumps(found))

    def test_what_is_quoted_in_arguments_stays_one_argument(self):
        found = rendered("paddlejob.args[0]=--zap-encoder=json # no: comment")
        self.assertIn("--zap-encoder=json # no: comment", json.dumps(found))


# A wrong value for each value of the chart; several where there are several ways to be wrong.
WRONG = {
    "image": ["Upper/case:v1", "a b", "name:tag@sha256:12", "7"],
    "controllernamespace": ["", "Paddle", "a_b", "x" * 64, "-x"],
    "jobnamespace": ["a b", "A", "*", "a\\,b"],
    "registry": ["https://registry.example", "registry.example/", "a b"],
    "imagePullPolicy": ["", "always", "Sometimes"],
    "imagePullSecrets": ["pull", "{pull}"],
    "keepOnUninstall": ["yes", "1"],
    "crds.enabled": ["no"],
    "replicas": ["0", "11", "1.5", "two"],
    "nodeSelector": ["role", "{role}"],
    "tolerations": ["Exists", "{Exists}"],
    "affinity": ["node"],
    "priorityClassName": ["7"],
    "paddlejob.args": ["--workers=8", "{workers=8}", "{--namespace=other}",
                       "{--controllers=all}", "{--leader-elect=false}"],
    "sampleset.args": ["{-w}"],
    "samplejob.args": ["{7}"],
    "paddlejob.resources": ["small", "{1Gi}"],
    "sampleset.resources": ["small"],
    "samplejob.resources": ["small"],
    "extensions.enabled": ["on-demand"],
    "extensions.runtimeImage": ["UPPER"],
    "extensions.juicefsRuntimeImage": [":v1"],
    "volcano.enabled": ["volcano"],
    "elastic.etcdServer": ["etcd", "http://etcd:2379", "etcd:port", "etcd:2379\\,"],
    "elastic.etcd.enabled": ["3"],
    "elastic.etcd.image": ["etcd latest"],
    "warnings.enabled": ["Warn"],
    "policies.enabled": ["Deny"],
    "juicefs.enabled": ["csi"],
    "juicefs.kubeletDirectory": ["var/lib/kubelet", "/var/lib/kubelet/", "/", "/a b"],
    "juicefs.driverImage": [""],
    "juicefs.mountImage": ["-x"],
    "juicefs.registrarImage": ["a:b:c"],
    "test.image": ["Busybox"],
}


class WrongValues(unittest.TestCase):
    def assert_refused(self, setting, *named):
        code, _, err = helm(*RENDER, f"--set={setting}")
        self.assertNotEqual(code, 0, f"{setting} was accepted")
        self.assertIn("values don't meet the specifications of the schema", err)
        for each in named:
            self.assertIn(each, err)

    def test_each_value_has_a_wrong_one_here(self):
        self.assertEqual(sorted(WRONG), sorted(each.path for each in table(DEPLOY)))

    def test_each_is_refused_by_its_name(self):
        for path, wrong in WRONG.items():
            for each in wrong:
                with self.subTest(f"{path}={each}"):
                    self.assert_refused(f"{path}={each}", "/" + path.replace(".", "/"))

    def test_deeper_ones_are_refused_too(self):
        self.assert_refused("paddlejob.resources.limits.memory=much", "/limits/memory")
        self.assert_refused("paddlejob.resources.claims[0].name=gpu", "claims")
        self.assert_refused("imagePullSecrets[0].secret=x", "/imagePullSecrets/0")
        self.assert_refused("nodeSelector.gpu=7", "/nodeSelector/gpu")

    def test_unknown_names_are_refused_at_every_level(self):
        for each in ("controllerNamespace=x", "images=x", "juicefs.enable=true",
                     "elastic.etcd.size=3", "paddlejob.argz[0]=--x"):
            with self.subTest(each):
                self.assert_refused(each, "additional properties")

    def test_the_defaults_and_the_values_of_a_parent_chart_are_accepted(self):
        self.assertEqual(helm(*RENDER, "--set=global.region=north")[0], 0)
        self.assertEqual(helm("lint", str(CHART))[0], 0)


if __name__ == "__main__":
    unittest.main()
