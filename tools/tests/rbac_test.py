# SPDX-License-Identifier: Apache-2.0
"""Rights against use: what is too much, what is too little, and what is rare for a reason."""
import json
import unittest

from paddle_tools.e2e import rbac
from paddle_tools.e2e.rbac import Right

ME = rbac.account_name("sys", "me")
GET, CREATE = Right("", "pods", "get"), Right("", "pods", "create")


def role(kind, name, *rules, namespace=""):
    return {"kind": kind, "metadata": {"name": name, "namespace": namespace},
            "rules": [{"apiGroups": [group], "resources": [resource], "verbs": verbs}
                      for group, resource, verbs in rules]}


def binding(kind, name, subject="me", namespace=""):
    return {"metadata": {"namespace": namespace}, "roleRef": {"kind": kind, "name": name},
            "subjects": [{"kind": "ServiceAccount", "namespace": "sys", "name": subject}]}


def event(verb, resource, user=ME, code=200, **more):
    return json.dumps({"user": {"username": user}, "verb": verb, "requestURI": "/x",
                       "objectRef": {"resource": resource, **more},
                       "responseStatus": {"code": code}})


class Granted(unittest.TestCase):
    def test_is_what_all_bindings_of_the_account_give(self):
        roles = [role("Role", "a", ("", "pods", ["get"]), namespace="sys"),
                 role("Role", "a", ("", "secrets", ["get"]), namespace="other"),
                 role("ClusterRole", "b", ("apps", "statefulsets", ["list", "watch"])),
                 role("ClusterRole", "c", ("", "nodes", ["delete"]))]
        bindings = [binding("Role", "a", namespace="sys"), binding("ClusterRole", "b"),
                    binding("ClusterRole", "c", subject="you")]
        self.assertEqual(rbac.granted(roles, bindings, ME),
                         {GET: "a", Right("apps", "statefulsets", "list"): "b",
                          Right("apps", "statefulsets", "watch"): "b"})


class RequestedRights(unittest.TestCase):
    def test_is_what_the_log_says_of_this_account(self):
        lines = [event("get", "pods"), event("get", "secrets", user="you"),
                 event("update", "paddlejobs", apiGroup="batch", subresource="status"),
                 event("get", "pods")[:40], '{"user": {"username": "' + ME + '"}, "verb": "get"}']
        self.assertEqual(rbac.requested(lines, ME),
                         ({GET, Right("batch", "paddlejobs/status", "update")}, []))

    def test_counts_from_the_time_of_the_rights_on(self):
        line = event("get", "pods").replace('"verb"', '"requestReceivedTimestamp": '
                                            '"2026-01-01T00:00:05.123456Z", "verb"')
        self.assertEqual(rbac.requested([line], ME, "2026-01-01T00:00:05Z").used, {GET})
        self.assertEqual(rbac.requested([line], ME, "2026-01-01T00:00:06Z").used, set())

    def test_a_refusal_is_no_use(self):
        used, refused = rbac.requested([event("create", "pods", code=403)], ME)
        self.assertEqual(used, set())
        self.assertEqual(len(refused), 1)


class Problems(unittest.TestCase):
    def test_is_silent_when_rights_and_use_agree(self):
        self.assertEqual(rbac.problems({GET: "a"}, rbac.Requested({GET}, [])), [])

    def test_names_a_right_that_nobody_used(self):
        self.assertEqual(rbac.problems({GET: "a", CREATE: "a"}, rbac.Requested({GET}, [])),
                         ["a grants what was never used: create pods"])

    def test_lets_rare_ones_pass_and_notices_when_they_are_stale(self):
        nothing = rbac.Requested(set(), [])
        self.assertEqual(rbac.problems({GET: "a"}, nothing, {GET}), [])
        self.assertEqual(rbac.problems({GET: "a"}, nothing, {("", "pods")}), [])
        self.assertEqual(len(rbac.problems({GET: "a"}, nothing, {GET, CREATE})), 1)

    def test_repeats_what_was_refused(self):
        self.assertEqual(rbac.problems({}, rbac.Requested(set(), ["no", "no"])), ["no"])

    def test_a_star_is_too_much(self):
        right = Right("", "*", "get")
        self.assertIn("everything", rbac.problems({right: "a"}, rbac.Requested({right}, []))[0])


if __name__ == "__main__":
    unittest.main()
