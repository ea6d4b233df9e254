// SPDX-License-Identifier: Apache-2.0
#include "source/s3/key_splits.h"

#include <random>
#include <set>

#include <gtest/gtest.h>

namespace paddle::source {
namespace {

struct Probed {
  std::vector<std::string> borders{};
  std::size_t probes = 0;
};

Probed split(const std::set<std::string>& keys, const std::string& after, std::size_t parts,
             std::size_t most_probes) {
  Probed probed;
  probed.borders = *split_keys(after, parts, most_probes,
                               [&](const std::string& text) -> Result<std::optional<std::string>> {
                                 ++probed.probes;
                                 const auto found = keys.upper_bound(text);
                                 if (found == keys.end()) return std::optional<std::string>();
                                 return std::optional<std::string>(*found);
                               });
  return probed;
}

std::size_t largest_part(const std::set<std::string>& keys,
                         const std::vector<std::string>& borders) {
  std::size_t largest = 0;
  auto begin = keys.begin();
  for (std::size_t i = 0; i <= borders.size(); ++i) {
    const auto end = i < borders.size() ? keys.upper_bound(borders[i]) : keys.end();
    largest = std::max(largest, static_cast<std::size_t>(std::distance(begin, end)));
    begin = end;
  }
  return largest;
}

std::string numbered(const char* format, int directory, int file) {
  char text[80];
  std::snprintf(text, sizeof text, format, directory, file);
  return text;
}

TEST(KeySplits, TreesOfDirectoriesAndFlatDirectoriesBecomePartsOfSimilarSize) {
  for (const char* format :
       {"data/imagenet/train/n%08d/n%08d.JPEG", "flat/%d%06d.jpg", "\xe5\x9b\xbe/%d/%d.png"}) {
    std::set<std::string> keys;
    for (int d = 0; d < 100; ++d) {
      for (int f = 0; f < 100; ++f) keys.insert(numbered(format, d, f));
    }
    const Probed probed = split(keys, "", 64, 64);
    EXPECT_LE(probed.probes, 64u);
    EXPECT_GE(probed.borders.size(), 8u) << format;
    EXPECT_LE(largest_part(keys, probed.borders), keys.size() / 5) << format;
  }
}

TEST(KeySplits, BordersRiseAndAreBehindTheBeginning) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::set<std::string> keys;
    for (std::size_t i = random() % 200; i > 0; --i) {
      std::string key;
      for (std::size_t part = 1 + random() % 4; part > 0; --part) {
        static const char* kParts[] = {"a", "b", "ab", "/", "\xe7\x8c\xab", "z/", "0", "~"};
        key += kParts[random() % std::size(kParts)];
      }
      keys.insert(std::move(key));
    }
    const std::string after = keys.empty() || random() % 2 == 0 ? "" : *keys.begin();
    const Probed probed = split(keys, after, 1 + random() % 20, random() % 40);
    EXPECT_LE(probed.borders.size(), 20u);
    EXPECT_TRUE(std::is_sorted(probed.borders.begin(), probed.borders.end()));
    for (const std::string& border : probed.borders) EXPECT_GT(border, after);
  }
}

TEST(KeySplits, NoKeysOneKeyAndAServerThatIgnoresTheQuestionAreOnePart) {
  EXPECT_TRUE(split({}, "", 8, 64).borders.empty());
  EXPECT_TRUE(split({"only"}, "", 8, 64).borders.empty());
  const auto stubborn =
      split_keys("m", 8, 64, [](const std::string&) -> Result<std::optional<std::string>> {
        return std::optional<std::string>("a");
      });
  ASSERT_TRUE(stubborn);
  EXPECT_TRUE(stubborn->empty());
}

}  // namespace
}  // namespace paddle::source
