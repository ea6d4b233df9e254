// SPDX-License-Identifier: Apache-2.0
//
// What the PaddleJob controller costs on a cluster of a given size, in memory:
//
//   grow_cluster JOBS PODS SETS NODES LIMIT
//
// JOBS jobs of PODS workers each, which read SETS SampleSets on NODES nodes, are created on a
// FakeCluster and brought to Running by the controller and a stand-in for kubelets, in LIMIT
// seconds at most. Then a second manager is started, which finds all of it. Prints one JSON object:
//
//   seconds               until all jobs were Running
//   cpu_seconds           processor time of the controller: that of the process without the
//                         FakeCluster, the kubelets and this program's own thread
//   requests              of the controller, watches left out, until its first manager has ended
//   heap_mib              memory that the second manager holds when it has all lists
//   successor_cpu_seconds what the second manager used until then

#include <atomic>
#include <charconv>
#include <cstdio>
#include <thread>
#include <vector>

#include <malloc.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <time.h>

#include "api/json/look.h"
#include "base/log.h"
#include "controllers/paddle_job/reconciler.h"
#include "engine/names.h"
#include "kube/fake/fake_cluster.h"

namespace paddle {
namespace {

using api::Json;
namespace kinds = kube::resources;
using namespace std::chrono_literals;

constexpr const char* kNamespace = "train";
constexpr int kPartitions = 4;  // of a set
constexpr size_t kHistory = 50'000;

double seconds_of(const timespec& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}
double thread_cpu() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return seconds_of(now);
}
double process_cpu() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return seconds_of(now);
}

// Passes every call on, counts them, and measures the processor time inside of the other cluster:
// callbacks of the caller are left out.
class MeteredCluster final : public kube::Cluster {
 public:
  explicit MeteredCluster(kube::Cluster& inner) : inner_(inner) {}

  size_t requests() const { return requests_; }
  bool lists() const { return lists_in_flight_ > 0; }
  double inner_cpu() const { return inner_cpu_; }

  Result<Json> get(const kube::Resource& resource, const api::ObjectKey& key,
                   const kube::Call& call) override {
    const Meter meter(*this);
    return inner_.get(resource, key, call);
  }
  Result<std::string> list(const kube::Resource& resource, const kube::ListOptions& options,
                           const kube::ItemSink& sink, const kube::Call& call) override {
    Meter meter(*this);
    ++lists_in_flight_;
    auto listed = inner_.list(
        resource, options,
        [&](std::string_view object) { return meter.outside([&] { return sink(object); }); }, call);
    --lists_in_flight_;
    return listed;
  }
  Result<> watch(const kube::Resource& resource, const kube::WatchOptions& options,
                 const kube::EventSink& sink, const kube::Call& call) override {
    Meter meter(*this, false);
    return inner_.watch(
        resource, options,
        [&](const kube::WatchEvent& event) { return meter.outside([&] { return sink(event); }); },
        call);
  }
  Result<Json> create(const kube::Resource& resource, const Json& object,
                      const kube::Call& call) override {
    const Meter meter(*this);
    return inner_.create(resource, object, call);
  }
  Result<Json> update(const kube::Resource& resource, const Json& object, const std::string& sub,
                      const kube::Call& call) override {
    const Meter meter(*this);
    return inner_.update(resource, object, sub, call);
  }
  Result<Json> patch(const kube::Resource& resource, const api::ObjectKey& key,
                     const kube::Patch& patch, const std::string& sub,
                     const kube::Call& call) override {
    const Meter meter(*this);
    return inner_.patch(resource, key, patch, sub, call);
  }
  Result<> remove(const kube::Resource& resource, const api::ObjectKey& key,
                  const kube::DeleteOptions& options, const kube::Call& call) override {
    const Meter meter(*this);
    return inner_.remove(resource, key, options, call);
  }
  Result<Json> get_sub(const kube::Resource& resource, const api::ObjectKey& key,
                       const std::string& sub, const kube::Call& call) override {
    const Meter meter(*this);
    return inner_.get_sub(resource, key, sub, call);
  }

 private:
  class Meter {
   public:
    explicit Meter(MeteredCluster& owner, bool counts = true) : owner_(owner) {
      if (counts) ++owner_.requests_;
    }
    ~Meter() { owner_.inner_cpu_ += thread_cpu() - begun_; }
    template <typename Function>
    Result<> outside(Function function) {
      owner_.inner_cpu_ += thread_cpu() - begun_;
      auto result = function();
      begun_ = thread_cpu();
      return result;
    }

   private:
    MeteredCluster& owner_;
    double begun_ = thread_cpu();
  };

  kube::Cluster& inner_;
  std::atomic<size_t> requests_{0};
  std::atomic<int> lists_in_flight_{0};
  std::atomic<double> inner_cpu_{0};
};

// Starts every pod as soon as it is created.
class Kubelets {
 public:
  explicit Kubelets(kube::FakeCluster& cluster)
      : thread_([this, &cluster](std::stop_token stop) { run(cluster, stop); }) {}
  double cpu() const { return cpu_; }

 private:
  void run(kube::FakeCluster& cluster, std::stop_token stop) {
    while (!stop.stop_requested()) {
      (void)cluster.watch(kinds::kPods, {.resource_version = "0", .timeout = 1h},
                          [&](const kube::WatchEvent& event) -> Result<> {
                            if (event.type == kube::EventType::kAdded) start(cluster, event.object);
                            cpu_ = thread_cpu();
                            return Done{};
                          },
                          {.stop = stop});
    }
  }
  void start(kube::FakeCluster& cluster, std::string_view text) {
    const auto pod = api::parse_json(text);
    if (!pod || !api::look_text(*pod, "/status/podIP").empty()) return;
    const int n = ++started_;
    const std::string ip = "10." + std::to_string(n / 65'536) + "." +
                           std::to_string(n / 256 % 256) + "." + std::to_string(n % 256);
    (void)cluster.patch(
        kinds::kPods, {kNamespace, api::look_text(*pod, "/metadata/name")},
        {.body = {{"status",
                   {{"phase", "Running"},
                    {"podIP", ip},
                    {"podIPs", Json::array({Json{{"ip", ip}}})},
                    {"containerStatuses",
                     Json::array({Json{{"name", "main"},
                                       {"ready", true},
                                       {"restartCount", 0},
                                       {"state", {{"running", Json::object()}}}}})}}}}},
        "status");
  }

  int started_ = 0;
  std::atomic<double> cpu_{0};
  std::jthread thread_;
};

struct Size {
  int jobs = 0, pods = 0, sets = 0, nodes = 0, limit = 0;
};

std::string set_name(int number) { return "set-" + std::to_string(number); }

void create(kube::Cluster& cluster, const kube::Resource& resource, const Json& object) {
  if (auto made = cluster.create(resource, object); !made) {
    std::fprintf(stderr, "grow_cluster: %s\n", made.error().message.c_str());
    std::exit(1);
  }
}

void create_sets_and_nodes(kube::FakeCluster& cluster, const Size& size) {
  std::vector<Json> labels(static_cast<size_t>(size.nodes), Json::object());
  for (int i = 0; i < size.sets; ++i) {
    api::SampleSet set;
    set.meta.key = {kNamespace, set_name(i)};
    Json partitions = Json::array();
    for (int p = 0; p < kPartitions && size.nodes > 0; ++p) {
      const int node = (i * kPartitions + p) % size.nodes;
      labels[static_cast<size_t>(node)][engine::node_label(set)] = engine::runtime_pod_name(set, p);
      partitions.push_back({{"index", p},
                            {"node", "node-" + std::to_string(node)},
                            {"totalBytes", 1000},
                            {"cachedBytes", 1000},
                            {"ready", true}});
    }
    const Json meta = {{"namespace", kNamespace}, {"name", set_name(i)}};
    create(cluster, kinds::kSampleSets,
           {{"apiVersion", api::SampleSet::kApiVersion},
            {"kind", api::SampleSet::kKind},
            {"metadata", meta},
            {"spec", {{"partitions", kPartitions}}}});
    (void)cluster.patch(kinds::kSampleSets, set.meta.key,
                        {.body = {{"status",
                                   {{"phase", "Ready"},
                                    {"engine", "juicefs"},
                                    {"partitions", std::move(partitions)}}}}},
                        "status");
    Json claim = {{"metadata", meta}, {"status", {{"phase", "Bound"}}}};
    claim["metadata"]["labels"] = {{engine::kSetLabel, set_name(i)}};
    create(cluster, kinds::kClaims, claim);
  }
  for (int i = 0; i < size.nodes; ++i) {
    const std::string name = "node-" + std::to_string(i);
    labels[static_cast<size_t>(i)]["kubernetes.io/hostname"] = name;
    create(cluster, kinds::kNodes,
           {{"metadata", {{"name", name}, {"labels", labels[static_cast<size_t>(i)]}}}});
  }
}

Json job_of(int number, const Size& size) {
  Json spec = {
      {"cleanPodPolicy", "Never"},
      {"worker",
       {{"replicas", size.pods},
        {"template",
         {{"spec",
           {{"containers", Json::array({Json{{"name", "main"}, {"image", "paddle:3"}}})}}}}}}}};
  if (size.sets > 0) {
    spec["sampleSetRef"] = {{"name", set_name(number % size.sets)}, {"mountPath", "/data"}};
  }
  return {{"apiVersion", api::PaddleJob::kApiVersion},
          {"kind", api::PaddleJob::kKind},
          {"metadata", {{"namespace", kNamespace}, {"name", "job-" + std::to_string(number)}}},
          {"spec", std::move(spec)}};
}

double heap_mib() {
  ::malloc_trim(0);
  const auto info = ::mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd) / (1 << 20);
}

// One manager with the controller, from its construction to its destruction.
class Operator {
 public:
  Operator(kube::Cluster& cluster, Metrics& metrics) : metrics_(metrics) {
    auto made = controllers::Manager::make(cluster, {.metrics_address = "0", .health_address = "0"},
                                           metrics);
    manager_ = *std::move(made);
    (void)manager_->add({.name = controllers::paddle_job::kControllerName, .workers = 4},
                        [](const controllers::ControllerContext& context) {
                          return controllers::paddle_job::make_reconciler(context, {},
                                                                          system_clock());
                        });
    thread_ = std::jthread([this](std::stop_token stop) { (void)manager_->run(stop); });
  }
  ~Operator() {
    thread_.request_stop();
    thread_.join();
  }
  double running() const {
    return metrics_
        .gauge("paddle_jobs", "PaddleJobs by phase",
               {{"namespace", kNamespace}, {"phase", "Running"}})
        .Value();
  }

 private:
  Metrics& metrics_;
  std::unique_ptr<controllers::Manager> manager_{};
  std::jthread thread_{};
};

// Until all jobs run and no request has been sent for two seconds; false: not within the limit.
bool wait_for_rest(const Operator& subject, const MeteredCluster& cluster, const Size& size,
                   BootTime end) {
  size_t before = 0;
  for (int quiet = 0; quiet < 20;) {
    if (system_clock().boot() > end) return false;
    system_clock().sleep(100ms, {});
    const bool done =
        subject.running() >= size.jobs && !cluster.lists() && cluster.requests() == before;
    quiet = done ? quiet + 1 : 0;
    before = cluster.requests();
  }
  return true;
}

int measure(const Size& size) {
  kube::FakeCluster cluster({.collects_garbage = false, .history_limit = kHistory});
  create_sets_and_nodes(cluster, size);
  for (int i = 0; i < size.jobs; ++i) create(cluster, kinds::kPaddleJobs, job_of(i, size));
  cluster.forget_requests();

  MeteredCluster metered(cluster);
  const BootTime begun = system_clock().boot();
  const BootTime end = begun + std::chrono::seconds{size.limit};
  double cpu = 0, seconds = 0;
  Json result = {{"jobs", size.jobs},
                 {"pods", size.jobs * size.pods},
                 {"sets", size.sets},
                 {"nodes", size.nodes}};
  {
    Metrics metrics;
    const double others = process_cpu();
    const double own = thread_cpu();
    double kubelets_cpu = 0;
    {
      Kubelets kubelets(cluster);
      {
        const Operator subject(metered, metrics);
        while (subject.running() < size.jobs && system_clock().boot() < end) {
          system_clock().sleep(20ms, {});
          cluster.forget_requests();
        }
        seconds = std::chrono::duration<double>(system_clock().boot() - begun).count();
        if (!wait_for_rest(subject, metered, size, end)) {
          std::fprintf(stderr, "grow_cluster: %.0f of %d jobs run after %d s\n", subject.running(),
                       size.jobs, size.limit);
          return 1;
        }
      }
      kubelets_cpu = kubelets.cpu();
    }
    cpu = process_cpu() - others - metered.inner_cpu() - kubelets_cpu - (thread_cpu() - own);
  }
  result["seconds"] = seconds;
  result["cpu_seconds"] = cpu;
  result["requests"] = metered.requests();
  cluster.forget_requests();
  {
    MeteredCluster again(cluster);
    Metrics metrics;
    const double heap = heap_mib();
    const double used = process_cpu(), own = thread_cpu();
    const Operator successor(again, metrics);
    if (!wait_for_rest(successor, again, size, end)) {
      std::fprintf(stderr, "grow_cluster: the second manager is not at rest in time\n");
      return 1;
    }
    result["successor_cpu_seconds"] =
        process_cpu() - used - again.inner_cpu() - (thread_cpu() - own);
    cluster.forget_requests();
    result["heap_mib"] = heap_mib() - heap;
  }
  std::printf("%s\n", result.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace paddle

int main(int argc, char** argv) {
  paddle::Size size;
  int* const fields[] = {&size.jobs, &size.pods, &size.sets, &size.nodes, &size.limit};
  bool good = argc == 6;
  for (int i = 1; good && i < argc; ++i) {
    const std::string_view text(argv[i]);
    good =
        std::from_chars(text.data(), text.data() + text.size(), *fields[i - 1]).ec == std::errc{};
  }
  if (!good) {
    std::fprintf(stderr, "usage: grow_cluster JOBS PODS SETS NODES LIMIT\n");
    return 2;
  }
  paddle::log::set_level(paddle::log::Level::kError);
  return paddle::measure(size);
}
