# SPDX-License-Identifier: Apache-2.0
"""Whether an account has the rights that it uses, and no other: its roles against the audit log.

    verdict(granted(roles, bindings, account), asked(events, account), rare) -> sentences, none when
    every right was used or is rare for a stated reason, and nothing was refused

Pure: objects are those of `kubectl get -o json`, events the lines of an API server's audit log.
"""
import json
from collections import namedtuple

Right = namedtuple("Right", "group resource verb")   # resource: "pods", "pods/status"
Asked = namedtuple("Asked", "used refused")          # set of Right; list of sentences

REFUSED = 403
SECOND = len("2006-01-02T15:04:05")


def account_name(namespace, name):
    """As the API server's audit log spells a service account."""
    return f"system:serviceaccount:{namespace}:{name}"


def granted(roles, bindings, account):
    """{Right: name of a role that grants it} of one account, by all bindings that name it."""
    by_name = {(role["kind"], role["metadata"].get("namespace", ""), role["metadata"]["name"]): role
               for role in roles}
    rights = {}
    for binding in bindings:
        if not any(names(subject, account) for subject in binding.get("subjects") or []):
            continue
        kind, name = binding["roleRef"]["kind"], binding["roleRef"]["name"]
        place = binding["metadata"].get("namespace", "") if kind == "Role" else ""
        role = by_name.get((kind, place, name))
        for right in rights_of(role) if role else ():
            rights.setdefault(right, name)
    return rights


def names(subject, account):
    if subject["kind"] == "ServiceAccount":
        return account_name(subject["namespace"], subject["name"]) == account
    return subject["kind"] == "User" and subject["name"] == account


def rights_of(role):
    for rule in role.get("rules") or []:
        for group in rule.get("apiGroups") or []:
            for resource in rule.get("resources") or []:
                for verb in rule["verbs"]:
                    yield Right(group, resource, verb)


def asked(lines, account, since=""):
    """What the account asked for, from a time on (RFC 3339, by the second): before, it may have had
    other rights. A line that is still being written is left out."""
    used, refused = set(), []
    for line in lines:
        if account not in line:  # most lines are somebody else's: spare the parsing
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
            refused.append(f"{account} was refused: {spelled(right)} ({event['requestURI']})")
        else:
            used.add(right)
    return Asked(used, refused)


def verdict(rights, requests, rare=()):
    """Sentences; `rare` are rights, or (group, resource) pairs, that no ordinary run needs."""
    out = sorted(set(requests.refused))
    for right, role in sorted(rights.items()):
        if "*" in right:
            out.append(f"{role} grants everything of a kind: {spelled(right)}")
        elif right not in requests.used and right not in rare and right[:2] not in rare:
            out.append(f"{role} grants what was never used: {spelled(right)}")
    for entry in sorted(rare, key=str):
        if not any(entry in (right, right[:2]) for right in rights):
            out.append(f"{'/'.join(entry)} is said to be rare but is not granted")
    return out


def spelled(right):
    group = f".{right.group}" if right.group else ""
    return f"{right.verb} {right.resource}{group}"


# What our managers may do and an ordinary run does not show, with the reason.
RARE = {
    "paddle-manager-sa": {
        # The server checks it only with OwnerReferencesPermissionEnforcement.
        Right("batch.paddlepaddle.org", "paddlejobs/finalizers", "update"),
        # Jobs that an older operator gave a finalizer; a view that may be behind is checked.
        Right("batch.paddlepaddle.org", "paddlejobs", "patch"),
        Right("batch.paddlepaddle.org", "paddlejobs", "get"),
        # A name that is there already: an answer was lost, or an older operator made it.
        Right("", "pods", "get"), Right("", "services", "get"), Right("", "configmaps", "get"),
        Right("", "services", "patch"), Right("", "configmaps", "patch"),
        # Addresses that changed.
        Right("", "configmaps", "update"),
        # An event that happened again.
        Right("", "events", "patch"),
        # Only of nodes that no longer speak. Its own lease is got as well, by another role.
        Right("coordination.k8s.io", "leases", "get"),
        # Only with Volcano.
        ("scheduling.volcano.sh", "podgroups"),
    },
    "paddle-sampleset-sa": {
        Right("batch.paddlepaddle.org", "samplesets/finalizers", "update"),
        Right("batch.paddlepaddle.org", "samplesets", "patch"),
        # Names that are there already.
        Right("", "persistentvolumes", "get"), Right("", "persistentvolumeclaims", "get"),
        Right("", "services", "get"), Right("apps", "statefulsets", "get"), Right("", "pods", "get"),
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
