# SPDX-License-Identifier: Apache-2.0
"""The figures of a benchmark say what was measured: ratios within a round, medians, verdicts."""
import unittest
from xml.etree import ElementTree

from paddle_tools.bench import listing_stub, read_report
from paddle_tools.bench.network_link import is_listing


def epoch(subject, at, seconds, workload="warm-usual"):
    return {"workload": workload, "readers": 1, "round": at, "subject": subject, "files": 100,
            "bytes": 1, "seconds": seconds, "cpu_us": 1, "received": 0}


class Figures(unittest.TestCase):
    def test_a_ratio_is_formed_within_a_round_before_the_median(self):
        # A round in which the whole machine was ten times slower changes no ratio.
        epochs = [epoch("native", 0, 1), epoch("samplefs", 0, 2),
                  epoch("native", 1, 10), epoch("samplefs", 1, 20),
                  epoch("native", 2, 1), epoch("samplefs", 2, 4)]
        self.assertEqual(read_report.figures(epochs, {}), {"warm_vs_native_1": 0.5})
        ((name, _, least, middle, low, high),) = read_report.target_results(epochs)
        self.assertEqual((name, least, middle, low, high), ("P1a", 0.95, 0.5, 0.25, 0.5))
        self.assertIn("| missed |", read_report.markdown({}, epochs, {}))

    def test_a_target_is_met_by_the_median_and_only_of_its_own_workload(self):
        epochs = [epoch("native", 0, 1, "disk-usual"), epoch("samplefs", 0, 1.1, "disk-usual")]
        ((name, _, _, _, _, _),) = read_report.target_results(epochs)
        self.assertEqual(name, "P1b")
        self.assertIn("| met |", read_report.markdown({}, epochs, {}))

    def test_a_subject_left_out_of_a_run_gives_no_ratio(self):
        self.assertEqual(read_report.figures([epoch("samplefs", 0, 1)], {}), {})
        self.assertEqual(list(read_report.target_results([epoch("samplefs", 0, 1)])), [])

    def test_processor_time_of_a_warm_up_includes_the_kernels_threads(self):
        epochs = [{**epoch("samplefs", 0, 1, "warmup"), "cpu_us": 20, "kernel_us": 10},
                  {**epoch("curl", 0, 1, "warmup"), "cpu_us": 55, "kernel_us": 5}]
        self.assertEqual(read_report.figures(epochs, {}), {"warmup_cpu_vs_curl": 0.5})

    def test_what_was_measured_once_is_in_the_last_line(self):
        self.assertEqual(read_report.figures([], {"half_cache_hit_ratio": 0.49831}),
                         {"half_cache_hit_ratio": 0.498})

    def test_listings_and_heads_are_told_from_reads(self):
        line = "- samples [t] 10.77.0.2 key 2SMORF s3_{} a/b.jpg /samples/a/b.jpg 200 - 0"
        self.assertTrue(is_listing(line.format("ListObjectsV2")))
        self.assertTrue(is_listing(line.format("HeadObject")))
        self.assertFalse(is_listing(line.format("GetObject")))


class ListingStub(unittest.TestCase):
    def test_pages_list_every_object_once_in_the_order_of_its_key(self):
        keys = listing_stub.Keys(2_345)
        self.assertEqual(list(keys), sorted(keys))
        listed, after = [], ""
        while True:
            page = ElementTree.fromstring(listing_stub.page_of(keys, after, 1_000))
            listed += [each.text for each in page.iter("Key")]
            if page.findtext("IsTruncated") == "false":
                break
            after = page.findtext("NextContinuationToken")
        self.assertEqual(listed, list(keys))

    def test_a_page_may_begin_anywhere(self):
        keys = listing_stub.Keys(2_000)
        first = ElementTree.fromstring(listing_stub.page_of(keys, "train/n00000001", 1))
        self.assertEqual(first.findtext("Contents/Key"), keys[1_000])
        nothing = ElementTree.fromstring(listing_stub.page_of(keys, "z", 1))
        self.assertEqual((nothing.find("Contents"), nothing.findtext("IsTruncated")),
                         (None, "false"))

    def test_an_object_is_known_by_its_key(self):
        keys = listing_stub.Keys(10)
        self.assertEqual([listing_stub.number_of(each) for each in keys], list(range(10)))
        self.assertRaises(ValueError, listing_stub.number_of, "train/other")
        self.assertEqual(len(listing_stub.bytes_of(keys[3])), listing_stub.SIZE)
        self.assertNotEqual(listing_stub.bytes_of(keys[3]), listing_stub.bytes_of(keys[4]))


if __name__ == "__main__":
    unittest.main()
