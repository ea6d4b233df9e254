// SPDX-License-Identifier: Apache-2.0
#include "test/cli/sample_fixture.h"

#include <filesystem>
#include <sstream>

#include <sched.h>
#include <sys/mount.h>

#include "test/support/components.h"
#include "test/support/eventually.h"

namespace paddle::test {
namespace {

// Before anything is started: mounts are visible in this process only and end with it.
class OwnMounts final : public testing::Environment {
 public:
  void SetUp() override {
    ASSERT_EQ(::unshare(CLONE_NEWNS), 0) << "needs root";
    ASSERT_EQ(::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr), 0);
  }
};
[[maybe_unused]] const auto* const kOwnMounts =
    testing::AddGlobalTestEnvironment(new OwnMounts);  // NOLINT: gtest deletes it

}  // namespace

SampleJobsTest::SampleJobsTest()
    : s3_(
          keys_,
          [this](const net::ReceivedRequest& request, net::ScriptedConnection&) {
            if (request.target.find('?') != request.target.npos) return false;
            Lock lock(gate_mutex_);
            if (!closed_) return false;
            ++held_;
            while (closed_) gate_wake_.wait(gate_mutex_);
            return false;
          },
          net::ScriptedServer::On::kEveryAddress),
      disk_(scratch_.path() + "/disk") {}

SampleJobsTest::~SampleJobsTest() {
  open_gate();
  for (const std::string& directory : started_) (void)ctl_in(directory, {"down"});
  ::umount2(disk_.c_str(), MNT_DETACH);
}

void SampleJobsTest::make_disk() {
  const std::string size = "size=" + std::to_string(kDiskMib) + "m";
  ASSERT_EQ(::mount("none", disk_.c_str(), "tmpfs", 0, size.c_str()), 0);
}

void SampleJobsTest::SetUp() {
  std::filesystem::create_directory(disk_);
  make_disk();
  const Ran ran = up(directory_);
  ASSERT_EQ(ran.exit_code, 0) << ran.out;
  host_ = status(directory_)["nodes"][0]["address"];
}

std::string SampleJobsTest::secret(const std::string& name, const source::FakeS3& server,
                                   const source::S3Credentials& keys) const {
  return "---\n{apiVersion: v1, kind: Secret, metadata: {name: " + name +
         "}, stringData: {access-key: " + keys.access_key + ", secret-key: " + keys.secret_key +
         ", endpoint: \"" + server.url(host_) + "\"}}\n";
}

std::string SampleJobsTest::set_object(const std::string& more, int partitions) const {
  return std::string(
             "---\n{apiVersion: batch.paddlepaddle.org/v1alpha1, kind: SampleSet, metadata: "
             "{name: ") +
         kSet + "}, spec: {" + more + "partitions: " + std::to_string(partitions) +
         ", source: {uri: \"s3://bucket/set\", secretRef: {name: keys}}, cache: "
         "{levels: [{mediumType: SSD, path: " +
         disk_ + "}]}, csi: {driver: samplefs}}}\n";
}

void SampleJobsTest::make_set(const std::string& more, int partitions) {
  apply(secret("keys", s3_, keys_) + set_object(more, partitions));
  must({"wait", std::string("sampleset/") + kSet, "--for=phase=Ready", "--timeout=120s"});
}

std::string SampleJobsTest::job(const std::string& name, const std::string& type,
                                const std::string& more) {
  return "---\n{apiVersion: batch.paddlepaddle.org/v1alpha1, kind: SampleJob, metadata: {name: " +
         name + "}, spec: {type: " + type + ", sampleSetRef: {name: " + kSet + "}" +
         (more.empty() ? "" : ", " + more) + "}}\n";
}

void SampleJobsTest::succeeds(const std::string& name, const std::string& type,
                              const std::string& more) {
  apply(job(name, type, more));
  wait_phase(name, "Succeeded");
}

void SampleJobsTest::wait_phase(const std::string& job, const std::string& phase) const {
  must({"wait", "samplejob/" + job, "--for=phase=" + phase, "--timeout=120s"});
}

nlohmann::json SampleJobsTest::get(const std::string& kind, const std::string& name) const {
  const Ran ran = ctl({"get", kind, name, "-o", "json"});
  return ran.exit_code == 0 ? nlohmann::json::parse(ran.out, nullptr, false) : nlohmann::json();
}

std::string SampleJobsTest::phase_of(const std::string& job) const {
  const auto found = get("samplejob", job);
  return found.value(nlohmann::json::json_pointer("/status/phase"), "");
}

std::string SampleJobsTest::message_of(const std::string& job) const {
  const auto found = get("samplejob", job);
  std::string all;
  for (const auto& each :
       found.value(nlohmann::json::json_pointer("/status/conditions"), nlohmann::json::array())) {
    all += each.value("reason", "") + ": " + each.value("message", "") + "\n";
  }
  return all;
}

std::int64_t SampleJobsTest::cached() const {
  return get("sampleset", kSet)
      .value(nlohmann::json::json_pointer("/status/cacheStatus/cachedBytes"), std::int64_t{0});
}

std::int64_t SampleJobsTest::total() const {
  return get("sampleset", kSet)
      .value(nlohmann::json::json_pointer("/status/cacheStatus/totalBytes"), std::int64_t{0});
}

bool SampleJobsTest::figures(std::int64_t total_bytes, std::int64_t cached_bytes) const {
  const bool right = eventually([&] { return total() == total_bytes && cached() == cached_bytes; },
                                std::chrono::seconds{45}, std::chrono::milliseconds{200});
  if (!right) {
    ADD_FAILURE() << "total " << total() << " not " << total_bytes << ", cached " << cached()
                  << " not " << cached_bytes;
  }
  return right;
}

std::map<std::string, std::string> SampleJobsTest::row() const {
  const auto kubectl = component("kubectl");
  EXPECT_TRUE(kubectl) << kubectl.error().message;
  if (!kubectl) return {};
  const Ran ran =
      run({.argv = {*kubectl, "--kubeconfig", directory_ + "/kubeconfig", "get", "sampleset", kSet},
           .env = clean_environment(scratch_.path())});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const std::string head = ran.out.substr(0, ran.out.find('\n'));
  const std::string line = ran.out.substr(std::min(ran.out.size(), head.size() + 1));
  std::map<std::string, std::string> cells;
  // Columns are separated by three spaces; a header may contain single spaces.
  for (std::size_t at = 0; at < head.size();) {
    std::size_t end = head.find("   ", at);
    const std::string name = head.substr(at, end == head.npos ? end : end - at);
    end = end == head.npos ? head.size() : head.find_first_not_of(' ', end);
    if (end == head.npos) end = head.size();
    std::string cell = at < line.size() ? line.substr(at, end - at) : "";
    cell.erase(cell.find_last_not_of(" \n") + 1);
    cells[name] = cell.substr(0, cell.find('\n'));
    at = end;
  }
  std::fprintf(stderr, "%s", ran.out.c_str());
  return cells;
}

double SampleJobsTest::bytes_in(const std::string& text) {
  std::istringstream in(text);
  double number = 0;
  std::string unit;
  in >> number >> unit;
  for (const char* each : {"B", "KiB", "MiB", "GiB", "TiB"}) {
    if (unit == each) return number;
    number *= 1024;
  }
  return -1;
}

// Volumes of this cluster's node are mounted in them.
std::vector<pid_t> SampleJobsTest::runtimes() const {
  const std::string name = "/" + std::filesystem::path(scratch_.path()).filename().string() + "/";
  std::vector<pid_t> ours = processes_with(std::string("--set=default/") + kSet);
  std::erase_if(ours, [&](pid_t each) {
    const std::string mounts = read_file("/proc/" + std::to_string(each) + "/mountinfo");
    return mounts.find(name) == std::string::npos;
  });
  return ours;
}

std::string SampleJobsTest::in_worker(const std::string& script) {
  const std::string name = "looks-" + std::to_string(++workers_);
  apply("{apiVersion: batch.paddlepaddle.org/v1, kind: PaddleJob, metadata: {name: " + name +
        "}, spec: {cleanPodPolicy: Never, sampleSetRef: {name: " + kSet +
        ", mountPath: /data}, worker: {replicas: 1, template: {spec: {containers: [{name: main, "
        "image: x, command: [sh, -c, '" +
        script + "']}]}}}}}");
  must({"wait", "pdj/" + name, "--for=phase=Completed", "--timeout=120s"});
  std::string said = must({"logs", name + "-worker-0"});
  must({"delete", "pdj", name});
  return said;
}

double SampleJobsTest::fetched(source::FakeS3& server, const std::string& key,
                               std::size_t size) const {
  double bytes = 0;
  for (const net::ReceivedRequest& request : server.seen()) {
    if (request.method != "GET" || request.target != "/bucket/" + key) continue;
    const auto range = request.headers.find("range");
    unsigned long long first = 0, last = 0;
    if (range == request.headers.end()) {  // all of it
      bytes += static_cast<double>(size);
      continue;
    }
    if (std::sscanf(range->second.c_str(), "bytes=%llu-%llu", &first, &last) != 2) continue;
    bytes += static_cast<double>(last - first + 1);
  }
  return bytes / static_cast<double>(size);
}

void SampleJobsTest::close_gate() {
  Lock lock(gate_mutex_);
  closed_ = true;
  held_ = 0;
}

void SampleJobsTest::open_gate() {
  Lock lock(gate_mutex_);
  closed_ = false;
  gate_wake_.notify_all();
}

}  // namespace paddle::test
