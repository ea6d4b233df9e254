# SPDX-License-Identifier: Apache-2.0
"""Collective training over Services and the host network; the environment of heter trainers."""
from paddle_tools.e2e import jobs
from paddle_tools.e2e.cluster import SYSTEM, expect
from paddle_tools.e2e.paddle_pod import training_pod

COMPONENTS = ("paddlepaddle",)
IMAGES = ("paddle-e2e",)
TELL = "env | grep -E '^(PADDLE|TRAINER|TRAINING|POD_IP|GLOO)' | sort"


def run(cluster):
    with cluster.step("the training image on every node"):
        cluster.load("paddle-e2e")
    for intranet in ("Service", "Host"):
        collective(cluster, intranet)
    heterogeneous(cluster)
    pulled_in_vain(cluster)


def collective(cluster, intranet):
    name = f"collective-{intranet.lower()}"
    with cluster.step(f"two Collective workers over {intranet}: the loss falls, the weights agree"):
        pod = training_pod(["/usr/bin/python3", "-m", "paddle.distributed.launch",
                            "--log_dir=/tmp/launch", "/examples/collective/train.py"])
        cluster.apply([jobs.paddle_job(name, {"worker": (2, pod)}, intranet=intranet)], SYSTEM)
        cluster.wait_phase("pdj", name, "Completed", SYSTEM, limit=300)
        told = [jobs.reports(cluster, f"{name}-worker-{rank}") for rank in (0, 1)]
        for each in told:
            losses = [report["loss"] for report in each if report["event"] == "step"]
            expect(losses[-1] < 0.5 * losses[0], f"the loss did not fall: {losses}")
        expect(told[0][-1]["weights"] == told[1][-1]["weights"], "the workers' weights differ")
        jobs.delete(cluster, name)


def heterogeneous(cluster):
    name = "heter"
    with cluster.step("servers, workers and heter trainers start in order and know each other"):
        pod = jobs.shell_pod(f"{TELL}; exec sleep 600")
        roles = {"ps": (1, pod), "worker": (2, pod), "heter": (1, pod)}
        cluster.apply([jobs.paddle_job(name, roles, withGloo=2)], SYSTEM)
        cluster.wait_phase("pdj", name, "Running", SYSTEM, limit=120)
        found = jobs.pods(cluster, name)
        address = {pod: each["status"]["podIP"] for pod, each in found.items()}
        server, trainer = address[f"{name}-ps-0"], address[f"{name}-heter-0"]
        for pod in (f"{name}-ps-0", f"{name}-worker-0", f"{name}-worker-1", f"{name}-heter-0"):
            lines = cluster.kubectl("-n", SYSTEM, "logs", pod).splitlines()
            env = dict(line.split("=", 1) for line in lines if "=" in line)
            port = env["PADDLE_PORT"]
            wanted = {"PADDLE_PSERVERS_IP_PORT_LIST": f"{server}:{port}",
                      "PADDLE_HETER_TRAINER_IP_PORT_LIST": f"{trainer}:{port}",
                      "PADDLE_HETER_TRAINER_DEVICE": "cpu", "PADDLE_WITH_GLOO": "2",
                      "PADDLE_GLOO_HTTP_ENDPOINT": f"{server}:{int(port) + 18}",
                      "PADDLE_TRAINERS_NUM": "2", "POD_IP": address[pod]}
            wrong = {key: env.get(key) for key, value in wanted.items() if env.get(key) != value}
            expect(not wrong, f"{pod} was told {wrong}, not {wanted}")
        jobs.delete(cluster, name)


def pulled_in_vain(cluster):
    name = "no-image"
    with cluster.step("an image that is not there is named in the job's condition"):
        pod = jobs.shell_pod("true")
        pod["containers"][0]["image"] = "localhost/nowhere:v0"
        cluster.apply([jobs.paddle_job(name, {"worker": (1, pod)})], SYSTEM)

        def said():
            ready = jobs.condition(cluster, name, "Ready")
            return ready and ready["reason"] == "ImagePullBackOff" and name in ready["message"]

        cluster.wait("the condition says so", said, 120)
        jobs.delete(cluster, name)
