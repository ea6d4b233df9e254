# SPDX-License-Identifier: Apache-2.0
"""What users decide about a job: edited templates, crash loops, failed gangs, policies."""
import json

from paddle_tools.e2e import jobs
from paddle_tools.e2e.cluster import SYSTEM, expect

FOREVER = "echo hello; trap 'exit 0' TERM; while :; do sleep 0.2; done"


def run(cluster):
    edited_before_the_start(cluster)
    edited_while_it_runs(cluster)
    crash_loop(cluster)
    failed_gang(cluster)
    exit_codes(cluster)
    chief_succeeds(cluster)
    defaults_of_the_namespace(cluster)


def status(cluster, name):
    return (cluster.get("pdj", name, SYSTEM) or {}).get("status", {})


def set_image(cluster, name, image):
    cluster.kubectl("-n", SYSTEM, "patch", "pdj", name, "--type=json", "-p", json.dumps([{
        "op": "replace", "path": "/spec/worker/template/spec/containers/0/image",
        "value": image}]))


def set_script(cluster, name, script):
    cluster.kubectl("-n", SYSTEM, "patch", "pdj", name, "--type=json", "-p", json.dumps([{
        "op": "replace", "path": "/spec/worker/template/spec/containers/0/command",
        "value": ["sh", "-c", script]}]))


def edited_before_the_start(cluster):
    name = "typo"
    with cluster.step("the image has a typing error: corrected, the job runs"):
        pod = jobs.shell_pod("sleep 1")
        pod["containers"][0]["image"] = "busybox:none-such"
        cluster.apply([jobs.paddle_job(name, {"worker": (2, pod)})], SYSTEM)
        cluster.wait("the image is not found", lambda: "mage" in (
            jobs.condition(cluster, name, "Ready") or {}).get("reason", ""), 60)
        set_image(cluster, name, "busybox:1.35")
        cluster.wait_phase("pdj", name, "Completed", SYSTEM, limit=90)
        expect(status(cluster, name).get("failures", 0) == 0, "the edit counts as a failure")
        jobs.delete(cluster, name)


def edited_while_it_runs(cluster):
    name = "edited"
    with cluster.step("a template is edited while the job runs: told, and done when asked"):
        cluster.apply([jobs.paddle_job(name, {"worker": (2, jobs.shell_pod(FOREVER))})], SYSTEM)
        cluster.wait_phase("pdj", name, "Running", SYSTEM, limit=60)
        before = {pod["metadata"]["uid"] for pod in jobs.pods(cluster, name).values()}
        set_script(cluster, name, "exit 0")
        told = cluster.wait("the condition", lambda: jobs.condition(
            cluster, name, "UpdatePending"))
        cluster.note(told["message"])
        now = {pod["metadata"]["uid"] for pod in jobs.pods(cluster, name).values()}
        expect(now == before, "pods were replaced before anyone asked")
        cluster.kubectl("-n", SYSTEM, "annotate", "pdj", name,
                        "batch.paddlepaddle.org/restart=now")
        cluster.wait_phase("pdj", name, "Completed", SYSTEM, limit=90)
        jobs.delete(cluster, name)


def crash_loop(cluster):
    name = "crashing"
    with cluster.step("a worker that is restarted in place: not Ready, and backoffLimit ends it"):
        script = f'[ "$PADDLE_TRAINER_ID" = 0 ] && sleep 2 && exit 3; {FOREVER}'
        cluster.apply([jobs.paddle_job(name, {"worker": (2, jobs.shell_pod(
            script, restartPolicy="OnFailure"))}, intranet="Service", backoffLimit=2)], SYSTEM)
        cluster.wait("it is not Ready", lambda: (
            found := jobs.condition(cluster, name, "Ready")) and found["status"] == "False"
            and found["reason"] in ("CrashLoopBackOff", "ContainerFailed"), 90)
        cluster.wait_phase("pdj", name, "Failed", SYSTEM, limit=180)
        failed = jobs.condition(cluster, name, "Failed")
        expect(failed["reason"] == "BackoffLimitExceeded", f"another reason: {failed}")
        cluster.note(failed["message"])
        wide = cluster.kubectl("-n", SYSTEM, "get", "pdj", name, "-o", "wide")
        expect("READY" in wide and "RESTARTS" in wide and "REASON" in wide, wide)
        jobs.delete(cluster, name)


def failed_gang(cluster):
    name = "gang"
    with cluster.step("a worker fails: its peers are stopped, and their logs stay"):
        script = f'[ "$PADDLE_TRAINER_ID" = 0 ] && sleep 3 && exit 7; {FOREVER}'
        cluster.apply([jobs.paddle_job(name, {"worker": (2, jobs.shell_pod(script))})], SYSTEM)
        # With leases that are renewed every three seconds, as in this bed, it takes 90 s until it
        # is clear that the peer's node was not down.
        cluster.wait_phase("pdj", name, "Failed", SYSTEM, limit=150)
        cluster.wait("the peer has ended", lambda: jobs.pods(cluster, name)[f"{name}-worker-1"][
            "status"]["phase"] in ("Failed", "Succeeded"), 60)
        log = cluster.kubectl("-n", SYSTEM, "logs", f"{name}-worker-1")
        expect("hello" in log, f"the log of the stopped peer is gone: {log}")
        jobs.delete(cluster, name)


def exit_codes(cluster):
    name = "picky"
    with cluster.step("failurePolicy: an exit code ends the job in spite of its backoffLimit"):
        rules = [{"action": "Fail", "onExitCodes": {"operator": "In", "values": [42]}}]
        cluster.apply([jobs.paddle_job(name, {"worker": (1, jobs.shell_pod("exit 42"))},
                                       backoffLimit=5, failurePolicy={"rules": rules})], SYSTEM)
        cluster.wait_phase("pdj", name, "Failed", SYSTEM, limit=60)
        failed = jobs.condition(cluster, name, "Failed")
        expect(failed["reason"] == "FailurePolicy", f"it failed for another reason: {failed}")
        jobs.delete(cluster, name)


def chief_succeeds(cluster):
    name = "chief"
    with cluster.step("successPolicy: the end of worker 0 completes the job"):
        script = f'[ "$PADDLE_TRAINER_ID" = 0 ] && sleep 2 && exit 0; {FOREVER}'
        cluster.apply([jobs.paddle_job(name, {"worker": (2, jobs.shell_pod(script))},
                                       successPolicy="Chief")], SYSTEM)
        cluster.wait_phase("pdj", name, "Completed", SYSTEM, limit=60)
        jobs.delete(cluster, name)


def defaults_of_the_namespace(cluster):
    name = "short"
    with cluster.step("a ConfigMap of the namespace gives pods what all of them have in common"):
        template = {"spec": {"containers": [{"name": "*", "env": [
            {"name": "GREETING", "value": "hello"}]}]}}
        cluster.apply([{"apiVersion": "v1", "kind": "ConfigMap",
                        "metadata": {"name": "paddle-job-defaults"},
                        "data": {"template": json.dumps(template)}}], SYSTEM)
        try:
            cluster.apply([jobs.paddle_job(name, {"worker": (1, jobs.shell_pod(
                '[ "$GREETING" = hello ]'))})], SYSTEM)
            cluster.wait_phase("pdj", name, "Completed", SYSTEM, limit=60)
            jobs.delete(cluster, name)
        finally:
            cluster.kubectl("-n", SYSTEM, "delete", "configmap", "paddle-job-defaults")
