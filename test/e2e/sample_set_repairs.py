# SPDX-License-Identifier: Apache-2.0
"""A SampleSet with the longest name there may be, and what users mend: its claim, its source, its
tolerations, a rule, an engine that clusters do not have.

Each time the set says what is wrong, and comes back by itself; workers read the source's bytes.
"""
import json

from paddle_tools.e2e import jobs, juicefs, sample_sets
from paddle_tools.e2e.cluster import SYSTEM, expect

WITH = sample_sets.WITH
IMAGES = sample_sets.IMAGES
LONG = "a-data-set-with-a-name-of-44-characters-long"
MENDED = "mended"
RULE = "e2e-no-labels"


def run(cluster):
    with sample_sets.secret_leak_check(cluster):
        deleted_claim(cluster, long_name(cluster))
        wanted = corrected_source(cluster)
        refused_spec(cluster)
        lost_tolerations(cluster, wanted)
        forbidden_labels(cluster)
        missing_driver(cluster)
        with cluster.step("deleted; nothing is left"):
            sample_sets.end(cluster, MENDED)


def reads(cluster, name, wanted):
    cluster.apply([sample_sets.reader("looks", name)], SYSTEM)
    sample_sets.read_all(cluster, "looks", wanted)
    jobs.delete(cluster, "looks")


def long_name(cluster):
    with cluster.step(f"a set with a name of {len(LONG)} characters: Ready, mounted, read"):
        wanted = sample_sets.begin(cluster, LONG, 5, prefix="long", count=30, seed=31)
        reads(cluster, LONG, wanted)
    return wanted


def deleted_claim(cluster, wanted):
    with cluster.step("its claim is deleted: nothing happens while it is in use"):
        before = cluster.get("pvc", LONG, SYSTEM)["metadata"]["uid"]
        cluster.kubectl("-n", SYSTEM, "delete", "pvc", LONG, "--wait=false")
        cluster.wait("the claim is leaving", lambda: "deletionTimestamp" in cluster.get(
            "pvc", LONG, SYSTEM)["metadata"])
    with cluster.step("its runtime goes, and the claim with it: both are made again, and bound"):
        cluster.kubectl("-n", SYSTEM, "delete", "pod", f"{LONG}-runtime-0", "--wait=false")

        def bound_again():
            claim = cluster.get("pvc", LONG, SYSTEM)
            return (claim and claim["metadata"]["uid"] != before
                    and claim["status"]["phase"] == "Bound")
        cluster.wait("another claim, bound", bound_again, 120)
        cluster.wait("the runtime", lambda: juicefs.ready(cluster, f"{LONG}-runtime-0", ns=SYSTEM),
                     120)
        sample_sets.wait_ready(cluster, LONG, partitions=1)
        reads(cluster, LONG, wanted)
        sample_sets.end(cluster, LONG)


def corrected_source(cluster):
    with cluster.step("a set of three partitions whose bucket is not there says so"):
        wanted = sample_sets.begin(cluster, MENDED, 5, count=60, seed=32, wait=False)
        made = sample_sets.sample_set(MENDED, MENDED, MENDED, 3)
        right = made["spec"]["source"]["uri"]
        made["spec"]["source"]["uri"] = right.replace(f"/{sample_sets.BUCKET}/", "/no-such-bucket/")
        cluster.apply([made], SYSTEM)
        cluster.wait_phase("sampleset", MENDED, "SyncFailed", SYSTEM, 120)
        said = sample_sets.condition(cluster, MENDED, "Synced")
        cluster.note(f"{said['reason']}: {said['message']}")
        expect("no-such-bucket" in said["message"], f"it does not say which: {json.dumps(said)}")
    with cluster.step("its source is corrected: Ready, and every part is the right one's"):
        made["spec"]["source"]["uri"] = right
        cluster.apply([made], SYSTEM)
        sample_sets.wait_ready(cluster, MENDED, partitions=3)
        reads(cluster, MENDED, wanted)
    return wanted


def refused_spec(cluster):
    with cluster.step("a toleration that no StatefulSet takes: the set says why, and goes on"):
        change(cluster, tolerations=[{"key": "gpu", "operator": "Exists", "value": "x"}])
        said = cluster.wait("a condition", lambda: refused(cluster), 60)
        cluster.note(said["message"])
        expect("tolerations[0]" in said["message"], "it does not have the server's words")
        cluster.wait("the status is of this spec", lambda: up_to_date(cluster), 60)
        cluster.wait("an event", lambda: [
            each for each in cluster.list("events", SYSTEM) if each["reason"] == "ActionRefused"
            and each["involvedObject"]["name"] == MENDED])
        cluster.kubectl("label", "nodes", "--all", f"paddlepaddle.org/juicefs-{MENDED}-")
        cluster.wait("three labels", lambda: sorted(
            sample_sets.labelled(cluster, MENDED).values()) == [0, 1, 2], 60)
        expect(cluster.get("sampleset", MENDED, SYSTEM)["status"]["phase"] == "Ready", "not Ready")
    with cluster.step("it is corrected: the condition is gone, and the runtimes have it"):
        change(cluster, tolerations=[{"key": "gpu", "operator": "Exists"}])
        cluster.wait("no condition", lambda: not refused(cluster), 60)
        cluster.wait("every runtime has it", lambda: len([
            each for each in runtimes(cluster) if "gpu" in keys_tolerated(each)]) == 3, 240)
        sample_sets.wait_ready(cluster, MENDED, partitions=3)


def lost_tolerations(cluster, wanted):
    with cluster.step("its tolerations are taken away: template and runtimes have none of them"):
        change(cluster, tolerations=None)
        cluster.wait("the template", lambda: "tolerations" not in pod_spec(cluster), 60)
        cluster.wait("no runtime has it", lambda: len([
            each for each in runtimes(cluster) if "gpu" not in keys_tolerated(each)]) == 3, 240)
    with cluster.step("the same with an affinity to nodes"):
        wish = {"weight": 1, "preference": {"matchExpressions": [
            {"key": "kubernetes.io/hostname", "operator": "Exists"}]}}
        change(cluster, nodeAffinity={"preferredDuringSchedulingIgnoredDuringExecution": [wish]})
        cluster.wait("the template", lambda: "nodeAffinity" in pod_spec(cluster)["affinity"], 60)
        change(cluster, nodeAffinity=None)
        cluster.wait("the template without", lambda: "nodeAffinity" not in pod_spec(
            cluster)["affinity"], 60)
        cluster.wait("no runtime has it", lambda: len(runtimes(cluster)) == 3 and not any(
            "nodeAffinity" in each["spec"]["affinity"] for each in runtimes(cluster)), 240)
        sample_sets.wait_ready(cluster, MENDED, partitions=3)
        reads(cluster, MENDED, wanted)


def missing_driver(cluster):
    name = "without-metaurl"
    with cluster.step("a set without a metaurl says that clusters have no driver for its engine"):
        cluster.apply([{"apiVersion": sample_sets.API, "kind": "SampleSet",
                        "metadata": {"name": name},
                        "spec": {"partitions": 1, "source": {"uri": "s3://samples/images"}}}],
                      SYSTEM)

        def says():
            found = sample_sets.condition(cluster, name, "Ready")
            return found if found and found["reason"] == "CSIDriverMissing" else None
        said = cluster.wait("a condition", says, 60)
        cluster.note(said["message"])
        expect("samplefs.csi.paddlepaddle.org" in said["message"], "it does not name the driver")
        expect("metaurl" in said["message"], "it does not say the way out")
        expect(not cluster.get("statefulset", f"{name}-runtime", SYSTEM), "runtimes that hang")
        sample_sets.delete(cluster, name)


def forbidden_labels(cluster):
    with cluster.step("a rule of the cluster forbids the label: the set names it, and goes on"):
        cluster.apply(rule())
        cluster.kubectl("label", "nodes", "--all", f"paddlepaddle.org/juicefs-{MENDED}-")
        said = cluster.wait("a condition", lambda: refused(cluster), 90)
        cluster.note(said["message"])
        expect(RULE in said["message"], "it does not name the rule")
        # The data are where they were, and a job that runs there is not held back for ever.
        expect(cluster.get("sampleset", MENDED, SYSTEM)["status"]["runtimeStatus"]["runtimeReady"]
               == "3/3", "its runtimes are gone")
    with cluster.step("the rule is taken away: labels are back, and the condition is gone"):
        cluster.kubectl("delete", "validatingadmissionpolicybindings,validatingadmissionpolicies",
                        RULE)
        cluster.wait("three labels", lambda: sorted(
            sample_sets.labelled(cluster, MENDED).values()) == [0, 1, 2], 120)
        cluster.wait("no condition", lambda: not refused(cluster), 120)
        sample_sets.wait_ready(cluster, MENDED, partitions=3)


def rule():
    """The operator may not add labels of ours to nodes."""
    mine = "object.metadata.labels.exists(k, k.startsWith('paddlepaddle.org/juicefs-'))"
    return [
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
         "metadata": {"name": RULE},
         "spec": {"failurePolicy": "Fail",
                  "matchConstraints": {"resourceRules": [
                      {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"],
                       "resources": ["nodes"]}]},
                  "matchConditions": [{"name": "ours", "expression":
                                       f"request.userInfo.username.startsWith("
                                       f"'system:serviceaccount:{SYSTEM}:')"}],
                  "validations": [{"expression": f"!{mine}",
                                   "message": "no labels of data sets"}]}},
        {"apiVersion": "admissionregistration.k8s.io/v1",
         "kind": "ValidatingAdmissionPolicyBinding",
         "metadata": {"name": RULE},
         "spec": {"policyName": RULE, "validationActions": ["Deny"]}}]


def refused(cluster):
    found = sample_sets.condition(cluster, MENDED, "Degraded")
    return found if found and found["reason"] == "ActionRefused" else None


def change(cluster, **spec):
    cluster.kubectl("-n", SYSTEM, "patch", "sampleset", MENDED, "--type=merge", "-p",
                    json.dumps({"spec": spec}))


def up_to_date(cluster):
    found = cluster.get("sampleset", MENDED, SYSTEM)
    return found["status"].get("observedGeneration") == found["metadata"]["generation"]


def pod_spec(cluster):
    """Of the runtimes to come."""
    return cluster.get("statefulset", f"{MENDED}-runtime", SYSTEM)["spec"]["template"]["spec"]


def runtimes(cluster):
    found = [cluster.get("pod", f"{MENDED}-runtime-{index}", SYSTEM) for index in range(3)]
    return [each for each in found if each and "deletionTimestamp" not in each["metadata"]]


def keys_tolerated(pod):
    return {each.get("key") for each in pod["spec"].get("tolerations", [])}
