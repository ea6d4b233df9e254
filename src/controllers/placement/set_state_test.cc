// SPDX-License-Identifier: Apache-2.0
#include "controllers/placement/set_state.h"

#include <gtest/gtest.h>

namespace paddle::controllers::placement {
namespace {

api::SampleSet set_in(const std::string& phase, const std::string& reason = "",
                      const std::string& message = "") {
  api::SampleSet set;
  set.meta.key = {"t", "images"};
  set.status.phase = phase;
  if (!reason.empty()) {
    set.status.conditions = {
        {.type = "Ready", .status = "False", .reason = reason, .message = message}};
  }
  return set;
}

std::string message_of(const api::SampleSet& set) {
  const auto reason = first_sync_block_reason(set);
  return reason ? reason->reason + ": " + reason->message : "";
}

TEST(FirstSync, OfASyncedSetBlocksNothing) {
  EXPECT_EQ(message_of(set_in("Ready")), "");
  EXPECT_EQ(message_of(set_in("PartialReady")), "");
  auto set = set_in("Bound");
  set.spec.no_sync = true;
  EXPECT_EQ(message_of(set), "");
}

TEST(FirstSync, BlocksWithTheMessageOfTheSet) {
  EXPECT_EQ(message_of(set_in("")),
            "SampleSetNotSynced: waiting for the first sync of the SampleSet images, which is new; "
            "see kubectl describe sampleset images");
  EXPECT_EQ(message_of(set_in("Bound", "WaitingForRuntimes", "0 of 1 runtimes are ready")),
            "SampleSetNotSynced: waiting for the first sync of the SampleSet images, which is "
            "Bound (WaitingForRuntimes: 0 of 1 runtimes are ready); see kubectl describe sampleset "
            "images");
  EXPECT_EQ(message_of(set_in("Syncing", "Syncing", "3 of 9 files")),
            "SampleSetNotSynced: waiting for the first sync of the SampleSet images, which is "
            "Syncing; see kubectl describe sampleset images")
      << "figures that change all the time are not repeated";
}

TEST(FirstSync, ThatFailedIsReportedWithWhatToDo) {
  const auto set = set_in("SyncFailed", "SyncFailed", "the source could not be read: x");
  EXPECT_EQ(message_of(set),
            "SampleSetNotSynced: waiting for the first sync of the SampleSet images, which is "
            "SyncFailed" +
                sync_failure_advice(set));
  EXPECT_EQ(sync_failure_advice(set),
            "; the source could not be read: x; correct the SampleSet's source or its Secret; the "
            "sync is retried automatically");
  EXPECT_EQ(sync_failure_advice(set_in("Syncing")), "");
}

}  // namespace
}  // namespace paddle::controllers::placement
