# SPDX-License-Identifier: Apache-2.0
"""A SampleSet with the longest name there may be, and what users mend: its claim, its source, a rule.

Each time the set comes back by itself, and a worker reads the source's bytes.
"""
import json

import jobs
import juicefs
import sample_sets
from cluster import SYSTEM, expect

WITH = sample_sets.WITH
IMAGES = sample_sets.IMAGES
LONG = "a-data-set-with-a-name-of-44-characters-long"
MENDED = "mended"
RULE = "e2e-no-labels"


def run(cluster):
    with sample_sets.canary(cluster):
        deleted_claim(cluster, long_name(cluster))
        corrected_source(cluster)
        forbidden_labels(cluster)
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
    with cluster.step("its runtime goes, and the claim with it: both are made anew, and bound"):
        cluster.kubectl("-n", SYSTEM, "delete", "pod", f"{LONG}-runtime-0", "--wait=false")

        def bound_again():
            claim = cluster.get("pvc", LONG, SYSTEM)
            return claim and claim["metadata"]["uid"] != before and claim["status"]["phase"] == "Bound"
        cluster.wait("another claim, bound", bound_again, 120)
        cluster.wait("the runtime", lambda: juicefs.ready(cluster, f"{LONG}-runtime-0", ns=SYSTEM), 120)
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


def forbidden_labels(cluster):
    with cluster.step("a rule of the cluster forbids another label: the set says who refuses, and goes on"):
        cluster.apply(rule())
        cluster.kubectl("label", "nodes", "--all", f"paddlepaddle.org/juicefs-{MENDED}-")
        said = cluster.wait("a condition", lambda: refused(cluster), 90)
        cluster.note(said["message"])
        expect(RULE in said["message"], "it does not name the rule")
        # The data are where they were, and a job that runs there is not held back for ever.
        expect(cluster.get("sampleset", MENDED, SYSTEM)["status"]["runtimeStatus"]["runtimeReady"]
               == "3/3", "its runtimes are gone")
    with cluster.step("the rule is taken away: labels are back, and the condition is gone"):
        cluster.kubectl("delete", "validatingadmissionpolicybindings,validatingadmissionpolicies", RULE)
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
                  "validations": [{"expression": f"!{mine}", "message": "no labels of data sets"}]}},
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
         "metadata": {"name": RULE},
         "spec": {"policyName": RULE, "validationActions": ["Deny"]}}]


def refused(cluster):
    found = sample_sets.condition(cluster, MENDED, "Degraded")
    return found if found and found["reason"] == "ActionRefused" else None
