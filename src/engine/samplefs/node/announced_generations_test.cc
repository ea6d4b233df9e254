// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/announced_generations.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/log.h"
#include "base/scratch.h"

namespace paddle::engine::samplefs {
namespace {

TEST(AnnouncedGenerations, TheNextProcessReadsWhatWasAnnouncedToEachMount) {
  const Scratch scratch;
  const std::string file = scratch.path() + "/told";
  {
    AnnouncedGenerations told(file);
    EXPECT_EQ(told.of("a b"), std::nullopt);
    told.note("a b", "11");
    told.note("other", "11");
    told.note("a b", "22");
    told.note("gone", "22");
    told.drop("gone");
  }
  const AnnouncedGenerations next(file);
  EXPECT_EQ(next.of("a b"), "22");
  EXPECT_EQ(next.of("other"), "11");
  EXPECT_EQ(next.of("gone"), std::nullopt);
}

TEST(AnnouncedGenerations, AFailedWriteLeavesNoOutdatedFile) {
  log::set_level(log::Level::kError);
  const Scratch scratch;
  const std::string file = scratch.path() + "/told";
  AnnouncedGenerations told(file);
  told.note("a", "11");
  std::filesystem::create_directory(file + ".tmp");  // where the next note would be written first
  told.note("a", "22");
  EXPECT_EQ(told.of("a"), "22");
  EXPECT_EQ(AnnouncedGenerations(file).of("a"), std::nullopt) << "unknown: it is told everything";
  log::set_level(log::Level::kInfo);
}

TEST(AnnouncedGenerations, InvalidLinesAreIgnored) {
  const Scratch scratch;
  const std::string file = scratch.path() + "/told";
  std::ofstream(file) << "nonsense\n\n33 good\n";
  const AnnouncedGenerations told(file);
  EXPECT_EQ(told.of("good"), "33");
  EXPECT_EQ(told.of("nonsense"), std::nullopt);
}

}  // namespace
}  // namespace paddle::engine::samplefs
