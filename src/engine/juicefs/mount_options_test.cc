// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/mount_options.h"

#include <cstdio>

#include <gtest/gtest.h>

namespace paddle::engine::juicefs {
namespace {

using Options = api::JuiceFSMountOptions;

Result<std::string> made(const Options& options,
                         const Tiers& tiers = {.directories = {"/c"}, .mib = 7}) {
  api::SampleSet set;
  set.spec.csi = api::Csi{.juicefs = options};
  return mount_options(set, tiers);
}

TEST(JuicefsMountOptions, AreThoseOfThePublicOperatorByDefault) {
  EXPECT_EQ(*mount_options({}, {.directories = {"/dev/shm/imagenet"}}),
            "cache-dir=/dev/shm/imagenet,cache-size=102400");
  EXPECT_EQ(*made({}, {.directories = {"/a", "/b"}, .mib = 0}), "cache-dir=/a:/b,cache-size=0");
}

TEST(JuicefsMountOptions, EveryOptionIsPassedOnIncludingZeros) {
  const std::string tail = "cache-dir=/c,cache-size=7";
  const struct {
    Options options;
    std::string text;
  } rows[] = {
      {{.metrics = "0.0.0.0:9567"}, tail + ",metrics=0.0.0.0:9567"},
      {{.attr_cache = 0}, "attr-cache=0," + tail},
      {{.entry_cache = 7200}, tail + ",entry-cache=7200"},
      {{.dir_entry_cache = 0}, tail + ",dir-entry-cache=0"},
      {{.enable_xattr = true}, tail + ",enable-xattr"},
      {{.enable_xattr = false}, tail},
      {{.get_timeout = 5}, tail + ",get-timeout=5"},
      {{.put_timeout = 6}, tail + ",put-timeout=6"},
      {{.io_retries = 0}, tail + ",io-retries=0"},
      {{.max_uploads = 1}, tail + ",max-uploads=1"},
      {{.buffer_size = 1024}, "buffer-size=1024," + tail},
      {{.prefetch = 0}, tail + ",prefetch=0"},
      {{.writeback = true}, tail + ",writeback"},
      {{.cache_dir = "/ignored:/the/tiers/have/it"}, tail},
      {{.cache_size = 99}, tail},
      {{.free_space_ratio = "0.05"}, tail + ",free-space-ratio=0.05"},
      {{.free_space_ratio = "0.25"}, tail + ",free-space-ratio=0.25"},
      {{.cache_partial_only = true}, "cache-dir=/c,cache-partial-only,cache-size=7"},
      {{.open_cache = 0}, tail + ",open-cache=0"},
      {{.sub_dir = "train/a"}, tail + ",subdir=train/a"},
  };
  for (const auto& row : rows) {
    const auto text = made(row.options);
    ASSERT_TRUE(text) << row.text;
    EXPECT_EQ(*text, row.text);
  }
}

TEST(JuicefsMountOptions, AnInvalidOptionIsRefusedByName) {
  const struct {
    Options options;
    std::string name;
  } rows[] = {
      {{.metrics = "a,allow_other"}, "metrics"},
      {{.metrics = ""}, "metrics"},
      {{.metrics = "9567"}, "metrics"},
      {{.metrics = "a:1:2"}, "metrics"},
      {{.metrics = "0.0.0.0:95670000"}, "metrics"},
      {{.metrics = "$(touch /tmp/p):1"}, "metrics"},
      {{.metrics = "x'|touch${IFS}/tmp/p|true;#:1"}, "metrics"},
      {{.metrics = "a:1\n"}, "metrics"},
      {{.free_space_ratio = "1"}, "free-space-ratio"},
      {{.free_space_ratio = "-0.1"}, "free-space-ratio"},
      {{.free_space_ratio = "0.1x"}, "free-space-ratio"},
      {{.free_space_ratio = "0"}, "free-space-ratio"},
      {{.free_space_ratio = "0.049"}, "free-space-ratio"},
      {{.sub_dir = "a=b"}, "sub-dir"},
      {{.sub_dir = "a b"}, "sub-dir"},
      {{.sub_dir = "x'|touch${IFS}/tmp/p|true;#"}, "sub-dir"},
      {{.sub_dir = "$(id)"}, "sub-dir"},
      {{.sub_dir = "`id`"}, "sub-dir"},
      {{.sub_dir = "a'b"}, "sub-dir"},
      {{.sub_dir = "a\\b"}, "sub-dir"},
      {{.sub_dir = "a\nb"}, "sub-dir"},
      {{.sub_dir = "a*"}, "sub-dir"},
      {{.sub_dir = "a/../b"}, "sub-dir"},
      {{.sub_dir = ".."}, "sub-dir"},
      {{.sub_dir = "/.."}, "sub-dir"},
      {{.free_space_ratio = "0.1;id"}, "free-space-ratio"},
      {{.prefetch = -1}, "prefetch"},
      {{.open_cache = -5}, "open-cache"},
  };
  for (const auto& row : rows) {
    const auto text = made(row.options);
    ASSERT_TRUE(text.is(Code::kInvalid)) << row.name;
    EXPECT_NE(text.error().message.find("." + row.name + " "), std::string::npos)
        << text.error().message;
  }
}

// The driver quotes for bash what `sh` runs: what passes must need no quotes at all.
TEST(JuicefsMountOptions, AShellLeavesThemUnchanged) {
  const auto text =
      made({.metrics = "[::1]:9567", .free_space_ratio = "+0.5e-1", .sub_dir = "/a..b/.c-d_E/..."},
           {.directories = {"/ssd/a@b%c+d-e_f.g", "/dev/shm/x"}, .mib = 7});
  ASSERT_TRUE(text) << text.error().message;
  const std::string command = "printf %s " + *text;
  FILE* shell = ::popen(command.c_str(), "r");
  ASSERT_TRUE(shell);
  char said[1024] = {};
  const std::size_t size = std::fread(said, 1, sizeof said, shell);
  EXPECT_EQ(::pclose(shell), 0);
  EXPECT_EQ(std::string(said, size), *text);
}

}  // namespace
}  // namespace paddle::engine::juicefs
