# SPDX-License-Identifier: Apache-2.0
"""The overlays of config/ applied as documented: gangs of Volcano, elastic jobs over etcd."""
from paddle_tools.e2e import jobs
from paddle_tools.e2e.cluster import SYSTEM, TOP, expect
from paddle_tools.e2e.paddle_pod import training_pod

WITH = ("volcano",)
COMPONENTS = ("paddlepaddle",)
IMAGES = ("paddle-e2e", "etcd-e2e")
OVERLAYS = TOP / "config/overlays"
ETCD = TOP / "deploy/elastic/etcd.yaml"
ETCD_IMAGE = "quay.io/coreos/etcd:v3.5.21"
MANAGER = "paddle-controller-manager"
ELASTIC = "--etcd-server=paddle-elastic-etcd.paddle-system.svc.cluster.local:2379"


def run(cluster):
    with cluster.step("images on every node, etcd under the name that its file has"):
        cluster.load(*IMAGES)
        cluster.tag_image("etcd-e2e:v1", ETCD_IMAGE)
        expect(f"image: {ETCD_IMAGE}\n" in ETCD.read_text(), f"{ETCD} names another image")
    with_volcano(cluster)
    with_etcd(cluster)
    with cluster.step("deploy/v1/operator.yaml takes both back"):
        cluster.apply(TOP / "deploy/v1/operator.yaml")
        rolled_out(cluster)
        expect(not {"--scheduling=volcano", ELASTIC} & set(args(cluster)), f"{args(cluster)}")
        cluster.kubectl("delete", "-f", ETCD)


def args(cluster):
    return cluster.get("deployment", MANAGER, SYSTEM)["spec"]["template"]["spec"]["containers"][0][
        "args"]


def rolled_out(cluster):
    cluster.kubectl("-n", SYSTEM, "rollout", "status", f"deployment/{MANAGER}", "--timeout=90s",
                    limit=120)


def with_volcano(cluster):
    name = "overlaid-gang"
    with cluster.step("kubectl apply -k config/overlays/volcano: a job is a gang of Volcano's"):
        cluster.kubectl("apply", "-k", OVERLAYS / "volcano")
        rolled_out(cluster)
        expect("--scheduling=volcano" in args(cluster), f"the manager has {args(cluster)}")
        cluster.apply([jobs.paddle_job(name, {"worker": (2, jobs.shell_pod(
            "sleep 3600", restartPolicy="Never"))})], SYSTEM)
        cluster.wait_phase("pdj", name, "Running", SYSTEM, 120)
        # A job that ended has no group, so it must be looked at while the job runs.
        group = cluster.get("podgroups.scheduling.volcano.sh", name, SYSTEM)
        expect(group and group["spec"]["minMember"] == 2, f"its group: {group}")
        for pod in jobs.pods(cluster, name).values():
            expect(pod["spec"]["schedulerName"] == "volcano", "a pod has another scheduler")
        jobs.delete(cluster, name)


def with_etcd(cluster):
    name = "overlaid-elastic"
    with cluster.step("kubectl apply -f etcd.yaml, -k config/overlays/elastic: both roll out"):
        cluster.apply(ETCD)
        cluster.kubectl("apply", "-k", OVERLAYS / "elastic")
        cluster.kubectl("-n", SYSTEM, "rollout", "status", "deployment/paddle-elastic-etcd",
                        "--timeout=60s", limit=90)
        rolled_out(cluster)
        found = args(cluster)
        expect(ELASTIC in found and "--scheduling=volcano" not in found, f"it has {found}")
    with cluster.step("an elastic job of two workers trains over that etcd"):
        pod = training_pod(["/usr/bin/python3", "-m", "paddle.distributed.launch",
                            "--log_dir=/tmp/launch", "/examples/collective/train.py",
                            "--steps=60"],
                           env={"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"},
                           restartPolicy="OnFailure")
        job = jobs.paddle_job(name, {"worker": (2, pod)}, elastic=1)
        job["spec"]["worker"].update(requests=1, limits=3)
        cluster.apply([job], SYSTEM)
        cluster.wait_phase("pdj", name, "Completed", SYSTEM, limit=300)
        done = jobs.reports(cluster, f"{name}-worker-0")[-1]
        expect(done["event"] == "done" and done["ranks"] == 2, f"its end: {done}")
        told = {each["name"]: each.get("value") for each in jobs.pods(cluster, name)[
            f"{name}-worker-0"]["spec"]["containers"][0]["env"]}
        cluster.note(f"etcd: {told.get('PADDLE_ELASTIC_SERVER')}")
        jobs.delete(cluster, name)
