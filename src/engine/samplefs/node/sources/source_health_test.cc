// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/sources/source_health.h"

#include <gtest/gtest.h>

#include "base/log.h"

namespace paddle::engine::samplefs {
namespace {

class SourceHealthTest : public testing::Test {
 protected:
  SourceHealthTest() { log::set_level(log::Level::kError); }
  ~SourceHealthTest() override { log::set_level(log::Level::kInfo); }

  void read(::paddle::samplefs::OriginId origin, const Result<>& outcome) {
    health_.note(::paddle::samplefs::block_at(
                     {.path = "p", .object = "o", .etag = "e", .size = 9, .origin = origin}, 0),
                 outcome);
  }
  // The number of sources that were called.
  int probe(const Result<>& outcome) {
    int calls = 0;
    health_.probe(
        [&](const SourceHealth::Probe& what, const source::CallContext& context) {
          ++calls;
          EXPECT_EQ(what.object + what.etag, "oe");
          EXPECT_TRUE(context.limited());
          return outcome;
        },
        {});
    return calls;
  }

  ManualClock clock_;
  SourceHealth health_{clock_};
  const Result<> away_ = Error{Code::kUnavailable, "no answer"};
};

TEST_F(SourceHealthTest, IsDownWhenAProbeFailsTooAndUpAgainWithTheFirstAnswer) {
  EXPECT_EQ(probe(away_), 0);
  read(1, away_);
  EXPECT_EQ(health_.trouble(), "") << "one read may fail";
  EXPECT_EQ(probe(away_), 1);
  EXPECT_EQ(health_.trouble(), "no answer");
  EXPECT_EQ(probe(away_), 0) << "not before the pause";
  clock_.advance(SourceHealth::kPause);
  EXPECT_EQ(probe(away_), 1);
  EXPECT_EQ(health_.trouble(), "no answer");
  clock_.advance(SourceHealth::kPause);
  EXPECT_EQ(probe(Error{Code::kNotFound, "no such object"}), 1) << "it answers";
  EXPECT_EQ(health_.trouble(), "");
  clock_.advance(SourceHealth::kPause);
  EXPECT_EQ(probe(away_), 0);
}

TEST_F(SourceHealthTest, AReadThatIsAnsweredEndsIt) {
  read(1, away_);
  EXPECT_EQ(probe(away_), 1);
  read(2, Done{});
  EXPECT_EQ(health_.trouble(), "no answer") << "another source";
  read(1, Error{Code::kCancelled, "stopped"});
  EXPECT_EQ(health_.trouble(), "no answer") << "says nothing";
  read(1, Error{Code::kConflict, "changed"});
  EXPECT_EQ(health_.trouble(), "");
}

TEST_F(SourceHealthTest, ManySourcesAreToldApart) {
  read(1, away_);
  read(2, Error{Code::kForbidden, "refused"});
  EXPECT_EQ(probe(away_), 2);
  EXPECT_EQ(health_.trouble(), "no answer; no answer");
  read(1, Done{});
  EXPECT_EQ(health_.trouble(), "no answer");
}

}  // namespace
}  // namespace paddle::engine::samplefs
