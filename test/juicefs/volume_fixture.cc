// SPDX-License-Identifier: Apache-2.0
#include "test/juicefs/volume_fixture.h"

#include <csignal>
#include <filesystem>

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "runtime/runtime_secret.h"
#include "source/s3/sigv4.h"
#include "test/support/components.h"
#include "test/support/eventually.h"

namespace paddle::test {
namespace {

// In a mount namespace of its own: a mount that is left ends with the test's processes.
bool have_a_mount_table_of_our_own() {
  static const bool kDone = ::unshare(CLONE_NEWNS) == 0 &&
                            ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  return kDone;
}

std::string redis_url(int port) {
  return "redis://:" + source::uri_encode(kRedisPassword, false) +
         "@127.0.0.1:" + std::to_string(port) + "/0";
}

void write_all(const std::string& directory, const std::map<std::string, std::string>& files) {
  std::filesystem::create_directories(directory);
  for (const auto& [name, value] : files) {
    // As `echo value | base64` gives it.
    ASSERT_TRUE(write_file(directory + "/" + name, value + "\n"));
  }
}

}  // namespace

void VolumeTest::SetUpTestSuite() {
  ASSERT_TRUE(have_a_mount_table_of_our_own()) << "this test has to be root";
}

void VolumeTest::SetUp() {
  const auto juicefs = component("juicefs");
  ASSERT_TRUE(juicefs) << juicefs.error().message;
  juicefs_ = *juicefs;
  const auto redis = component("redis");
  ASSERT_TRUE(redis) << redis.error().message;
  const auto started = s3_.start();
  ASSERT_TRUE(started) << started.error().message;
  const std::string endpoint = s3_.endpoint();
  proxy_ = std::make_unique<CountingProxy>(std::atoi(endpoint.c_str() + endpoint.rfind(':') + 1));
  source_ = "minio://127.0.0.1:" + std::to_string(proxy_->port()) + "/bucket/train";
  ASSERT_TRUE(s3_.put("/volume", ""));

  redis_port_ = *ReservedPort::any();
  ASSERT_TRUE(write_file(path("redis.conf"), std::string("requirepass ") + kRedisPassword + "\n"));
  const auto child =
      scratch_.keeper().spawn({.argv = {*redis, path("redis.conf"), "--bind", "127.0.0.1", "--port",
                                        std::to_string(redis_port_->number()), "--save", "",
                                        "--appendonly", "no", "--dir", scratch_.path()},
                               .env = clean_environment(scratch_.path()),
                               .log = path("redis.log")});
  ASSERT_TRUE(child) << child.error().message;
  write_secrets();
}

void VolumeTest::TearDown() {
  for (auto& runtime : runtimes_) {
    if (runtime->server > 0) kill_server(*runtime);
    unmount(*runtime);
  }
  const std::string all = said();
  EXPECT_EQ(all.find("canary"), std::string::npos) << "a secret is in a log";
  if (HasFailure()) std::cerr << all.substr(all.size() > 8000 ? all.size() - 8000 : 0);
}

void VolumeTest::write_secrets() {
  write_all(path("volume"), {{"name", "samples"},
                             {"metaurl", redis_url(redis_port_->number())},
                             {"storage", "minio"},
                             {"bucket", s3_.endpoint() + "/volume"},
                             {"access-key", kAccessKey},
                             {"secret-key", kSecretKey}});
  write_all(path("source"), {{"access-key", kAccessKey}, {"secret-key", kSecretKey}});
  auto identity = runtime::make_runtime_secret("test", "samples", {}, system_clock().wall());
  ASSERT_TRUE(identity) << identity.error().message;
  (*identity)["token"] = kVolumeToken;
  write_all(path("identity"), *identity);
}

runtime::Client VolumeTest::client(const Runtime& runtime) const {
  return runtime::Client(runtime.address, {.token = kVolumeToken,
                                           .authority = read_file(path("identity/ca.crt")),
                                           .name = runtime::server_name("test", "samples")});
}

void VolumeTest::put_source(int count, std::size_t size) {
  for (int i = 0; i < count; ++i) {
    const std::string name =
        "class" + std::to_string(i % 7) + "/deep/" + std::to_string(i) + ".jpg";
    std::string bytes(size, '\0');
    for (std::size_t at = 0; at < size; ++at) {
      bytes[at] = static_cast<char>((at * 31 + static_cast<std::size_t>(i) * 7) >> 3);
    }
    ASSERT_TRUE(s3_.put("/bucket/train/" + name, bytes)) << name;
    truth_[name] = std::move(bytes);
  }
}

Ran VolumeTest::format(const std::string& volume_secret) {
  return run({.argv = {PADDLE_CACHE, "format", "--volume-secret=" + volume_secret,
                       "--juicefs=" + juicefs_},
              .env = clean_environment(scratch_.path())});
}

void VolumeTest::mount(Runtime& runtime) {
  Command command{
      .argv = {juicefs_, "mount", "--no-usage-report", "--no-bgjob", "--backup-meta=0",
               "--cache-dir=" + runtime.directory + "/blocks", "--cache-size=1024",
               "--metrics=127.0.0.1:0", "--log=" + runtime.directory + "/client.log",
               "redis://127.0.0.1:" + std::to_string(redis_port_->number()) + "/0", runtime.mount},
      .env = clean_environment(scratch_.path()),
      .log = runtime.directory + "/client.out"};
  command.env.push_back(std::string("META_PASSWORD=") + kRedisPassword);
  const auto child = scratch_.keeper().spawn(command);
  ASSERT_TRUE(child) << child.error().message;
  runtime.client = *child;
  struct stat seen {};
  ASSERT_TRUE(eventually([&] { return ::stat((runtime.mount + "/.control").c_str(), &seen) == 0; }))
      << read_file(runtime.directory + "/client.out");
}

void VolumeTest::unmount(Runtime& runtime) {
  ::umount2(runtime.mount.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
  if (runtime.client > 0) (void)scratch_.keeper().kill(runtime.client);
  runtime.client = 0;
}

void VolumeTest::serve(Runtime& runtime, const std::vector<std::string>& more) {
  Command command{.argv = {PADDLE_CACHE, "serve", "--engine=juicefs", "--set=test/samples",
                           "--source=" + source_, "--source-secret=" + path("source"),
                           "--volume-secret=" + path("volume"), "--data=" + runtime.mount,
                           "--token-file=" + path("identity/token"), "--tls=" + path("identity"),
                           "--cache-mib=1024", "--cache=" + runtime.directory + "/state",
                           "--juicefs=" + juicefs_, "--listen=" + runtime.address},
                  .env = clean_environment(scratch_.path()),
                  .log = runtime.log};
  // What a machine's settings would do to a client of S3; none of it may reach one.
  command.env.push_back("AWS_CA_BUNDLE=/nonexistent");
  command.env.push_back("HTTP_PROXY=http://127.0.0.1:1");
  command.argv.insert(command.argv.end(), more.begin(), more.end());
  const auto child = spawn(command);
  ASSERT_TRUE(child) << child.error().message;
  runtime.server = *child;
  ASSERT_TRUE(eventually([&] { return client(runtime).status() || !alive(runtime.server); }));
  ASSERT_TRUE(alive(runtime.server)) << read_file(runtime.log);
}

void VolumeTest::kill_server(Runtime& runtime) {
  ::kill(runtime.server, SIGKILL);  // alone: what it started has to end by itself
  ASSERT_TRUE(eventually([&] { return poll_exit(runtime.server).has_value(); }));
  runtime.server = 0;
}

Exit VolumeTest::stop_server(Runtime& runtime) {
  ::kill(runtime.server, SIGTERM);
  std::optional<Exit> exit;
  EXPECT_TRUE(eventually([&] { return (exit = poll_exit(runtime.server)).has_value(); }));
  runtime.server = 0;
  return exit.value_or(Exit{-1, -1});
}

Runtime& VolumeTest::add_runtime() {
  auto runtime = std::make_unique<Runtime>();
  runtime->directory = path("node" + std::to_string(runtimes_.size()));
  runtime->mount = runtime->directory + "/mnt";
  runtime->log = runtime->directory + "/log";
  runtime->port = *ReservedPort::any();
  runtime->address = "127.0.0.1:" + std::to_string(runtime->port->number());
  std::filesystem::create_directories(runtime->mount);
  std::filesystem::create_directories(runtime->directory + "/state");
  runtimes_.push_back(std::move(runtime));
  mount(*runtimes_.back());
  serve(*runtimes_.back());
  return *runtimes_.back();
}

runtime::JobReport VolumeTest::wait_for(const Runtime& runtime, const std::string& id) {
  runtime::JobReport report;
  EXPECT_TRUE(eventually([&] {
    const auto seen = client(runtime).job(id);
    if (seen) report = *seen;
    return seen && runtime::ended(seen->state);
  })) << id;
  EXPECT_EQ(report.error.find("canary"), std::string::npos) << "a secret is in an error";
  return report;
}

runtime::JobReport VolumeTest::run_job(const Runtime& runtime, const std::string& id,
                                       const runtime::JobRequest& request) {
  const auto put = client(runtime).put_job(id, request);
  EXPECT_TRUE(put) << put.error().message;
  return wait_for(runtime, id);
}

std::map<std::string, std::string> VolumeTest::files_beneath(const std::string& root) {
  std::map<std::string, std::string> all;
  for (auto at = std::filesystem::recursive_directory_iterator(root);
       at != std::filesystem::recursive_directory_iterator(); ++at) {
    const bool hidden = at->path().filename().string().starts_with('.');
    if (hidden) at.disable_recursion_pending();
    if (hidden || !at->is_regular_file()) continue;
    all[at->path().lexically_relative(root)] = read_file(at->path());
  }
  return all;
}

std::string VolumeTest::differences(const std::string& root,
                                    const std::map<std::string, std::string>& expected) {
  const auto found = files_beneath(root);
  std::string all;
  for (const auto& [name, bytes] : found) {
    const auto other = expected.find(name);
    if (other == expected.end()) all += name + " should not be there\n";
    if (other != expected.end() && other->second != bytes) all += name + " has other bytes\n";
  }
  for (const auto& [name, bytes] : expected) {
    if (!found.contains(name)) all += name + " is missing\n";
  }
  return all;
}

std::string VolumeTest::said() const {
  std::string all;
  for (const auto& runtime : runtimes_) all += read_file(runtime->log);
  return all;
}

void VolumeTest::expect_no_secret_in_argv() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string argv = read_file(entry.path().string() + "/cmdline");
    EXPECT_EQ(argv.find("canary"), std::string::npos) << "a secret is on a command line: " << argv;
  }
}

}  // namespace paddle::test
