// SPDX-License-Identifier: Apache-2.0
//
// Tests directories only; mounts are tested in test/local.

#include "local/node/sample_volumes.h"

#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "base/scratch.h"

namespace paddle::local {
namespace {

namespace fs = std::filesystem;

struct SampleVolumesTest : testing::Test {
  Scratch scratch{};
  std::string directory = scratch.path() + "/node";
  std::string root = scratch.path() + "/cache";
  SampleVolumes volumes{directory, root, system_clock()};
};

TEST_F(SampleVolumesTest, CachesExistAsLongAsTheirVolume) {
  const auto own = volumes.place({.handle = "h"}, "pod");
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(*own, root + "/h");
  const auto given = volumes.place({.handle = "h", .path = scratch.path() + "/ssd"}, "pod");
  ASSERT_TRUE(given) << given.error().message;
  std::ofstream(*own + "/block") << "data";

  volumes.collect({});
  EXPECT_TRUE(fs::exists(*own + "/block")) << "a pod uses it";
  volumes.release("pod");
  volumes.collect({"h"});
  EXPECT_TRUE(fs::exists(*own + "/block")) << "its volume exists";
  EXPECT_TRUE(volumes.place({.handle = "h"}, "next")) << "what was recorded is found again";
  volumes.release("next");
  volumes.collect({"other"});
  EXPECT_FALSE(fs::exists(*own));
  EXPECT_FALSE(fs::exists(*given));
}

TEST_F(SampleVolumesTest, AForeignDirectoryIsNeitherUsedNorRemoved) {
  fs::create_directories(scratch.path() + "/home/h");
  std::ofstream(scratch.path() + "/home/h/letter") << "dear";
  const auto refused = volumes.place({.handle = "h", .path = scratch.path() + "/home"}, "pod");
  EXPECT_TRUE(refused.is(Code::kInvalid));
  volumes.release("pod");
  volumes.collect({});
  EXPECT_TRUE(fs::exists(scratch.path() + "/home/h/letter"));
}

TEST_F(SampleVolumesTest, AMountWaitsForItsRuntimeAndNamesIt) {
  const auto waiting = volumes.mount("h", "set-runtime", "pod");
  ASSERT_TRUE(waiting.is(Code::kUnavailable));
  EXPECT_NE(waiting.error().message.find("waiting for set-runtime"), std::string::npos);
  EXPECT_FALSE(fs::exists(directory + "/mounts/h"));
}

TEST_F(SampleVolumesTest, PartitionsHaveTheirOwnDirectoriesAndAreRemovedTogether) {
  std::set<std::string> places;
  for (int partition = 0; partition < 3; ++partition) {
    for (const bool session : {false, true}) {
      const auto place = volumes.place({.session = session, .handle = "h"}, "pod", partition);
      ASSERT_TRUE(place) << place.error().message;
      std::ofstream(*place + "/file") << "x";
      places.insert(*place);
    }
  }
  EXPECT_EQ(places.size(), 6u);
  volumes.collect({"h"});
  for (const auto& place : places) EXPECT_TRUE(fs::exists(place + "/file")) << place;
  volumes.release("pod");
  volumes.collect({});
  for (const auto& place : places) EXPECT_FALSE(fs::exists(place)) << place;
}

}  // namespace
}  // namespace paddle::local
