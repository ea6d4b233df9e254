// SPDX-License-Identifier: Apache-2.0
//
// A source that hangs, sends slowly, or refuses the keys, as readers of a mount see it. The server
// is a fake, because a real one does not do this on request.

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <thread>

#include "source/fake/fake_s3.h"
#include "test/runtime/fixture.h"
#include "test/support/eventually.h"

namespace paddle::test {
namespace {

using runtime::JobKind;
using runtime::JobState;

class SlowSourceTest : public RuntimeTest {
 protected:
  enum class Mood { kWell, kHangs, kDrips, kRefuses };

  SlowSourceTest() {
    std::filesystem::create_directory(secret_);
    key("endpoint", server_s3_.url());
    key("access-key", "paddle");
    key("secret-key", "canary-secret-5e1f");
    key("session-token", kFresh);
  }
  ~SlowSourceTest() override { mood_ = Mood::kWell; }

  void SetUp() override {
    if (!why_no_mounts().empty()) GTEST_SKIP() << why_no_mounts();
  }

  void key(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file(secret_ + "/" + name, text));
  }
  void fill_bucket(const std::string& directory, int count) {
    for (int i = 0; i < count; ++i) {
      const std::string path = directory + "/" + std::to_string(i);
      truth_[path] = pattern(static_cast<std::uint64_t>(i), 0, 50'000);
      server_s3_.put(path, truth_[path]);
    }
  }
  void serve(const std::vector<std::string>& more = {}) {
    std::vector<std::string> flags{"--source-secret=" + secret_};
    flags.insert(flags.end(), more.begin(), more.end());
    start("s3://bucket", flags);
    ASSERT_EQ(run_job("s", {.kind = JobKind::kSync}).state, JobState::kSucceeded) << logs();
    mount();
    attach();
  }
  // True: it has answered, or never will.
  bool script(const net::ReceivedRequest& request, net::ScriptedConnection& wire) {
    if (request.headers.at("x-amz-security-token") != kFresh) {
      wire.reply(400, "<Error><Code>ExpiredToken</Code></Error>");
      return true;
    }
    switch (mood_) {
      case Mood::kWell:
        return false;
      case Mood::kHangs:
        wire.wait_for_peer();
        return true;
      case Mood::kDrips:
        wire.send("HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n");
        for (int i = 0; i < 50'000 && mood_ == Mood::kDrips; ++i) {
          wire.send("x");
          system_clock().sleep(std::chrono::milliseconds{50}, {});
        }
        wire.close();
        return true;
      case Mood::kRefuses:
        wire.reset();
        return true;
    }
    return false;
  }

  static constexpr const char* kFresh = "canary-fresh-token";
  const std::string secret_ = scratch_.path() + "/secret";
  std::atomic<Mood> mood_ = Mood::kWell;
  source::FakeS3 server_s3_{
      {.access_key = "paddle", .secret_key = "canary-secret-5e1f", .session_token = kFresh},
      [this](const net::ReceivedRequest& request, net::ScriptedConnection& wire) {
        return script(request, wire);
      }};
};

TEST_F(SlowSourceTest, AReadEndsByItsDeadlineWhateverTheSourceDoes) {
  fill_bucket("set", 4);
  serve({"--read-timeout=2"});
  EXPECT_EQ(read_all(point_ / "set/3").bytes, truth_.at("set/3"));
  int file = 0;
  for (const Mood mood : {Mood::kHangs, Mood::kDrips, Mood::kRefuses}) {
    const std::string path = "set/" + std::to_string(file++);
    mood_ = mood;
    Content content;
    std::atomic<bool> ended = false;
    std::jthread reader([&] {
      content = read_all(point_ / path);
      ended = true;
    });
    // The source's own attempts would last for minutes.
    EXPECT_TRUE(eventually([&] { return ended.load(); })) << path;
    if (!ended) mounted_.reset();  // lets the reader go
    reader.join();
    EXPECT_TRUE(content.error == ETIMEDOUT || content.error == EIO)
        << path << ": errno " << content.error;
    EXPECT_EQ(content.bytes, "");
    drop_page_cache(point_ / "set/3");
    EXPECT_EQ(read_all(point_ / "set/3").bytes, truth_.at("set/3")) << "it is cached";
    mood_ = Mood::kWell;
    EXPECT_TRUE(eventually([&] { return read_all(point_ / path).bytes == truth_.at(path); }))
        << path << " when the source is well again";
  }
}

TEST_F(SlowSourceTest, ADeadSourceIsReportedUntilItAnswersAlsoWhenNobodyReads) {
  fill_bucket("set", 1);
  serve({"--read-timeout=1"});
  EXPECT_EQ(client_.status()->source_error, "");
  mood_ = Mood::kHangs;
  EXPECT_NE(read_all(point_ / "set/0").error, 0);
  std::string said;
  EXPECT_TRUE(eventually([&] { return !(said = client_.status()->source_error).empty(); }));
  EXPECT_NE(said.find("s3://bucket at http://127.0.0.1"), std::string::npos) << said;
  EXPECT_EQ(said.find("canary"), std::string::npos) << said;
  mood_ = Mood::kWell;
  EXPECT_TRUE(eventually([&] { return client_.status()->source_error.empty(); }));
  EXPECT_EQ(client_.status()->reads.downloaded, 0) << "a probe is not for the cache";
}

TEST_F(SlowSourceTest, CachedFilesAreReadWhileManyReadersWaitForTheSource) {
  constexpr int kReaders = 150;
  fill_bucket("far", kReaders);
  fill_bucket("near", 10);
  serve({"--read-timeout=600"});
  for (int i = 0; i < 10; ++i) {
    const std::string path = "near/" + std::to_string(i);
    ASSERT_EQ(read_all(point_ / path).bytes, truth_.at(path));
    drop_page_cache(point_ / path);
  }
  mood_ = Mood::kHangs;
  const FuseControl control;
  std::vector<std::jthread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([&, i] { (void)read_all(point_ / ("far/" + std::to_string(i))); });
  }
  EXPECT_TRUE(eventually([&] { return control.waiting(mounted_->device) >= kReaders; }));
  std::atomic<int> right = 0;
  std::jthread near([&] {
    for (int i = 0; i < 10; ++i) {
      const std::string path = "near/" + std::to_string(i);
      if (read_all(point_ / path).bytes == truth_.at(path)) ++right;
    }
  });
  EXPECT_TRUE(eventually([&] { return right == 10 || control.waiting(mounted_->device) == 0; }));
  EXPECT_EQ(right, 10) << "read while the others waited";
  // A reader may have had two requests when all were counted first, and another none yet.
  EXPECT_TRUE(eventually([&] { return control.waiting(mounted_->device) >= kReaders; }))
      << "which they still do";
  kill();
  attached_.reset();
  mounted_.reset();  // lets them go
}

TEST_F(SlowSourceTest, AnExpiredTokenIsReplacedByTheSecretsCurrentOne) {
  fill_bucket("set", 2);
  serve();
  kill();
  key("session-token", "canary-old-token");
  start("s3://bucket", {"--source-secret=" + secret_});
  attach();
  EXPECT_EQ(read_all(point_ / "set/0").error, EACCES);
  key("session-token", kFresh);
  EXPECT_EQ(read_all(point_ / "set/0").bytes, truth_.at("set/0"));
}

}  // namespace
}  // namespace paddle::test
