# SPDX-License-Identifier: Apache-2.0
"""Gangs with the real Volcano: a job waits as a whole until all of it fits."""
from paddle_tools.e2e import jobs, manager, simulated_set
from paddle_tools.e2e.cluster import SYSTEM, expect

WITH = ("volcano",)


def gang(name, workers, cpu, script, **spec):
    pod = jobs.shell_pod(script, restartPolicy="Never")
    pod["containers"][0]["resources"] = {"requests": {"cpu": cpu, "memory": "16Mi"}}
    return jobs.paddle_job(name, {"worker": (workers, pod)},
                           schedulingPolicy={"queue": "default"}, **spec)


def phases(cluster, name):
    return sorted(pod["status"]["phase"] for pod in jobs.pods(cluster, name).values())


def group(cluster, name):
    return cluster.get("podgroups.scheduling.volcano.sh", name, SYSTEM)


def run(cluster):
    with manager.with_args(cluster, "--scheduling=volcano"):
        with cluster.step("a job of 2 workers is one group, scheduled by Volcano"):
            cluster.apply([gang("first", 2, "1200m", "sleep 600")], SYSTEM)
            cluster.wait_phase("pdj", "first", "Running", SYSTEM)
            found = group(cluster, "first")
            expect(found["spec"]["minMember"] == 2 and found["spec"]["queue"] == "default"
                   and found["spec"]["minResources"]["cpu"] == "2400m",
                   f"its group: {found['spec']}")
            for pod in jobs.pods(cluster, "first").values():
                expect(pod["spec"]["schedulerName"] == "volcano", "a pod has another scheduler")
        with cluster.step("a job that does not fit as a whole binds no pod, and says why it waits"):
            cluster.apply([gang("second", 3, "1200m", "sleep 5")], SYSTEM)
            cluster.wait("its group", lambda: group(cluster, "second"))
            said = cluster.wait("a reason", lambda: jobs.condition(cluster, "second", "Ready"))
            cluster.note(said["message"])
            for _ in range(20):
                bound = [pod for pod in jobs.pods(cluster, "second").values()
                         if pod["spec"].get("nodeName")]
                expect(not bound, "a part of the gang was bound")
            expect(phases(cluster, "first") == ["Running"] * 2, "the first job was disturbed")
        with cluster.step("when the first goes, the second runs and completes"):
            jobs.delete(cluster, "first")
            cluster.wait_phase("pdj", "second", "Completed", SYSTEM, limit=120)
            expect(group(cluster, "first") is None, "the first job's group is still there")
            jobs.delete(cluster, "second")
            cluster.wait("its group is gone", lambda: group(cluster, "second") is None)
        suspended(cluster)
        without_its_data(cluster)


def suspended(cluster):
    with cluster.step("a suspended gang gives its room to another, and runs again later"):
        cluster.apply([gang("rests", 3, "1200m", "sleep 600")], SYSTEM)
        cluster.wait_phase("pdj", "rests", "Running", SYSTEM)
        jobs.suspend(cluster, "rests", True)
        cluster.wait_phase("pdj", "rests", "Suspended", SYSTEM)
        cluster.wait("no pod is left", lambda: not jobs.pods(cluster, "rests"))
        cluster.apply([gang("instead", 3, "1200m", "sleep 8")], SYSTEM)
        cluster.wait_phase("pdj", "instead", "Running", SYSTEM, limit=90)
        jobs.suspend(cluster, "rests", False)
        cluster.wait_phase("pdj", "instead", "Completed", SYSTEM, limit=90)
        cluster.wait_phase("pdj", "rests", "Running", SYSTEM, limit=120)
        expect(phases(cluster, "rests") == ["Running"] * 3, f"its pods: {phases(cluster, 'rests')}")
        for name in ("rests", "instead"):
            jobs.delete(cluster, name)


def without_its_data(cluster):
    """Its data set is one whose warmth the scenario of the data gate says."""
    with simulated_set.create(cluster):
        with cluster.step("a gang that waits for its data alone takes no room from others"):
            simulated_set.warm(cluster, 10, 10)
            cluster.apply([gang("patient", 3, "1200m", "sleep 5", sampleSetRef={
                "name": simulated_set.SET, "mountPath": "/samples", "affinity": "preferred",
                "gate": {"warmPercent": 80}})], SYSTEM)
            cluster.wait("its gated pods",
                         lambda: len(simulated_set.gated(cluster, "patient")) == 3)
            expect("minResources" not in group(cluster, "patient")["spec"],
                   "its group asks for room")
            cluster.apply([gang("ahead", 3, "1200m", "sleep 5")], SYSTEM)
            cluster.wait_phase("pdj", "ahead", "Completed", SYSTEM, limit=120)
            expect(len(simulated_set.gated(cluster, "patient")) == 3,
                   "it did not wait for its data")
        with cluster.step("when they are there, it asks for all of it, and runs"):
            simulated_set.warm(cluster, 100, 100)
            cluster.wait("its group asks", lambda: group(cluster, "patient")["spec"].get(
                "minResources", {}).get("cpu") == "3600m")
            cluster.wait_phase("pdj", "patient", "Completed", SYSTEM, limit=120)
            for name in ("patient", "ahead"):
                jobs.delete(cluster, name)
