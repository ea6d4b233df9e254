# SPDX-License-Identifier: Apache-2.0
"""The README of the chart: how to use it, and a table of its values."""
import json

from paddle_tools.chart.values import Value

BEGIN = """\
<!-- Made by tools/chart: change tools/paddle_tools/chart/readme.py or values.py. -->
# paddle-operator

Installs Paddle Operator {version} on Kubernetes: the definitions of PaddleJob, SampleSet and
SampleJob, their managers and, by values, what is beside them in [deploy](../../deploy/README.md).
With the defaults it installs the objects of `deploy/install.yaml`. The images must be on the
nodes or in a registry of yours: [install.md](../../docs/en/install.md#images).

```sh
helm install paddle-operator charts/paddle-operator
helm test paddle-operator
```

| you want | values |
|---|---|
| jobs of one other namespace | `--set jobnamespace=NAMESPACE` |
| jobs of all namespaces | `--set jobnamespace=` |
| managers elsewhere | `--set controllernamespace=NAMESPACE` |
| images of a registry of yours | `--set registry=registry.example.com/ml` |
| sample sets on JuiceFS | `--set juicefs.enabled=true` |
| PaddleJobs alone | `--set extensions.enabled=false` |
| gangs by Volcano | `--set volcano.enabled=true` |
| elastic jobs, to try out | `--set elastic.etcd.enabled=true` |

A value that is wrong or unknown is refused with its name (`values.schema.json`).

## Namespaces

The release is recorded in the namespace of `helm --namespace`, which need not be that of the
managers. When both are the same (`helm install --namespace paddle-system --create-namespace
...`), Helm makes the namespace and the chart does not. When managers and jobs have different
namespaces, that of the managers enforces the profile `restricted` of Pod Security.

## Upgrade and rollback

```sh
helm upgrade paddle-operator charts/paddle-operator --reset-then-reuse-values
helm rollback paddle-operator
```

The definitions are templates and not in `crds/`, so both commands change them, too. Jobs that run
are left alone: a manager is replaced, and its successor takes the lease. After a rollback over a
change of the definitions, fields that only the newer ones know are dropped from objects that are
written again.

What `kubectl apply -f deploy/...` installed becomes Helm's with `helm install --take-ownership`.

## Uninstall

```sh
helm uninstall paddle-operator
```

removes the managers and their rights. Definitions and namespace stay, and with them all jobs and
sample sets; a later `helm install` of the same name takes them over. To remove them as well,
**with every PaddleJob, SampleSet and SampleJob of the cluster**:

```sh
kubectl delete -f deploy/v1/crd.yaml
kubectl delete namespace paddle-system
```

With `keepOnUninstall=false`, set before, `helm uninstall` does the same.

## Values

| value | default | what |
|---|---|---|
"""


def readme(values: list[Value], version: str) -> str:
    rows = []
    for each in values:
        text = each.text.replace("|", "\\|")
        rows.append(f"| `{each.path}` | `{json.dumps(each.default)}` | {text} |\n")
    return BEGIN.format(version=version) + "".join(rows)
