# SPDX-License-Identifier: Apache-2.0
"""NetworkPolicies of deploy/: every pod that it starts, and every mount pod, is behind one."""
import ipaddress
import unittest
from typing import Any

from paddle_tools.checks import plain_yaml
from paddle_tools.paths import TOP

FILES = ("v1/operator.yaml", "extensions/controllers.yaml", "csi/juicefs.yaml",
         "elastic/etcd.yaml")
METRICS = {"namespaceSelector": {"matchLabels": {"metrics": "enabled"}}}
# Services of clouds that give a node's identity to any client on the node.
CLOUD_IDENTITY = ("169.254.169.254", "100.100.100.200", "fd00:ec2::254", "fd20:ce::254")

Object = dict[str, Any]


def objects() -> list[Object]:
    return [each for name in FILES
            for each in plain_yaml.documents((TOP / "deploy" / name).read_text())]


def policies() -> list[Object]:
    return [each for each in objects() if each["kind"] == "NetworkPolicy"]


def policy(name: str) -> Object:
    (found,) = (each for each in policies() if each["metadata"]["name"] == name)
    return found


def selects(selector: Object, labels: Object) -> bool:
    if any(labels.get(key) != value for key, value in selector.get("matchLabels", {}).items()):
        return False
    return all(each["operator"] == "In" and labels.get(each["key"]) in each["values"]
               for each in selector.get("matchExpressions", []))


def names_of_policies(space: str, labels: Object) -> list[str]:
    return [each["metadata"]["name"] for each in policies()
            if each["metadata"]["namespace"] == space and "Ingress" in each["spec"]["policyTypes"]
            and selects(each["spec"]["podSelector"], labels)]


class Policies(unittest.TestCase):
    def test_every_pod_of_deploy_is_behind_one(self) -> None:
        found = {}
        for each in objects():
            if each["kind"] in ("Deployment", "DaemonSet"):
                labels = each["spec"]["template"]["metadata"]["labels"]
                found[each["metadata"]["name"]] = names_of_policies(each["metadata"]["namespace"],
                                                                    labels)
        self.assertEqual(found, {
            "paddle-controller-manager": ["paddle-managers"],
            "paddle-sampleset-manager": ["paddle-managers"],
            "paddle-samplejob-manager": ["paddle-managers"],
            "juicefs-csi-node": ["juicefs-csi-node"],
            "paddle-elastic-etcd": ["paddle-elastic-etcd"]})

    def test_pods_of_juicefs_are_open_to_readers_of_metrics_only(self) -> None:
        wanted = {"juicefs-csi-node": ["8080", "9567"], "juicefs-mount": ["9567"]}
        for name, ports in wanted.items():
            (rule,) = policy(name)["spec"]["ingress"]
            self.assertEqual(rule, {"from": [METRICS], "ports": [{"port": each, "protocol": "TCP"}
                                                                 for each in ports]})

    def test_mount_pods_reach_everything_but_the_identity_of_their_node(self) -> None:
        mount = policy("juicefs-mount")
        self.assertEqual(mount["metadata"]["namespace"], "juicefs-csi")
        self.assertTrue(selects(mount["spec"]["podSelector"],
                                {"app.kubernetes.io/name": "juicefs-mount"}))
        self.assertIn("Egress", mount["spec"]["policyTypes"])
        (rule,) = mount["spec"]["egress"]
        blocks = [each["ipBlock"] for each in rule["to"] if "ipBlock" in each]
        for address in ("10.1.2.3", "52.95.110.1", "2001:db8::1", *CLOUD_IDENTITY):
            asked = ipaddress.ip_address(address)
            reached = any(asked in ipaddress.ip_network(block["cidr"]) and
                          not any(asked in ipaddress.ip_network(out) for out in block["except"])
                          for block in blocks)
            self.assertEqual(reached, address not in CLOUD_IDENTITY, address)


if __name__ == "__main__":
    unittest.main()
