// SPDX-License-Identifier: Apache-2.0
//
// A load generator: creates objects as fast as it can and waits until the API server shows all
// pods, or all PaddleJobs, of their namespace as Running.
//
//   make_objects KUBECONFIG OBJECTS (pods | paddlejobs) COUNT HANDS LIMIT
//
// OBJECTS has one object a line (Pod, Service, ConfigMap or PaddleJob), all of one namespace. HANDS
// connections create them in that order; they are open before the clock starts. COUNT are waited
// for, LIMIT seconds at most. Prints one JSON object; times are seconds since the first request:
// "created" the last answer to a create, "first", "median" and "all" when a watch showed as many
// Running. "cpu" is this program's own processor time.

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <latch>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "api/json/look.h"
#include "base/sync.h"
#include "kube/client/client.h"
#include "kube/client/load_config.h"

namespace paddle {
namespace {

using api::Json;
namespace kinds = kube::resources;

struct Task {
  std::string kubeconfig{};
  std::string file{};
  kube::Resource watched{};
  size_t count = 0;
  size_t hands = 1;
  std::chrono::seconds limit{};
};

struct Wanted {
  const kube::Resource* resource = nullptr;
  Json object{};
};

const kube::Resource* resource_of(const std::string& kind) {
  for (const auto* each :
       {&kinds::kPods, &kinds::kServices, &kinds::kConfigMaps, &kinds::kPaddleJobs}) {
    if (each->kind == kind) return each;
  }
  return nullptr;
}

Result<std::vector<Wanted>> read_objects(const std::string& path) {
  std::ifstream in(path);
  std::vector<Wanted> all;
  for (std::string line; std::getline(in, line);) {
    TRY(Json object, api::parse_json(line));
    const kube::Resource* resource = resource_of(api::look_text(object, "kind"));
    if (!resource) return Error{Code::kInvalid, "a line of " + path + " has an unknown kind"};
    all.push_back({resource, std::move(object)});
  }
  if (all.empty()) return Error{Code::kInvalid, "there are no objects in " + path};
  return all;
}

// When objects were first seen Running. Written by the watch, awaited by main.
class Finish {
 public:
  explicit Finish(size_t count) : count_(count) {}

  void seen(const std::string& name, BootTime at) {
    Lock lock(mutex_);
    times_.emplace(name, at);
    if (times_.size() >= count_) enough_.notify_all();
  }
  void broke(Error error) {
    Lock lock(mutex_);
    error_ = std::move(error);
    enough_.notify_all();
  }

  // Sorted. kDeadline when the limit passed first.
  Result<std::vector<BootTime>> wait(std::chrono::seconds limit) {
    const BootTime end = system_clock().boot() + limit;
    Lock lock(mutex_);
    while (times_.size() < count_ && !error_) {
      const auto left = end - system_clock().boot();
      if (left.count() <= 0) break;
      enough_.wait_for(mutex_, {}, left);
    }
    if (error_) return *error_;
    if (times_.size() < count_) {
      return Error{Code::kDeadline, std::to_string(times_.size()) + " of " +
                                        std::to_string(count_) + " are Running after " +
                                        std::to_string(limit.count()) + " s"};
    }
    std::vector<BootTime> all;
    for (const auto& [name, at] : times_) all.push_back(at);
    std::ranges::sort(all);
    return all;
  }

 private:
  const size_t count_;
  CondVar enough_;
  Mutex mutex_;
  std::map<std::string, BootTime> times_ GUARDED_BY(mutex_);
  std::optional<Error> error_ GUARDED_BY(mutex_);
};

// Until `stop`. A server may end the watch of a slow client: missed objects are then listed.
void watch(kube::Client& client, const Task& task, const std::string& ns, std::string version,
           Finish& finish, std::stop_token stop) {
  const auto note = [&](std::string_view text) -> Result<> {
    const BootTime now = system_clock().boot();
    TRY(const Json object, api::parse_json(text));
    if (api::look_text(object, "/status/phase") == "Running") {
      finish.seen(api::look_text(object, "/metadata/name"), now);
    }
    return Done{};
  };
  const auto event = [&](const kube::WatchEvent& seen) -> Result<> {
    const bool there =
        seen.type == kube::EventType::kAdded || seen.type == kube::EventType::kModified;
    return there ? note(seen.object) : Done{};
  };
  while (!stop.stop_requested()) {
    (void)client.watch(task.watched,
                       {.ns = ns, .resource_version = version, .timeout = task.limit * 2}, event,
                       {.stop = stop});
    if (stop.stop_requested()) return;
    auto listed = client.list(task.watched, {.ns = ns}, note, {.stop = stop});
    if (!listed) return finish.broke(std::move(listed).error());
    version = *std::move(listed);
  }
}

// Creates all objects; returns the time before the first request.
Result<BootTime> create(kube::Client& client, const std::vector<Wanted>& objects, size_t hands) {
  const Clock& clock = system_clock();
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  std::optional<Error> error;
  Mutex mutex;
  std::latch connected(static_cast<std::ptrdiff_t>(hands) + 1), go(1);
  const auto fail = [&](Error why) {
    Lock lock(mutex);
    if (!failed.exchange(true)) error = std::move(why);
  };
  const auto work = [&] {
    auto ready = client.get_raw("/readyz");
    if (!ready) fail(std::move(ready).error());
    connected.count_down();
    go.wait();
    for (size_t i = next++; i < objects.size() && !failed; i = next++) {
      auto made = client.create(*objects[i].resource, objects[i].object);
      if (!made) fail(std::move(made).error());
    }
  };
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < hands; ++i) threads.emplace_back(work);
  connected.arrive_and_wait();
  const BootTime start = clock.boot();
  go.count_down();
  threads.clear();  // joins
  if (error) return *error;
  return start;
}

double processor_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

Result<> run(const Task& task) {
  TRY(const auto objects, read_objects(task.file));
  TRY(kube::Config config,
      kube::load_config({.path = task.kubeconfig}, kube::environment_of_process()));
  kube::Client client(std::move(config), {.user_agent = "bench-make-objects"});
  const std::string ns = api::look_text(objects.front().object, "/metadata/namespace");

  TRY(const std::string version,
      client.list(task.watched, {.ns = ns}, [](std::string_view) -> Result<> { return Done{}; }));
  Finish finish(task.count);
  const std::jthread watcher(
      [&](std::stop_token stop) { watch(client, task, ns, version, finish, stop); });

  TRY(const BootTime start, create(client, objects, task.hands));
  const auto since = [&](BootTime at) { return std::chrono::duration<double>(at - start).count(); };
  const double created = since(system_clock().boot());
  TRY(const auto running, finish.wait(task.limit));
  std::printf("%s\n", Json{{"created", created},
                           {"first", since(running.front())},
                           {"median", since(running[running.size() / 2])},
                           {"all", since(running[task.count - 1])},
                           {"cpu", processor_seconds()}}
                          .dump()
                          .c_str());
  return Done{};
}

std::optional<size_t> number(std::string_view text) {
  size_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size() || value == 0) return std::nullopt;
  return value;
}

std::optional<Task> task_of(const std::vector<std::string>& words) {
  if (words.size() != 6) return std::nullopt;
  const auto count = number(words[3]), hands = number(words[4]), limit = number(words[5]);
  const bool pods = words[2] == kinds::kPods.plural;
  if ((!pods && words[2] != kinds::kPaddleJobs.plural) || !count || !hands || !limit) {
    return std::nullopt;
  }
  return Task{words[0], words[1], pods ? kinds::kPods : kinds::kPaddleJobs,
              *count,   *hands,   std::chrono::seconds(*limit)};
}

}  // namespace
}  // namespace paddle

int main(int argc, char** argv) {
  const auto task = paddle::task_of({argv + 1, argv + argc});
  if (!task) {
    std::fprintf(stderr,
                 "usage: make_objects KUBECONFIG OBJECTS (pods | paddlejobs) COUNT HANDS LIMIT\n");
    return 2;
  }
  const auto done = paddle::run(*task);
  if (!done) std::fprintf(stderr, "make_objects: %s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
