# SPDX-License-Identifier: Apache-2.0
"""Jobs whose pods die: a killed worker, a lost node, a failing program; each ends as documented."""
import shutil

from paddle_tools.e2e import jobs
from paddle_tools.e2e.cluster import SYSTEM, TOP, expect
from paddle_tools.e2e.paddle_pod import training_pod

COMPONENTS = ("paddlepaddle",)
IMAGES = ("paddle-e2e",)


def run(cluster):
    with cluster.step("the training image on every node"):
        cluster.load("paddle-e2e")
    killed_worker(cluster)
    lost_node(cluster)
    rebooted_node(cluster)
    finished_worker(cluster)
    failing_program(cluster)
    suspended(cluster)


def training(name, **spec):
    """Saves to a directory of the machine, which all nodes share."""
    pod = training_pod(["/usr/bin/python3", "-m", "paddle.distributed.launch",
                        "--log_dir=/tmp/launch", "/examples/collective/train.py", "--steps=300",
                        "--pause=0.1", "--checkpoint=/saved"])
    saved = TOP / "build" / "e2e-saved" / name
    shutil.rmtree(saved, ignore_errors=True)
    saved.mkdir(parents=True)
    pod["volumes"].append({"name": "saved", "hostPath": {"path": str(saved), "type": "Directory"}})
    pod["containers"][0]["volumeMounts"].append({"name": "saved", "mountPath": "/saved"})
    return jobs.paddle_job(name, {"worker": (2, pod)}, **spec)


def steps_done(cluster, pod):
    return [each["step"] for each in jobs.reports(cluster, pod) if each["event"] == "step"]


def epoch(cluster, name):
    return cluster.get("pdj", name, SYSTEM)["status"].get("epoch", 0)


def killed_worker(cluster):
    name = "killed"
    with cluster.step("a worker's process is killed: with backoffLimit the job goes on"):
        cluster.apply([training(name, backoffLimit=2)], SYSTEM)
        cluster.wait("some steps are done",
                     lambda: len(steps_done(cluster, f"{name}-worker-0")) > 2,
                     120)
        cluster.kubectl("-n", SYSTEM, "exec", f"{name}-worker-1", "-c", "train", "--", "sh", "-c",
                        "for each in /proc/[0-9]*; do "
                        "grep -q [c]ollective/train.py $each/cmdline && "
                        "kill -9 ${each#/proc/}; done; true")  # pid 1 cannot be killed
        cluster.wait("another epoch", lambda: epoch(cluster, name) == 1)
        cluster.wait_phase("pdj", name, "Completed", SYSTEM, limit=180)
        status = cluster.get("pdj", name, SYSTEM)["status"]
        expect(status["failures"] == 1, f"counted {status.get('failures')} failures")
        first = steps_done(cluster, f"{name}-worker-0")[0]
        expect(first > 1, f"the second start began at step {first}: nothing was saved")
        cluster.note(f"went on at step {first}")
        jobs.delete(cluster, name)


def lost_node(cluster):
    name = "lost"
    with cluster.step("a worker's node is switched off: retried elsewhere, not the user's failure"):
        cluster.apply([training(name)], SYSTEM)
        cluster.wait("some steps are done",
                     lambda: len(steps_done(cluster, f"{name}-worker-0")) > 2,
                     120)
        node = away_from_the_manager(cluster, name)
        cluster.testbed("node-kill", node)
        try:
            cluster.wait("another epoch", lambda: epoch(cluster, name) >= 1, 120)
            cluster.wait_phase("pdj", name, "Completed", SYSTEM, limit=240)
        finally:
            cluster.testbed("node-start", node)
        status = cluster.get("pdj", name, SYSTEM)["status"]
        expect(status.get("failures", 0) == 0, f"counted against the user: {status}")
        expect(status.get("disruptions", 0) >= 1, f"no disruption was counted: {status}")
        used = {pod["spec"]["nodeName"] for pod in jobs.pods(cluster, name).values()}
        expect(node not in used, f"a pod is on {node}, which was off")
        all_nodes_ready(cluster)
        jobs.delete(cluster, name)


def rebooted_node(cluster):
    name = "rebooted"
    with cluster.step("a worker's node reboots at once: retried, not the user's failure either"):
        cluster.apply([training(name)], SYSTEM)
        cluster.wait("some steps are done",
                     lambda: len(steps_done(cluster, f"{name}-worker-0")) > 2,
                     120)
        node = away_from_the_manager(cluster, name)
        cluster.testbed("node-kill", node)
        cluster.testbed("node-start", node)
        cluster.wait("another epoch", lambda: epoch(cluster, name) >= 1, 180)
        cluster.wait_phase("pdj", name, "Completed", SYSTEM, limit=240)
        status = cluster.get("pdj", name, SYSTEM)["status"]
        cluster.note(f"epoch {status['epoch']}, {status.get('disruptions', 0)} disruptions")
        expect(status.get("failures", 0) == 0, f"counted against the user: {status}")
        expect(status.get("disruptions", 0) >= 1, f"no disruption was counted: {status}")
        all_nodes_ready(cluster)
        jobs.delete(cluster, name)


def away_from_the_manager(cluster, name):
    """A node with a worker of the job that can be switched off."""
    managers = {each["spec"]["nodeName"] for each in cluster.list(
        "pods", SYSTEM, "control-plane=controller-manager")}
    node = next((pod["spec"]["nodeName"] for pod in jobs.pods(cluster, name).values()
                 if pod["spec"]["nodeName"] not in managers), None)
    expect(node, "every worker is beside the manager: nothing can be switched off")
    return node


def all_nodes_ready(cluster):
    cluster.wait("all nodes are Ready", lambda: all(
        any(each["type"] == "Ready" and each["status"] == "True"
            for each in found["status"]["conditions"])
        for found in cluster.list("nodes", ns=None)))


def finished_worker(cluster):
    for intranet in ("PodIP", "Service"):
        name = f"ends-{intranet.lower()}"
        with cluster.step(f"a worker is done, its pod is deleted: the others go on ({intranet})"):
            one_ends_first(cluster, name, intranet)
            jobs.delete(cluster, name)


def one_ends_first(cluster, name, intranet):
    first, second = f"{name}-worker-0", f"{name}-worker-1"
    script = ('[ "$PADDLE_TRAINER_ID" = 0 ] && exit 0; '
              "until [ -e /tmp/end ]; do sleep 0.2; done; exit 0")
    cluster.apply([jobs.paddle_job(name, {"worker": (2, jobs.shell_pod(
        script, restartPolicy="Never"))}, intranet=intranet)], SYSTEM)

    def workers():
        return cluster.get("pdj", name, SYSTEM)["status"].get("worker", {})

    cluster.wait_phase("pdj", name, "Running", SYSTEM)
    cluster.wait("the status says that worker 0 is done",
                 lambda: workers().get("completedIndexes") == "0")
    before = jobs.pods(cluster, name)[second]["metadata"]["uid"]
    cluster.kubectl("-n", SYSTEM, "delete", "pod", first)
    cluster.wait("the status names only the pod that is left",
                 lambda: [each["name"] for each in workers().get("refs", [])] == [second])
    left = jobs.pods(cluster, name)
    expect(sorted(left) == [second], f"there are {sorted(left)}")
    expect(left[second]["metadata"]["uid"] == before, "worker 1 was started over")
    expect(cluster.get("pdj", name, SYSTEM)["status"]["phase"] == "Running", "it does not run on")
    cluster.kubectl("-n", SYSTEM, "exec", second, "-c", "main", "--", "touch", "/tmp/end")
    cluster.wait_phase("pdj", name, "Completed", SYSTEM)
    status = cluster.get("pdj", name, SYSTEM)["status"]
    expect(status.get("epoch", 0) == 0 and status.get("disruptions", 0) == 0,
           f"it was restarted: {status}")
    expect(status["worker"].get("succeeded") == 2, f"counted {status['worker']}")


def failing_program(cluster):
    with cluster.step("a program that fails: the job fails at once, and says where to look"):
        cluster.apply([jobs.paddle_job("wrong", {"worker": (2, jobs.shell_pod("exit 3",
                                       restartPolicy="Never"))})], SYSTEM)
        cluster.wait_phase("pdj", "wrong", "Failed", SYSTEM, never=())
        said = jobs.condition(cluster, "wrong", "Failed")["message"]
        expect("exit code 3" in said and "kubectl logs" in said, f"it says: {said}")
        jobs.delete(cluster, "wrong")
    with cluster.step("with backoffLimit: 1 it is tried twice"):
        cluster.apply([jobs.paddle_job("twice", {"worker": (1, jobs.shell_pod(
            "exit 3", restartPolicy="Never"))}, backoffLimit=1)], SYSTEM)
        cluster.wait_phase("pdj", "twice", "Failed", SYSTEM, never=(), limit=90)
        expect(epoch(cluster, "twice") == 1, f"it was started {epoch(cluster, 'twice') + 1} times")
        jobs.delete(cluster, "twice")


def suspended(cluster):
    name = "rests"
    with cluster.step("suspend takes the pods away, resume brings them back"):
        cluster.apply([jobs.paddle_job(name, {"worker": (2, jobs.shell_pod("sleep 600"))})], SYSTEM)
        cluster.wait_phase("pdj", name, "Running", SYSTEM)
        jobs.suspend(cluster, name, True)
        cluster.wait("no pod is left", lambda: not jobs.pods(cluster, name))
        jobs.suspend(cluster, name, False)
        cluster.wait("two pods run", lambda: [pod["status"]["phase"] for pod in jobs.pods(
            cluster, name).values()] == ["Running"] * 2)
    with cluster.step("kubectl scale changes the number of workers"):
        cluster.kubectl("-n", SYSTEM, "scale", "pdj", name, "--replicas=1")
        cluster.wait("one pod is left", lambda: [pod["status"]["phase"] for pod in jobs.pods(
            cluster, name).values()] == ["Running"])
        jobs.delete(cluster, name)
