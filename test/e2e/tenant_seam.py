# SPDX-License-Identifier: Apache-2.0
"""A tenant with the role `edit` tries to control JuiceFS's privileged driver past the operator.

By the Secret that the driver reads, by annotations of the claim, and by directories of nodes. The
same steps against a volume that an administrator made by hand succeed: what fails against a set
fails because it is refused. The admission policies are not installed here. Keys of the user's own
Secret (`envs`, `configs`) are in tenant_exploits; their control is here.
"""
import base64
import json

from paddle_tools.e2e import juicefs, sample_sets
from paddle_tools.e2e.cluster import SYSTEM, TOP, ScenarioFailed, expect

WITH = sample_sets.WITH
LEAKS_OF_OTHERS = juicefs.FORMAT_OF_DRIVER
IMAGES = sample_sets.IMAGES
SPACE = "e2e-tenant"
SAFE = sample_sets.SAFE
SET = "guarded"
BARE = "e2e-unguarded"
TENANT = f"system:serviceaccount:{SPACE}:tenant"
MANAGER = f"system:serviceaccount:{SYSTEM}:paddle-sampleset-sa"
ANNOTATION = "juicefs/mount-labels"
LABEL = "steered-by-a-tenant"  # of mount pods; the driver's configuration sets none
LABELS = json.dumps({LABEL: "yes"})
VARIABLE = "CANARY_OF_A_TENANT"
VICTIM = "e2e-victim"  # a Secret of the driver's namespace
CACHE = "/var/cache/e2e-tenant"
OUTSIDE = "/opt/e2e-outside"
PROFILE = "pod-security.kubernetes.io/enforce"


def run(cluster):
    with cluster.step("the driver, managers of all namespaces, a tenant in a namespace of his own"):
        sample_sets.install_driver(cluster)
        cluster.kubectl("delete", "-f", TOP / "deploy/v1/policies.yaml", "--ignore-not-found")
        cluster.kubectl("apply", "-k", TOP / "config/overlays/all-namespaces")
        for name in ("paddle-controller-manager", "paddle-sampleset-manager"):
            cluster.kubectl("-n", SYSTEM, "rollout", "status", f"deployment/{name}",
                            "--timeout=60s", limit=90)
        cluster.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {
            "name": SPACE, "labels": {PROFILE: "baseline"}}}])
        cluster.kubectl("-n", SPACE, "create", "serviceaccount", "tenant")
        cluster.kubectl("-n", SPACE, "create", "rolebinding", "tenant", "--clusterrole=edit",
                        f"--serviceaccount={SPACE}:tenant")
    try:
        set_in_baseline(cluster)
        unguarded(cluster)
        secrets_of_the_driver(cluster)
        copy_beside_the_set(cluster)
        annotations(cluster)
        directories(cluster)
        rights(cluster)
    finally:
        cluster.run("-n", SPACE, "delete", "sampleset", "--all", limit=120)
        cluster.run("delete", "pod", "bare-user", "--ignore-not-found", limit=120)
        cluster.run("delete", "pvc,pv,secret", BARE, "--ignore-not-found", limit=120)
        cluster.run("-n", juicefs.SPACE, "delete", "secret", VICTIM, "--ignore-not-found")
        cluster.run("delete", "namespace", SPACE, "--ignore-not-found", limit=180)
        for file in ("v1/operator.yaml", "extensions/controllers.yaml"):
            cluster.apply(TOP / "deploy" / file)


def set_in_baseline(cluster):
    with cluster.step("Pod Security 'baseline' refuses a pod with a directory of its node"):
        try:
            cluster.apply([juicefs.pod("control", ["true"], volumes=[
                {"name": "node", "hostPath": {"path": "/var"}}])], SPACE)
        except ScenarioFailed as failure:
            expect("hostPath" in str(failure), f"it says: {failure}")
        else:
            raise ScenarioFailed("the namespace does not enforce 'baseline'")
    with cluster.step("a SampleSet with JuiceFS is Ready there, and its samples are read"):
        juicefs.empty_databases(cluster, 7)
        wanted = sample_sets.put_samples(cluster, SET, 12, seed=71)
        cluster.apply([sample_sets.source_secret(cluster, "samples-source"),
                       sample_sets.s3_volume(cluster, SET, f"e2e-{SET}", 7),
                       sample_sets.sample_set(SET, SET, SET, cache={"levels": [
                           {"mediumType": "SSD", "path": CACHE}]})], SPACE)
        sample_sets.wait_ready(cluster, SET, SPACE)
        cluster.apply([sample_sets.reader("reads", SET)], SPACE)
        sample_sets.read_all(cluster, "reads", wanted, SPACE)
        (runtime,) = [each for each in cluster.list("pods", SPACE)
                      if each["metadata"]["name"] == f"{SET}-runtime-0"]
        limits = runtime["spec"]["containers"][0]["resources"]["limits"]
        cluster.note(f"limits of a runtime: {limits}")
        expect("memory" in limits, "a runtime has no limit")


def unguarded(cluster):
    """A volume as administrators make them, steered by its Secret, its claim and its options."""
    with cluster.step("control: an unguarded volume takes variables, annotations and directories"):
        secret, volume, claim = juicefs.volume(cluster, BARE, 8, OUTSIDE)
        secret["stringData"]["envs"] = json.dumps({VARIABLE: "1"})
        secret["stringData"]["configs"] = json.dumps({VICTIM: "/stolen"})
        cluster.apply([{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": VICTIM},
                        "stringData": {"key": "any"}}], juicefs.SPACE)
        claim["metadata"]["annotations"] = {ANNOTATION: LABELS}
        cluster.apply([secret, volume, claim, juicefs.formatting(BARE)])
        cluster.wait_phase("pod", f"{BARE}-format", "Succeeded")
        cluster.kubectl("delete", "pod", f"{BARE}-format")
        cluster.apply([juicefs.user("bare-user", BARE, "node1")])
        cluster.wait("the pod Ready", lambda: juicefs.ready(cluster, "bare-user"), 120)
        (mount,) = juicefs.mount_pods(cluster, BARE)
        container = mount["spec"]["containers"][0]
        expect(VARIABLE in json.dumps(container), "the mount pod lacks the Secret's variable")
        expect(VICTIM in json.dumps(mount["spec"]), "the mount pod has no other Secret")
        expect(LABEL in mount["metadata"]["labels"],
               f"the mount pod has the labels {sorted(mount['metadata']['labels'])}")
        juicefs.write(cluster, "bare-user", "first", 4)
        expect(cluster.on("node1", "ls", OUTSIDE), f"{OUTSIDE} of the node is empty")


def secrets_of_the_driver(cluster):
    with cluster.step("the Secret that the driver reads: a tenant neither reads nor changes it"):
        reference = volume_of(cluster)["spec"]["csi"]["nodePublishSecretRef"]
        expect(reference["namespace"] == SAFE, f"the driver reads {reference}")
        name = reference["name"]
        expect(cluster.get("secret", name, SAFE), f"there is no Secret {SAFE}/{name}")
        for verb in ("get", "list", "create", "patch", "delete"):
            expect(not allowed(cluster, TENANT, verb, "secrets", SAFE),
                   f"a tenant may {verb} secrets of {SAFE}")
        # Control: the same account may, where it has the role.
        expect(allowed(cluster, TENANT, "patch", "secrets", SPACE), "the tenant may do nothing")


def copy_beside_the_set(cluster):
    with cluster.step("the copy beside the set, edited by a tenant, is restored in a minute"):
        name = f"{SET}-volume"
        before = cluster.get("secret", name, SPACE)["data"]
        evil = {"data": {"metaurl": base64.b64encode(b"x; id").decode(),
                         "envs": base64.b64encode(b'{"LD_PRELOAD":"/x"}').decode()}}
        cluster.kubectl("-n", SPACE, "--as", TENANT, "patch", "secret", name, "--type=merge", "-p",
                        json.dumps(evil))
        cluster.wait("the copy is as before",
                     lambda: cluster.get("secret", name, SPACE)["data"] == before, 90)
        texts = json.dumps([each.get("data") for each in cluster.list("secrets", SAFE)])
        expect(evil["data"]["metaurl"] not in texts, "the driver's Secret has it")


def annotations(cluster):
    with cluster.step("an annotation that steers the driver is removed from the set's claim"):
        cluster.kubectl("-n", SPACE, "--as", TENANT, "annotate", "pvc", SET,
                        f"{ANNOTATION}={LABELS}")
        cluster.wait("it is gone", lambda: ANNOTATION not in cluster.get(
            "pvc", SET, SPACE)["metadata"].get("annotations", {}), 30)
        cluster.wait("an event says so", lambda: "ClaimAnnotationsRemoved" in cluster.kubectl(
            "-n", SPACE, "get", "events"), 60)
        for mount in sample_sets.clients(cluster, SET, SPACE):
            expect(LABEL not in mount["metadata"]["labels"],
                   "a mount pod took the tenant's annotation")
    with cluster.step("a tenant's own claim in the place of the set's does not get its volume"):
        claim = cluster.get("pvc", SET, SPACE)
        uid = volume_of(cluster)["spec"]["claimRef"]["uid"]
        expect(uid == claim["metadata"]["uid"], "the volume is not bound to the set's claim by uid")


def directories(cluster):
    with cluster.step("a set has a directory of its own, and none outside of the allowed roots"):
        options = volume_of(cluster)["spec"]["csi"]["volumeAttributes"]["mountOptions"]
        handle = volume_of(cluster)["metadata"]["name"]
        cluster.note(options)
        expect(f"cache-dir={CACHE}/{handle}," in options + ",", "the set's handle is not appended")
        expect("cache-size=" in options, "its cache has no bound")
        for number, path in enumerate((OUTSIDE, "/var/lib/kubelet/pods", "/mnt/data", "/")):
            name = f"outside-{number}"
            cluster.apply([sample_sets.sample_set(name, SET, SET, cache={"levels": [
                {"mediumType": "SSD", "path": path}]})], SPACE)
            said = cluster.wait(f"{path} is refused", lambda each=name: refusal(cluster, each))
            cluster.note(said["message"])
            expect(path in said["message"], "the message does not name it")
            cluster.kubectl("-n", SPACE, "delete", "sampleset", name)


def rights(cluster):
    with cluster.step("the manager reads Secrets by name, and lists and watches none"):
        for space in (SYSTEM, SPACE, SAFE):
            for verb in ("list", "watch"):
                expect(not allowed(cluster, MANAGER, verb, "secrets", space),
                       f"the manager may {verb} secrets of {space}")
            expect(allowed(cluster, MANAGER, "get", "secrets", space),
                   f"the manager may not read secrets of {space}")


# --- what is seen ---------------------------------------------------------------------------------

def volume_of(cluster):
    name = cluster.get("sampleset", SET, SPACE)["status"]["volumeName"]
    return cluster.get("pv", name)


def refusal(cluster, name):
    found = sample_sets.condition(cluster, name, "Ready", SPACE)
    return found if found and found["reason"] == "SpecRefused" else None


def allowed(cluster, account, verb, what, space):
    _, out, _ = cluster.run("auth", "can-i", verb, what, "-n", space, "--as", account)
    return out.strip() == "yes"
