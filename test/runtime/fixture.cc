// SPDX-License-Identifier: Apache-2.0
#include "test/runtime/fixture.h"

#include <csignal>
#include <filesystem>

#include "test/support/eventually.h"

namespace paddle::test {

RuntimeTest::RuntimeTest() {
  std::filesystem::create_directory(cache_);
  std::filesystem::create_directory(session_);
  EXPECT_TRUE(write_file(scratch_.path() + "/token", std::string(kCanaryToken) + "\n"));
}

RuntimeTest::~RuntimeTest() {
  kill();
  mounted_.reset();
  EXPECT_EQ(logs().find("canary"), std::string::npos) << "a secret is in the log";
}

void RuntimeTest::start(const std::string& source, const std::vector<std::string>& more) {
  Command command{.argv = {PADDLE_CACHE, "serve", "--set=test/set", "--source=" + source,
                           "--token-file=" + scratch_.path() + "/token", "--cache=" + cache_,
                           "--session=" + session_, "--listen=" + address_},
                  .env = clean_environment(scratch_.path()),
                  .log = log_};
  command.env.insert(command.env.end(), environment_.begin(), environment_.end());
  command.argv.insert(command.argv.end(), more.begin(), more.end());
  const auto child = spawn(command);
  ASSERT_TRUE(child) << child.error().message;
  server_ = *child;
  ASSERT_TRUE(eventually([&] { return client_.status() || !alive(server_); }));
  ASSERT_TRUE(alive(server_)) << logs();
}

void RuntimeTest::start_to_die_after(const std::string& name, const std::string& source) {
  environment_ = {std::string("LD_PRELOAD=") + KILL_AFTER_RENAME, "KILL_AFTER_RENAME_TO=" + name};
  start(source);
  environment_.clear();
}

void RuntimeTest::wait_until_dead() {
  std::optional<Exit> exit;
  ASSERT_TRUE(eventually([&] { return (exit = poll_exit(server_)).has_value(); })) << logs();
  server_ = 0;
  EXPECT_EQ(*exit, (Exit{0, SIGKILL})) << logs();
}

void RuntimeTest::write_identity(const runtime::SecretData& data) {
  for (const auto& [key, value] : data) {
    EXPECT_TRUE(write_file(scratch_.path() + "/" + key, value));
  }
}

void RuntimeTest::start_over_tls() {
  Command command{.argv = {PADDLE_CACHE, "serve", "--set=test/set", "--source=" + file_source(1),
                           "--token-file=" + scratch_.path() + "/token", "--tls=" + scratch_.path(),
                           "--cache=" + cache_, "--listen=" + address_},
                  .env = clean_environment(scratch_.path()),
                  .log = log_};
  const auto child = spawn(command);
  ASSERT_TRUE(child) << child.error().message;
  server_ = *child;
}

void RuntimeTest::kill() {
  if (server_ > 0) kill_and_reap(server_);
  server_ = 0;
}

Exit RuntimeTest::stop() {
  ::kill(server_, SIGTERM);
  std::optional<Exit> exit;
  EXPECT_TRUE(eventually([&] { return (exit = poll_exit(server_)).has_value(); }));
  server_ = 0;
  return exit.value_or(Exit{-1, -1});
}

std::string RuntimeTest::file_source(int count) {
  const std::string directory = scratch_.path() + "/source";
  for (int i = 0; i < count; ++i) {
    const std::string path = "class" + std::to_string(i % 5) + "/" + std::to_string(i) + ".jpg";
    truth_[path] = pattern(static_cast<std::uint64_t>(i), 0, 110'000);
    std::filesystem::create_directories(directory + "/class" + std::to_string(i % 5));
    EXPECT_TRUE(write_file(directory + "/" + path, truth_[path]));
  }
  return "file://" + directory;
}

runtime::JobReport RuntimeTest::run_job(const std::string& id, const runtime::JobRequest& request) {
  const auto put = client_.put_job(id, request);
  EXPECT_TRUE(put) << put.error().message;
  runtime::JobReport report;
  EXPECT_TRUE(eventually([&] {
    const auto seen = client_.job(id);
    if (seen) report = *seen;
    return seen && runtime::ended(seen->state);
  })) << id;
  return report;
}

void RuntimeTest::mount() {
  auto mounted = fuse::mount_data(point_.path(), {});
  ASSERT_TRUE(mounted) << mounted.error().message;
  mounted_ = *std::move(mounted);
}

void RuntimeTest::attach() {
  std::optional<fuse::Negotiated> resumed;
  if (attached_) resumed = attached_->agreed;
  auto attached = fuse::attach(session_, "test-set", {mounted_->channel.get()}, resumed,
                               std::chrono::seconds{30});
  ASSERT_TRUE(attached) << attached.error().message << "\n" << logs();
  attached_ = *std::move(attached);
}

}  // namespace paddle::test
