# SPDX-License-Identifier: Apache-2.0
"""Whether an account has exactly the rights that it uses: compares its roles with the audit log.

    problems(granted(roles, bindings, account), requested(lines, account), rare)

has no problem when every right was used or is rare for a stated reason, and no request was refused.

Pure: objects are those of `kubectl get -o json`, events the lines of an API server's audit log.
"""
import json
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from paddle_tools.json_types import Json


class Right(NamedTuple):
    group: str
    resource: str  # "pods", "pods/status"
    verb: str


class Requested(NamedTuple):
    used: set[Right]
    refused: list[str]  # one message each


REFUSED = 403
SECOND = len("2006-01-02T15:04:05")


def account_name(namespace: str, name: str) -> str:
    """The name of a service account in the API server's audit log."""
    return f"system:serviceaccount:{namespace}:{name}"


def granted(roles: list[Json], bindings: list[Json], account: str) -> dict[Right, str]:
    """{right: name of a role that grants it} of one account."""
    by_name = {(role["kind"], role["metadata"].get("namespace", ""), role["metadata"]["name"]): role
               for role in roles}
    rights: dict[Right, str] = {}
    for binding in bindings:
        if not any(is_subject(subject, account) for subject in binding.get("subjects") or []):
            continue
        kind, name = binding["roleRef"]["kind"], binding["roleRef"]["name"]
        place = binding["metadata"].get("namespace", "") if kind == "Role" else ""
        role = by_name.get((kind, place, name))
        for right in rights_of(role) if role else ():
            rights.setdefault(right, name)
    return rights


def is_subject(subject: Json, account: str) -> bool:
    if subject["kind"] == "ServiceAccount":
        return account_name(subject["namespace"], subject["name"]) == account
    return subject["kind"] == "User" and subject["name"] == account


def rights_of(role: Json) -> Iterator[Right]:
    for rule in role.get("rules") or []:
        for group in rule.get("apiGroups") or []:
            for resource in rule.get("resources") or []:
                for verb in rule["verbs"]:
                    yield Right(group, resource, verb)


def requested(lines: Iterable[str], account: str, since: str = "") -> Requested:
    """The requests of an account since a time (RFC 3339, by the second): before, it may have had
    other rights. An incomplete last line is ignored."""
    used: set[Right] = set()
    refused: list[str] = []
    for line in lines:
        if account not in line:  # most lines are of other accounts: do not parse them
            continue
        try:
            event = json.loads(line)
        except ValueError:
            continue
        about = event.get("objectRef")
        if event.get("user", {}).get("username") != account or not about:
            continue
        if event.get("requestReceivedTimestamp", "")[:SECOND] < since[:SECOND]:
            continue
        resource = about["resource"]
        if about.get("subresource"):
            resource += f"/{about['subresource']}"
        right = Right(about.get("apiGroup", ""), resource, event["verb"])
        if event.get("responseStatus", {}).get("code") == REFUSED:
            refused.append(f"{account} was refused: {describe(right)} ({event['requestURI']})")
        else:
            used.add(right)
    return Requested(used, refused)


def problems(rights: dict[Right, str], requests: Requested,
             rare: Collection[Right | tuple[str, str]] = ()) -> list[str]:
    """One message for each problem. `rare` are rights, or (group, resource) pairs, that no ordinary
    run needs."""
    out = sorted(set(requests.refused))
    for right, role in sorted(rights.items()):
        if "*" in right:
            out.append(f"{role} grants everything of a kind: {describe(right)}")
        elif right not in requests.used and right not in rare and right[:2] not in rare:
            out.append(f"{role} grants what was never used: {describe(right)}")
    for entry in sorted(rare, key=str):
        if not any(entry in (right, right[:2]) for right in rights):
            out.append(f"{'/'.join(entry)} is listed as rare but is not granted")
    return out


def describe(right: Right) -> str:
    group = f".{right.group}" if right.group else ""
    return f"{right.verb} {right.resource}{group}"


# Rights of our managers that an ordinary run does not use, with the reason.
RARE: dict[str, set[Right | tuple[str, str]]] = {
    "paddle-manager-sa": {
        # The server checks it only with OwnerReferencesPermissionEnforcement.
        Right("batch.paddlepaddle.org", "paddlejobs/finalizers", "update"),
        # Jobs that an older operator gave a finalizer; a view that may be behind is checked.
        Right("batch.paddlepaddle.org", "paddlejobs", "patch"),
        Right("batch.paddlepaddle.org", "paddlejobs", "get"),
        # A name that is there already: an answer was lost, or an older operator made it.
        Right("", "pods", "get"), Right("", "services", "get"), Right("", "configmaps", "get"),
        Right("", "services", "patch"),
        # The same, and addresses that changed.
        Right("", "configmaps", "update"),
        # An event that happened again.
        Right("", "events", "patch"),
        # Only of nodes that stopped reporting. Another role grants it for the operator's own lease.
        Right("coordination.k8s.io", "leases", "get"),
        # Only with Volcano.
        ("scheduling.volcano.sh", "podgroups"),
    },
    "paddle-sampleset-sa": {
        Right("batch.paddlepaddle.org", "samplesets/finalizers", "update"),
        Right("batch.paddlepaddle.org", "samplesets", "patch"),
        # Names that are there already.
        Right("", "persistentvolumes", "get"), Right("", "persistentvolumeclaims", "get"),
        Right("", "services", "get"), Right("apps", "statefulsets", "get"),
        Right("", "pods", "get"),
        Right("networking.k8s.io", "networkpolicies", "get"),
        # The garbage collector is often first.
        Right("", "persistentvolumeclaims", "delete"), Right("", "services", "delete"),
        Right("", "secrets", "delete"), Right("apps", "statefulsets", "delete"),
        Right("networking.k8s.io", "networkpolicies", "delete"),
        # Keys that were changed, a token that is renewed.
        Right("", "secrets", "update"),
        # A runtime of an older template is replaced.
        Right("", "pods", "delete"),
        # Only where a runtime runs.
        Right("", "nodes", "patch"),
        # Only while an unfinished job uses the set.
        Right("", "persistentvolumeclaims", "patch"), Right("", "services", "patch"),
        Right("", "secrets", "patch"), Right("apps", "statefulsets", "patch"),
        Right("", "events", "patch"),
    },
}
