# SPDX-License-Identifier: Apache-2.0
"""The figures of the control benchmark say what the audit log says, and the floor sends what the
operator sent."""
import json
import tempfile
import unittest

from paddle_tools.bench import audit_log, growth, job_objects
from paddle_tools.bench.control_report import Result
from paddle_tools.errors import ToolError


def event(verb, resource, stage="ResponseComplete", agent="paddle-operator/1", code=200, sub=None):
    about = {"resource": resource, **({"subresource": sub} if sub else {})}
    return {"userAgent": agent, "stage": stage, "verb": verb, "objectRef": about,
            "requestURI": "/x", "responseStatus": {"code": code}}


def turn(scenario, at, subject, seconds, **more):
    return {"scenario": scenario, "round": at, "subject": subject, "all": seconds, "first": 1,
            "median": 1, "created": 1, "others": 0, "bed_cpu": 1, **more}


def operators(at, seconds, **requests):
    asked = {"create pods": 40, "create configmaps": 10, "create events": 10,
             "update paddlejobs/status": 30, **requests}
    return turn("jobs", at, "operator", seconds, operator_cpu=1, rss_mib=20, peak_rss_mib=21,
                requests=asked, requests_until_running=80)


def points(cost):
    return [{"jobs": jobs, "memory_mib": cost(jobs), "cpu_seconds": cost(jobs),
             "requests": cost(jobs)} for jobs in (250, 500, 1000, 2000)]


class Growth(unittest.TestCase):
    def test_the_exponent_is_the_slope_of_the_logarithms(self):
        for wanted in (0, 1, 1.1, 2):
            at = [(x, 3 * x ** wanted) for x in (10, 100, 700)]
            self.assertAlmostEqual(growth.exponent(at), wanted)

    def test_a_constant_part_makes_it_smaller(self):
        self.assertLess(growth.exponent([(x, 1000 + x) for x in (100, 1000, 10_000)]), 1)

    def test_one_size_and_costs_of_zero_are_refused(self):
        for at in ([(10, 1)], [(10, 1), (10, 2)], [(10, 1), (20, 0)]):
            with self.assertRaises(ToolError):
                growth.exponent(at)

    def test_the_summary_has_the_largest_exponent_of_all_curves(self):
        curves = {"in_memory": points(lambda jobs: jobs), "server": points(lambda jobs: jobs ** 2)}
        found = Result({}, [], None, {}, 200, curves).summary()
        for cost in ("memory", "cpu", "requests"):
            self.assertEqual(found[f"growth_exponent_{cost}"], 2)
            self.assertEqual(found[f"growth_exponent_{cost}_in_memory"], 1)

    def test_the_report_says_what_was_missed(self):
        text = growth.markdown({"server": points(lambda jobs: jobs ** 2)})
        self.assertIn("missed", text)
        self.assertNotIn("met ", text)


class Requests(unittest.TestCase):
    def test_a_watch_counts_when_it_begins_and_everything_else_when_it_ends(self):
        def kept(*args, **more):
            return audit_log.request(event(*args, **more), "paddle-operator/") is not None
        self.assertTrue(kept("watch", "pods", "ResponseStarted"))
        self.assertFalse(kept("watch", "pods"))
        self.assertTrue(kept("create", "pods"))
        self.assertFalse(kept("create", "pods", agent="kubectl/1"))

    def test_refused_requests_are_told_apart(self):
        told = audit_log.count_requests([("update", "paddlejobs/status", 409),
                                         ("update", "paddlejobs/status", 200),
                                         ("update", "paddlejobs/status", 200)])
        self.assertEqual(told, {"update paddlejobs/status": 2, "update paddlejobs/status (409)": 1})

    def test_half_a_line_is_read_when_it_is_whole(self):
        line = json.dumps(event("create", "pods"))
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(line + "\n" + line[:20])
            file.flush()
            log = audit_log.AuditLog(file.name, "paddle-operator/")
            found, position = log.requests(0)
            self.assertEqual((len(found), position), (1, len(line) + 1))
            file.write(line[20:] + "\n")
            file.flush()
            self.assertEqual(log.requests(position)[0], [("create", "pods", 200)])


class Figures(unittest.TestCase):
    def result(self, turns, idle=None):
        return Result({}, turns, idle, {"jobs": 50}, jobs=10)

    def test_a_ratio_is_formed_within_a_round(self):
        turns = [turn("jobs", 0, "floor", 1), operators(0, 2), turn("jobs", 1, "floor", 10),
                 operators(1, 11), turn("jobs", 2, "floor", 1), operators(2, 1.2)]
        self.assertEqual(self.result(turns).ratio("jobs"), (1.2, 1.1, 2))
        self.assertIsNone(self.result(turns).ratio("big"))

    def test_a_job_may_cost_its_objects_three_statuses_and_its_events(self):
        fine = [turn("jobs", 0, "floor", 1), operators(0, 1)]
        self.assertEqual(self.result(fine).summary()["requests_per_job"], 9)
        self.assertNotIn("missed", self.result(fine).markdown())
        # Refused requests are requests.
        more = [turn("jobs", 0, "floor", 1), operators(0, 1, **{"create pods (409)": 1})]
        self.assertIn("missed", self.result(more).markdown())

    def test_at_rest_only_leases_and_watches_are_free(self):
        idle = {"jobs": 1000, "seconds": 120, "running_after": 1, "cpu": 0.1, "rss_mib": 1,
                "peak_rss_mib": 63, "successor_rss_mib": 1, "successor_peak_rss_mib": 65,
                "requests": {"update leases": 60, "watch pods": 2}}
        summary = self.result([], idle).summary()
        self.assertEqual(summary["idle_requests_per_minute"], 31)
        self.assertEqual(summary["idle_other_requests_per_minute"], 0)
        self.assertEqual(summary["rss_mib_1000_jobs"], 65)
        idle["requests"]["get pods"] = 1
        self.assertEqual(self.result([], idle).summary()["idle_other_requests_per_minute"], 0.5)


class Objects(unittest.TestCase):
    def test_the_floor_sends_nothing_that_the_cluster_added(self):
        token = {"name": "kube-api-access-x", "mountPath": "/x"}
        found = {"metadata": {"name": "a", "uid": "1", "labels": {"b": "c"},
                              "ownerReferences": [{"uid": "2"}]},
                 "spec": {"nodeName": "kwok-1", "volumes": [{"name": "kube-api-access-x"}],
                          "containers": [{"name": "m", "volumeMounts": [token]}],
                          "tolerations": [{"key": "node.kubernetes.io/not-ready"}]},
                 "status": {"phase": "Running"}}
        made = job_objects.as_made("Pod", found)
        self.assertEqual(made, {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"b": "c"}},
            "spec": {"volumes": [], "containers": [{"name": "m", "volumeMounts": []}],
                     "tolerations": [job_objects.toleration()]}})
        self.assertIn("status", found)
        self.assertIsNone(job_objects.as_made(
            "ConfigMap", {"metadata": {"name": "kube-root-ca.crt"}}))


if __name__ == "__main__":
    unittest.main()
