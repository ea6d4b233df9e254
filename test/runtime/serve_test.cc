// SPDX-License-Identifier: Apache-2.0
//
// From an empty cache to files under a mount, over a directory.

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <sys/stat.h>
#include <sys/xattr.h>

#include "net/http_client.h"
#include "test/runtime/fixture.h"
#include "test/support/eventually.h"

namespace paddle::test {
namespace {

using runtime::JobKind;
using runtime::JobState;

class ServeTest : public RuntimeTest {};

TEST_F(ServeTest, ASetIsSyncedMountedWarmedUpAndReadByteByByte) {
  if (!why_no_mounts().empty()) GTEST_SKIP() << why_no_mounts();
  start(file_source(60));
  mount();
  attach();
  EXPECT_TRUE(list(point_.path()).empty()) << "nothing is there before the first sync";
  EXPECT_EQ(stat_error(point_ / "class0"), ENOENT);

  const auto synced = run_job("sync-1", {.kind = JobKind::kSync});
  ASSERT_EQ(synced.state, JobState::kSucceeded) << synced.error;
  EXPECT_EQ(synced.progress.files_done, 60);
  EXPECT_EQ(list(point_.path()).size(), 5u) << "the kernel was told to forget its empty listing";
  EXPECT_EQ(stat_error(point_ / "class0"), 0) << "and that there was no such name";
  EXPECT_EQ(read_all(point_ / "class1/1.jpg").bytes, truth_.at("class1/1.jpg"));

  const auto warmed = run_job("warm-1", {.kind = JobKind::kWarmup});
  ASSERT_EQ(warmed.state, JobState::kSucceeded) << warmed.error;
  const auto status = client_.status();
  ASSERT_TRUE(status);
  EXPECT_EQ(status->engine, "samplefs");
  EXPECT_EQ(status->mounts, 1);
  EXPECT_EQ(status->index->files, 60);
  EXPECT_EQ(status->cache.files, 60);
  EXPECT_EQ(status->cache.bytes, 60 * 110'000);
  EXPECT_EQ(status->reads.downloaded, 60 * 110'000) << "no byte was downloaded twice";

  for (const auto& [path, bytes] : truth_) {
    EXPECT_EQ(read_all(point_ / path).bytes, bytes) << path;
  }
  const auto reads = client_.status()->reads;
  EXPECT_EQ(reads.from_source, 110'000);
  EXPECT_EQ(reads.from_cache, 59 * 110'000);
  EXPECT_NE(fuse::Unmounted::kNothing,
            *fuse::unmount(mounted_->point, mounted_->device, std::chrono::seconds{10}));
  EXPECT_TRUE(eventually([&] { return client_.status()->mounts == 0; }));
}

// "value", or the errno as a text.
std::string xattr_of(const std::string& path, const char* name) {
  std::string value(4096, '\0');
  const ssize_t size = ::getxattr(path.c_str(), name, value.data(), value.size());
  if (size < 0) return std::strerror(errno);
  return value.substr(0, static_cast<std::size_t>(size));
}

TEST_F(ServeTest, FilesTellWhereTheyComeFromAndWhereTheyAre) {
  if (!why_no_mounts().empty()) GTEST_SKIP() << why_no_mounts();
  const std::string source = file_source(10);
  start(source);
  ASSERT_EQ(run_job("s", {.kind = JobKind::kSync}).state, JobState::kSucceeded);
  mount();
  attach();
  const std::string file = point_ / "class1/1.jpg";
  EXPECT_EQ(xattr_of(file, "user.samplefs.generation"), "1");
  EXPECT_EQ(xattr_of(file, "user.samplefs.source"), source);
  EXPECT_EQ(xattr_of(file, "user.samplefs.tier"), "source");
  const std::string etag = xattr_of(file, "user.samplefs.etag");
  EXPECT_NE(etag, std::strerror(ENODATA));
  EXPECT_NE(etag, "");
  ASSERT_EQ(run_job("w", {.kind = JobKind::kWarmup}).state, JobState::kSucceeded);
  EXPECT_EQ(xattr_of(file, "user.samplefs.tier"), "1");
  EXPECT_EQ(xattr_of(file, "user.other"), std::strerror(ENODATA));
  EXPECT_EQ(xattr_of(point_.path(), "user.samplefs.generation"), "1");
  EXPECT_EQ(xattr_of(point_.path(), "user.samplefs.etag"), std::strerror(ENODATA));
  std::string names(4096, '\0');
  const ssize_t size = ::listxattr(file.c_str(), names.data(), names.size());
  ASSERT_GT(size, 0) << std::strerror(errno);
  names.resize(static_cast<std::size_t>(size));
  for (const char* name : {"etag", "generation", "source", "tier"}) {
    EXPECT_NE(names.find(std::string("user.samplefs.") + name + '\0'), std::string::npos) << name;
  }
  EXPECT_EQ(::setxattr(file.c_str(), "user.a", "b", 1, 0), -1);

  // Another version of the file says so, also where an earlier one was seen.
  ASSERT_TRUE(write_file(scratch_.path() + "/source/class1/1.jpg", "changed"));
  ASSERT_EQ(run_job("s2", {.kind = JobKind::kSync}).state, JobState::kSucceeded);
  EXPECT_NE(xattr_of(file, "user.samplefs.etag"), etag);
  EXPECT_EQ(xattr_of(file, "user.samplefs.generation"), "2");
  EXPECT_EQ(xattr_of(file, "user.samplefs.tier"), "source");
}

TEST_F(ServeTest, ALaterSyncShowsChangesInAnExistingMount) {
  if (!why_no_mounts().empty()) GTEST_SKIP() << why_no_mounts();
  start(file_source(10));
  ASSERT_EQ(run_job("sync-1", {.kind = JobKind::kSync}).state, JobState::kSucceeded);
  mount();
  attach();
  EXPECT_EQ(list(point_ / "class0").size(), 2u);
  EXPECT_EQ(read_all(point_ / "class0/0.jpg").bytes, truth_.at("class0/0.jpg"));
  EXPECT_EQ(stat_error(point_ / "class0/new.jpg"), ENOENT);

  const std::string source = scratch_.path() + "/source/class0";
  std::filesystem::remove(source + "/5.jpg");
  ASSERT_TRUE(write_file(source + "/new.jpg", "new"));
  ASSERT_TRUE(write_file(source + "/0.tmp", "another content"));
  std::filesystem::rename(source + "/0.tmp", source + "/0.jpg");
  ASSERT_EQ(run_job("sync-2", {.kind = JobKind::kSync}).state, JobState::kSucceeded);
  EXPECT_EQ(list(point_ / "class0"), (std::vector<std::string>{"0.jpg", "5.jpg", "new.jpg"}));
  const engine::SyncTask mirror{.delete_destination = true};
  ASSERT_EQ(run_job("sync-3", {.kind = JobKind::kSync, .sync = mirror}).state,
            JobState::kSucceeded);
  EXPECT_EQ(list(point_ / "class0"), (std::vector<std::string>{"0.jpg", "new.jpg"}));
  EXPECT_EQ(read_all(point_ / "class0/0.jpg").bytes, "another content");
  EXPECT_EQ(read_all(point_ / "class0/new.jpg").bytes, "new");
  EXPECT_EQ(stat_error(point_ / "class0/5.jpg"), ENOENT);
}

TEST_F(ServeTest, AWrongTokenIsRefusedEverywhere) {
  start(file_source(1));
  runtime::Client stranger(address_, "wrong");
  EXPECT_TRUE(stranger.status().is(Code::kUnauthorized));
  EXPECT_TRUE(stranger.put_job("a", {.kind = JobKind::kClear}).is(Code::kUnauthorized));
  net::HttpClient http{{}};
  EXPECT_EQ(http.send({.url = "http://" + address_ + "/healthz"})->status, 200);
  EXPECT_EQ(http.send({.url = "http://" + address_ + "/metrics"})->status, 401);
}

TEST_F(ServeTest, ALimitBeyondTheDiskIsClippedAndLogged) {
  start(file_source(1), {"--cache-mib=999999999999"});
  const auto cache = client_.status()->cache;
  EXPECT_LE(cache.limit, cache.disk_size);
  EXPECT_GT(cache.limit, 0);
  EXPECT_NE(logs().find("MiB only, not of 999999999999 MiB"), std::string::npos) << logs();
}

TEST_F(ServeTest, FilesThatDoNotFitAreReadFromTheSource) {
  if (!why_no_mounts().empty()) GTEST_SKIP() << why_no_mounts();
  start(file_source(40), {"--cache-mib=2"});
  ASSERT_EQ(run_job("s", {.kind = JobKind::kSync}).state, JobState::kSucceeded);
  const auto warmed = run_job("w", {.kind = JobKind::kWarmup});
  EXPECT_EQ(warmed.state, JobState::kSucceeded) << warmed.error;
  EXPECT_GT(warmed.progress.files_no_room, 0);
  EXPECT_EQ(warmed.progress.files_done + warmed.progress.files_no_room, 40);
  mount();
  attach();
  for (const auto& [path, bytes] : truth_) EXPECT_EQ(read_all(point_ / path).bytes, bytes) << path;
  EXPECT_LE(client_.status()->cache.bytes, 2 << 20);
}

TEST_F(ServeTest, SigtermEndsItSoonAndTheNextProcessHasItsJobs) {
  const std::string source = file_source(20);
  start(source);
  ASSERT_EQ(run_job("s", {.kind = JobKind::kSync}).state, JobState::kSucceeded);
  EXPECT_EQ(stop(), (Exit{0, 0}));
  start(source);
  EXPECT_EQ(client_.job("s")->state, JobState::kSucceeded);
  EXPECT_EQ(client_.status()->index->generation, 1);
  struct stat journal {};
  ASSERT_EQ(::stat((cache_ + "/jobs/s.json").c_str(), &journal), 0);
  EXPECT_EQ(journal.st_mode & 0777, 0600u);
}

TEST_F(ServeTest, AFailedStartIsOneSentence) {
  const auto says = [&](const std::vector<std::string>& changed) {
    std::vector<std::string> argv{PADDLE_CACHE, "serve", "--source=file:///tmp"};
    argv.insert(argv.end(), changed.begin(), changed.end());
    return run({.argv = argv, .env = clean_environment(scratch_.path())});
  };
  const std::string token = "--token-file=" + scratch_.path() + "/token";
  for (const auto& [flags, part] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{}, "--help"},
           {{token, "--cache=/no/such", "--listen=127.0.0.1:0"}, "cache directory"},
           {{"--token-file=/no/such", "--cache=" + cache_, "--listen=127.0.0.1:0"}, "no token"},
           {{token, "--cache=" + cache_, "--listen=nonsense"}, "nonsense"},
           {{token, "--cache=" + cache_, "--listen=192.0.2.1:1"}, "cannot listen"},
           {{token, "--cache=" + cache_, "--listen=127.0.0.1:0", "--session=/no/such"},
            "session directory"}}) {
    const Ran ran = says(flags);
    EXPECT_NE(ran.exit_code, 0);
    EXPECT_NE(ran.err.find(part), std::string::npos) << ran.err;
  }
  start(file_source(1));
  const Ran second = says({token, "--cache=" + cache_, "--listen=127.0.0.1:0"});
  EXPECT_NE(second.err.find("in use by another process"), std::string::npos) << second.err;
}

}  // namespace
}  // namespace paddle::test
