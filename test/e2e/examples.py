# SPDX-License-Identifier: Apache-2.0
"""Applies every file of deploy/examples, elastic and heter as it is, and looks at its result.

Images of ours, with PaddlePaddle for CPUs, have the names in the files, and nodes advertise GPUs
that are not there. The stores that files name are servers on the cluster's host. A file without a
check, and an image that nothing stands for, fail the scenario.
"""
import json

from paddle_tools.e2e import example_files, jobs, juicefs, manager, public_stores, sample_sets
from paddle_tools.e2e.cluster import SYSTEM, expect
from paddle_tools.e2e.daemons import Daemons
from paddle_tools.e2e.example_files import apply
from paddle_tools.e2e.nfs_directory import shared

WITH = (*sample_sets.WITH, "volcano")
COMPONENTS = ("paddlepaddle", "versitygw")
IMAGES = (*sample_sets.IMAGES, *example_files.NEEDED)
PICTURES = 24
LIMIT = 300  # seconds, for one job
CHECKPOINTS = "/tmp/checkpoint"  # of elastic/resnet.yaml, on the machine: nodes share its /tmp


def run(cluster):
    files = example_files.all_files()
    wrong = set(files) ^ {name for group in GROUPS for name in group}
    expect(not wrong, f"files without a check, or checks without a file: {sorted(wrong)}")
    with cluster.step("images under the names in the files, GPUs and XPUs on every node"):
        example_files.load_images(cluster)
        example_files.advertise_devices(cluster)
    run_group(cluster, files, ON_THEIR_OWN)
    with_volcano(cluster, files)
    with_etcd(cluster, files)
    with_nfs(cluster, files)
    with cluster.step("JuiceFS's CSI driver; images that trust the stores of the files"):
        sample_sets.install_driver(cluster)
    with public_stores.trusted(cluster):
        with_public_bucket(cluster, files)
        with_private_store(cluster, files)
    run_group(cluster, files, ON_ONE_MACHINE)
    example_files.withdraw_devices(cluster)


def run_group(cluster, files, group):
    for name, check in group.items():
        with cluster.step(name):
            check(cluster, name, apply(cluster, files[name]))


# --- jobs alone -----------------------------------------------------------------------------------

def completes(cluster, objects):
    """Waits until the file's job is Completed; returns its name and the logs of its pods but for
    servers, which are stopped then."""
    (name,) = [each["metadata"]["name"] for each in objects if each["kind"] == "PaddleJob"]
    cluster.wait_phase("pdj", name, "Completed", SYSTEM, LIMIT)
    return name, {pod: cluster.kubectl("-n", SYSTEM, "logs", pod)
                  for pod in jobs.pods(cluster, name) if "-ps-" not in pod}


def told(logs):
    """The reports in the logs, by pod."""
    found = {pod: [json.loads(line.partition("RESULT ")[2]) for line in text.splitlines()
                   if line.startswith("RESULT ")] for pod, text in logs.items()}
    return {pod: reports for pod, reports in found.items() if reports}


def checks_itself(cluster, _, objects):
    name, logs = completes(cluster, objects)
    expect(any("Distributed training completed" in text for text in logs.values()),
           f"the self-test printed no result: {[text[-300:] for text in logs.values()]}")
    jobs.delete(cluster, name)


def trains_with_servers(cluster, _, objects):
    """Two servers, two trainers; the loss of both trainers falls."""
    name, logs = completes(cluster, objects)
    ends = [reports[-1] for reports in told(logs).values() if reports[-1].get("event") == "done"]
    expect([(end["mode"], end["ranks"], end["servers"]) for end in ends] == [("PS", 2, 2)] * 2,
           f"its trainers ended with {ends}")
    expect(all(end["last"] < end["first"] for end in ends), f"the loss did not fall: {ends}")
    jobs.delete(cluster, name)


def trains_together(ranks):
    def check(cluster, _, objects):
        name, logs = completes(cluster, objects)
        ends = [reports[-1] for reports in told(logs).values()]
        expect([end.get("ranks") for end in ends] == [ranks] * ranks, f"its workers: {ends}")
        expect(len({end["weights"] for end in ends}) == 1, f"the weights differ: {ends}")
        jobs.delete(cluster, name)
    return check


def trains_on_chosen_nodes(cluster, name, objects):
    node = juicefs.nodes(cluster)[1]
    cluster.kubectl("label", "node", node, "accelerator=nvidia-v100")
    cluster.kubectl("taint", "node", node, "nvidia.com/gpu=present:NoSchedule")
    (job,) = [each["metadata"]["name"] for each in objects]
    cluster.wait_phase("pdj", job, "Completed", SYSTEM, LIMIT)
    places = {pod["spec"]["nodeName"] for pod in jobs.pods(cluster, job).values()}
    expect(places == {node}, f"its pods are on {places}, not on {node}")
    cluster.kubectl("taint", "node", node, "nvidia.com/gpu-")
    cluster.kubectl("label", "node", node, "accelerator-")
    trains_together(2)(cluster, name, objects)


ON_THEIR_OWN = {
    "examples/simple.yaml": checks_itself,
    "examples/wide_and_deep.yaml": trains_with_servers,
    "examples/wide_and_deep_podip.yaml": trains_with_servers,
    "examples/wide_and_deep_service.yaml": trains_with_servers,
    "examples/deepfm.yaml": trains_with_servers,
    "heter/ps.yaml": trains_with_servers,
    "examples/resnet.yaml": trains_together(2),
    "examples/gpu_node_selector.yaml": trains_on_chosen_nodes,
    "heter/collective.yaml": trains_together(3),
}


# --- jobs that need another manager ---------------------------------------------------------------

def is_a_gang(cluster, name, objects):
    (job,) = [each["metadata"]["name"] for each in objects]
    group = cluster.wait("its group", lambda: cluster.get("podgroups.scheduling.volcano.sh", job,
                                                          SYSTEM))
    expect(group["spec"]["minMember"] == 4, f"its group: {group['spec']}")
    trains_with_servers(cluster, name, objects)


WITH_VOLCANO = {"examples/wide_and_deep_volcano.yaml": is_a_gang}


def with_volcano(cluster, files):
    with manager.with_args(cluster, "--scheduling=volcano"):
        run_group(cluster, files, WITH_VOLCANO)


def rolls_out(cluster, _, objects):
    for each in objects:
        if each["kind"] == "Deployment":
            cluster.kubectl("-n", SYSTEM, "rollout", "status",
                            f"deployment/{each['metadata']['name']}", "--timeout=90s", limit=120)


def grows(cluster, _, objects):
    """Three train, then the command in the file's first lines, then four train to the end."""
    (job,) = [each["metadata"]["name"] for each in objects]

    def ranks():
        return jobs.reports(cluster, f"{job}-worker-0")[-1].get("ranks")
    cluster.wait("three ranks", lambda: ranks() == 3, LIMIT)
    cluster.kubectl("-n", SYSTEM, "scale", "pdj", job, "--replicas=4")
    cluster.wait("four ranks", lambda: ranks() == 4, LIMIT)
    name, logs = completes(cluster, objects)
    done = told(logs)[f"{job}-worker-0"][-1]
    expect(done["event"] == "done" and done["agreed"], f"its end: {done}")
    jobs.delete(cluster, name)


WITH_ETCD = {"elastic/etcd.yaml": rolls_out, "elastic/resnet.yaml": grows}


def with_etcd(cluster, files):
    node = juicefs.nodes(cluster)[0]
    cluster.on(node, "rm", "-rf", CHECKPOINTS)
    with manager.with_args(cluster, "--etcd-server=paddle-elastic-etcd.paddle-system:2379"):
        run_group(cluster, files, WITH_ETCD)
    cluster.on(node, "rm", "-rf", CHECKPOINTS)
    cluster.kubectl("delete", "-f", files["elastic/etcd.yaml"])


def writes_to_nfs(cluster, _, objects):
    name, logs = completes(cluster, objects)
    expect(all("pictures" in text for text in logs.values()), f"its workers saw {logs}")
    jobs.delete(cluster, name)


WITH_NFS = {"examples/nfs.yaml": writes_to_nfs}


def with_nfs(cluster, files):
    with shared(cluster) as server:
        (server / "data/pictures").mkdir()
        run_group(cluster, files, WITH_NFS)
        made = sorted(each.name for each in (server / "data").glob("result-*"))
        expect(made == ["result-0", "result-1"], f"the server has {made}")
        asked = set((server / "asked").read_text().split())
        expect(asked == {"nfs.example:/exports/training"}, f"kubelets asked for {asked}")
        cluster.kubectl("delete", "--ignore-not-found", "-f", files["examples/nfs.yaml"])


# --- the tutorial's set, its SampleJobs and its jobs ----------------------------------------------

def bucket():
    """The public bucket: what a set begins with, and all of it."""
    made = public_stores.pictures(PICTURES)
    demo = {f"imagenet/demo/n01514859/{number}.png": data
            for number, data in enumerate(made[:6])}
    train = {f"imagenet/train/n{number % 4:08}/{number}.png": data
             for number, data in enumerate(made)}
    rows = "".join(f"{path.removeprefix('imagenet/')} {number % 4}\n"
                   for number, path in enumerate(train))
    return demo, {**demo, **train, "imagenet/train_list.txt": rows.encode()}


def figures(cluster, name, files, cached):
    def look():
        found = cluster.get("sampleset", name, SYSTEM)["status"]["cacheStatus"]
        whole = found.get("totalSize") if cached else "0 B"
        return found.get("totalFiles") == str(files) and found.get("cachedSize") == whole
    cluster.wait(f"{files} files, {'all' if cached else 'none'} cached", look, 90)
    cluster.note(cluster.kubectl("-n", SYSTEM, "get", "sampleset", name).splitlines()[1])


def exists(cluster, _, objects):
    for each in objects:
        expect(cluster.get(each["kind"], each["metadata"]["name"], SYSTEM), f"{each} is not there")


def becomes_ready(cluster, _, objects):
    sample_sets.wait_ready(cluster, objects[0]["metadata"]["name"])
    figures(cluster, "imagenet", 6, cached=True)


def succeeds(files, cached):
    def check(cluster, _, objects):
        cluster.wait_phase("samplejob", objects[0]["metadata"]["name"], "Succeeded", SYSTEM, 180)
        figures(cluster, "imagenet", files, cached)
    return check


def waits_for_the_night(cluster, _, objects):
    name = objects[0]["metadata"]["name"]
    at = cluster.wait("the next run", lambda: cluster.get("samplejob", name, SYSTEM)["status"][
        "cronJobStatus"]["nextScheduleTime"])
    expect(at.endswith("T02:00:00Z"), f"it runs next at {at}")


def shows_the_samples(cluster, _, objects):
    (job,) = [each["metadata"]["name"] for each in objects]
    cluster.wait_phase("pdj", job, "Running", SYSTEM, 120)
    expect(cluster.get("pdj", job, SYSTEM)["status"]["mode"] == "PS", "it is not of mode PS")
    shown = cluster.kubectl("-n", SYSTEM, "exec", f"{job}-worker-0", "--", "ls", "/mnt/imagenet")
    expect(shown.split() == ["demo", "train", "train_list.txt"], f"its worker sees {shown}")
    jobs.delete(cluster, job)


def trains_on_the_samples(cluster, _, objects):
    name, logs = completes(cluster, objects)
    ((report,),) = told(logs).values()
    expect(report["pictures"] == PICTURES and report["batch"] == 96
           and report["last"] < report["first"], f"it reports {report}")
    jobs.delete(cluster, name)


def needs_a_gpu(cluster, name, objects):
    """Its image is of no use here; all but its pull is as with a GPU."""
    first = example_files.all_files()[name].read_text().partition("\n")[0]
    expect("Needs a GPU and was not run" in first, f"its first line: {first}")
    (job,) = [each["metadata"]["name"] for each in objects if each["kind"] == "PaddleJob"]

    def said():
        ready = jobs.condition(cluster, job, "Ready")
        return ready and ready["reason"] in ("ErrImagePull", "ImagePullBackOff")
    cluster.wait("it waits for nothing but its image", said, 120)
    (node,) = sample_sets.labelled(cluster, "imagenet")
    place = jobs.pods(cluster, job)[f"{job}-worker-0"]["spec"].get("nodeName")
    expect(place == node, f"its worker is on {place}, the samples on {node}")
    jobs.delete(cluster, job)


ALL_FILES = 6 + PICTURES + 1
WITH_PUBLIC_BUCKET = {
    "examples/redis.yaml": rolls_out,
    "examples/secret.yaml": exists,
    "examples/imagenet.yaml": becomes_ready,
    "examples/rmr-job.yaml": succeeds(0, cached=False),
    "examples/sync-job.yaml": succeeds(ALL_FILES, cached=True),
    "examples/clear-job.yaml": succeeds(ALL_FILES, cached=False),
    "examples/warmup-job.yaml": succeeds(ALL_FILES, cached=True),
    "examples/cron-job.yaml": waits_for_the_night,
    "examples/ps-demo.yaml": shows_the_samples,
    "examples/resnet50.yaml": trains_on_the_samples,
    "examples/dali.yaml": needs_a_gpu,
}


def with_public_bucket(cluster, files):
    with Daemons(cluster, "bos") as daemons:
        public_stores.start_bos(daemons, bucket()[1])
        run_group(cluster, files, WITH_PUBLIC_BUCKET)
    cluster.kubectl("-n", SYSTEM, "delete", "samplejobs", "--all")
    sample_sets.delete(cluster, "imagenet")
    for name in ("dali", "secret", "redis"):
        cluster.kubectl("delete", "--ignore-not-found", "-f", files[f"examples/{name}.yaml"])


def has_two_partitions(cluster, _, objects):
    name = "imagenet-juicefs"
    sample_sets.wait_ready(cluster, name, partitions=2)
    figures(cluster, name, PICTURES, cached=True)
    expect(len(sample_sets.labelled(cluster, name)) == 2, "not two nodes have its label")
    sample_sets.delete(cluster, name)


WITH_PRIVATE_STORE = {"examples/sampleset_juicefs.yaml": has_two_partitions}


def with_private_store(cluster, files):
    juicefs.empty_databases(cluster, 0)  # redis.example is the cluster's Redis
    objects = {f"imagenet/{number}.png": data
               for number, data in enumerate(public_stores.pictures(PICTURES))}
    with Daemons(cluster, "s3") as daemons:
        public_stores.start_s3(cluster, daemons, "bucket", objects, empty="imagenet-volume")
        run_group(cluster, files, WITH_PRIVATE_STORE)
    cluster.kubectl("-n", SYSTEM, "delete", "secret", "imagenet-juicefs")


# --- what is for one machine ----------------------------------------------------------------------

def says_where_it_runs(cluster, name, objects):
    """On a cluster its set says what it waits for, and so does its job."""
    ready = cluster.wait("the set says so", lambda: sample_sets.condition(
        cluster, "imagenet", "CSIDriverMissing"))
    expect(ready["status"] == "True" and "one machine" in ready["message"], f"it says {ready}")
    cluster.kubectl("-n", SYSTEM, "delete", "-f", example_files.all_files()[name])
    sample_sets.gone(cluster, "imagenet")


def waits_for_its_week(cluster, name, objects):
    """A schedule needs no set before a run is due."""
    job = objects[0]["metadata"]["name"]
    cluster.wait("the next run", lambda: cluster.get("samplejob", job, SYSTEM)["status"][
        "cronJobStatus"]["nextScheduleTime"])
    cluster.kubectl("-n", SYSTEM, "delete", "-f", example_files.all_files()[name])


ON_ONE_MACHINE = {
    "examples/sampleset.yaml": says_where_it_runs,
    "examples/verify-job.yaml": waits_for_its_week,
}

GROUPS = (ON_THEIR_OWN, WITH_VOLCANO, WITH_ETCD, WITH_NFS, WITH_PUBLIC_BUCKET, WITH_PRIVATE_STORE,
          ON_ONE_MACHINE)
