# SPDX-License-Identifier: Apache-2.0
"""A pod that trains: image paddle-e2e, with PaddlePaddle mounted from the machine."""
from typing import Any

from paddle_tools.e2e.cluster import TOP, component
from paddle_tools.json_types import Json


def training_pod(command: list[str], packages: str = "paddlepaddle",
                 env: dict[str, str] | None = None, **more: Any) -> Json:
    """The spec of a pod that runs `command`."""
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
