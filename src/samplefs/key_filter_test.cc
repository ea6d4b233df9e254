// SPDX-License-Identifier: Apache-2.0
#include "samplefs/key_filter.h"

#include <random>

#include <gtest/gtest.h>

namespace paddle::samplefs {
namespace {

TEST(Glob, StarsStayWithinANameAndDoubleStarsDoNot) {
  for (const auto& [pattern, text] : std::vector<std::pair<std::string, std::string>>{
           {"", ""},          {"*", ""},          {"*", "a.jpg"},     {"*.jpg", "a.jpg"},
           {"a*c", "abbc"},   {"a*b*c", "aXbYc"}, {"?", "x"},         {"[a-c]1", "b1"},
           {"[!a]", "b"},     {"[^a-c]", "d"},    {"a/*/c", "a/b/c"}, {"**", "a/b"},
           {"a/**", "a/b/c"}, {"**/c", "a/b/c"},  {"a**c", "a/b/c"},  {"**b*c", "a/b/bb-c"},
           {"[", "["},        {"\\*", "*"},       {"*a*b", "aab"},    {"**/x*/y", "p/xx/q/x1/y"}}) {
    EXPECT_TRUE(matches_glob(pattern, text)) << pattern << " " << text;
  }
  for (const auto& [pattern, text] :
       std::vector<std::pair<std::string, std::string>>{{"", "a"},
                                                        {"a", ""},
                                                        {"*.jpg", "a.png"},
                                                        {"*", "a/b"},
                                                        {"a?c", "a/c"},
                                                        {"[a-c]", "d"},
                                                        {"[!a]", "a"},
                                                        {"[!a]", "/"},
                                                        {"a/*", "a/b/c"},
                                                        {"**/c", "a/d"},
                                                        {"\\*", "a"},
                                                        {"a*b", "ab/b"}}) {
    EXPECT_FALSE(matches_glob(pattern, text)) << pattern << " " << text;
  }
}

// The reference: an exhaustive matcher.
bool matches_slowly(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.starts_with('*')) {
    const bool crosses = pattern.starts_with("**");
    for (std::size_t taken = 0;; ++taken) {
      if (matches_slowly(pattern.substr(crosses ? 2 : 1), text.substr(taken))) return true;
      if (taken == text.size() || (!crosses && text[taken] == '/')) return false;
    }
  }
  if (text.empty()) return false;
  const bool same = pattern[0] == '?' ? text[0] != '/' : pattern[0] == text[0];
  return same && matches_slowly(pattern.substr(1), text.substr(1));
}

TEST(Glob, AgreesWithAnExhaustiveMatcher) {
  std::mt19937 random(7);
  const auto any = [&](const std::string& letters, std::size_t most) {
    std::string text;
    for (std::size_t i = random() % (most + 1); i > 0; --i)
      text += letters[random() % letters.size()];
    return text;
  };
  int matched = 0;
  for (int i = 0; i < 50'000; ++i) {
    const std::string pattern = any("ab/**?", 8), text = any("ab/", 8);
    const bool expected = matches_slowly(pattern, text);
    ASSERT_EQ(matches_glob(pattern, text), expected) << pattern << " " << text;
    matched += expected ? 1 : 0;
  }
  EXPECT_GT(matched, 1'000);
}

TEST(KeyFilter, BoundsAreTheFirstAndTheLastKey) {
  const KeyFilter filter{.start = "b", .end = "d/5"};
  EXPECT_FALSE(filter.takes("a/9"));
  EXPECT_TRUE(filter.takes("b"));
  EXPECT_TRUE(filter.takes("c/1"));
  EXPECT_TRUE(filter.takes("d/5"));
  EXPECT_FALSE(filter.takes("d/50"));
}

TEST(KeyFilter, TheFirstRuleThatMatchesDecidesAtEachLevel) {
  const KeyFilter plain{};
  EXPECT_TRUE(plain.takes("any/thing"));

  const KeyFilter no_text{.exclude = {"*.txt"}};
  EXPECT_FALSE(no_text.takes("a/b/c.txt"));
  EXPECT_TRUE(no_text.takes("a/b/c.jpg"));

  const KeyFilter no_tree{.exclude = {"tmp/"}};
  EXPECT_FALSE(no_tree.takes("a/tmp/b"));
  EXPECT_TRUE(no_tree.takes("a/tmp")) << "a file of that name is no directory";

  const KeyFilter at_root{.exclude = {"/a"}};
  EXPECT_FALSE(at_root.takes("a/1"));
  EXPECT_TRUE(at_root.takes("b/a"));

  const KeyFilter images{.include = {"*/", "*.jpg"}, .exclude = {"*"}};
  EXPECT_TRUE(images.takes("a/b/c.jpg"));
  EXPECT_FALSE(images.takes("a/b/c.txt"));

  const KeyFilter flat{.include = {"*.jpg"}, .exclude = {"*"}};
  EXPECT_TRUE(flat.takes("c.jpg"));
  EXPECT_FALSE(flat.takes("a/c.jpg")) << "its directory is left out before it is looked at";

  const KeyFilter deep{.exclude = {"a/*/c"}};
  EXPECT_FALSE(deep.takes("x/a/b/c"));
  EXPECT_TRUE(deep.takes("a/b/d"));
}

}  // namespace
}  // namespace paddle::samplefs
