# SPDX-License-Identifier: Apache-2.0
"""A pod that trains with real PaddlePaddle: image paddle-e2e, Paddle itself from the machine."""
from paddle_tools.e2e.cluster import TOP, component


def training_pod(command, packages="paddlepaddle", env=None, **more):
    """The pod's spec."""
    variables = {"PYTHONPATH": "/packages", "PADDLE_DISTRI_BACKEND": "gloo", "OMP_NUM_THREADS": "1",
                 "HOME": "/tmp", "PYTHONUNBUFFERED": "1", **(env or {})}
    return {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 1,
        "containers": [{
            "name": "train", "image": "paddle-e2e:v1", "imagePullPolicy": "IfNotPresent",
            "command": command,
            "env": [{"name": name, "value": value} for name, value in variables.items()],
            "resources": {"requests": {"cpu": "100m", "memory": "200Mi"}},
            "volumeMounts": [
                {"name": "packages", "mountPath": "/packages", "readOnly": True},
                {"name": "examples", "mountPath": "/examples", "readOnly": True},
                {"name": "scratch", "mountPath": "/tmp"}]}],
        "volumes": [
            {"name": "packages", "hostPath": {"path": component(packages), "type": "Directory"}},
            {"name": "examples", "hostPath": {"path": str(TOP / "examples"), "type": "Directory"}},
            {"name": "scratch", "emptyDir": {}}],
        **more}
