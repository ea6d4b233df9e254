// SPDX-License-Identifier: Apache-2.0
#include "cli/logs.h"

#include <map>
#include <thread>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "api/phases.h"
#include "base/sync.h"
#include "cli/pods.h"
#include "cli/verb.h"
#include "cli/wait_condition.h"
#include "net/values/url.h"

namespace paddle::cli {
namespace {

using api::Json;

constexpr std::chrono::milliseconds kPollInterval{300};

std::string log_path(const Logs& verb, const kube::ObjectKey& pod, const std::string& container) {
  std::string path = kube::path_of(kube::resources::kPods, pod, "log");
  net::add_query(path, "container", container);
  if (verb.follow) net::add_query(path, "follow", "true");
  if (verb.previous) net::add_query(path, "previous", "true");
  if (verb.tail >= 0) net::add_query(path, "tailLines", std::to_string(verb.tail));
  return path;
}

// Streams until the log ends. With --follow it waits for the container to start.
Result<> stream_log(Session& session, const Logs& verb, const kube::ObjectKey& pod,
                    const net::BodySink& sink) {
  std::string container = verb.container;
  if (container.empty()) {
    TRY(const Json object, session.client().get(kube::resources::kPods, pod, session.call()));
    container = api::look_text(object, "/spec/containers/0/name");
  }
  for (;;) {
    auto done =
        session.client().stream_raw(log_path(verb, pod, container), "*/*", sink, session.call());
    if (done || !verb.follow || !done.is(Code::kInvalid)) return done;
    TRY(const Json now, session.client().get(kube::resources::kPods, pod, session.call()));
    if (api::look_text(now, "/status/phase") != api::pod_phase::kPending) return done;
    if (!session.clock().sleep(kPollInterval, session.terminal().stop())) return Done{};
  }
}

// Streams the logs of several pods at once, line by line, prefixed with the pod's name.
class LogMultiplexer {
 public:
  LogMultiplexer(Session& session, const Logs& verb) : session_(session), verb_(verb) {}

  void add(const OwnedPod& pod) {
    if (!threads_.try_emplace(pod.uid).second) return;
    threads_[pod.uid] = std::jthread([this, key = pod.key] { stream(key); });
  }
  void join() {
    for (auto& [uid, thread] : threads_) {
      if (thread.joinable()) thread.join();
    }
  }
  bool empty() const { return threads_.empty(); }
  std::optional<Error> first_error() EXCLUDES(mutex_) {
    const Lock lock(mutex_);
    return error_;
  }

 private:
  void stream(const kube::ObjectKey& pod) EXCLUDES(mutex_) {
    const std::string before = "[" + pod.name + "] ";
    std::string rest;
    auto done = stream_log(session_, verb_, pod, [&](std::string_view piece) -> Result<> {
      rest += piece;
      const auto end = rest.rfind('\n');
      if (end == std::string::npos) return Done{};
      print_lines(before, std::string_view(rest).substr(0, end));
      rest.erase(0, end + 1);
      return Done{};
    });
    if (!rest.empty()) print_lines(before, rest);
    const Lock lock(mutex_);
    const bool failed = !done && !done.is(Code::kCancelled);
    if (failed && !error_) error_ = std::move(done).error();
  }
  void print_lines(const std::string& before, std::string_view lines) EXCLUDES(mutex_) {
    const Lock lock(mutex_);
    while (!lines.empty()) {
      const auto end = std::min(lines.find('\n'), lines.size());
      session_.terminal().line(before + std::string(lines.substr(0, end)));
      lines.remove_prefix(std::min(end + 1, lines.size()));
    }
  }

  Session& session_;
  const Logs& verb_;
  Mutex mutex_;
  std::optional<Error> error_ GUARDED_BY(mutex_){};
  std::map<std::string, std::jthread> threads_{};  // by uid; last: they use the members above
};

bool has_ended(const Json& object) {
  return evaluate({.type = WaitCondition::Type::kField, .path = {"status", "phase"}, .value = "\n"},
                  object)
             .progress == WaitState::Progress::kNever;
}

Result<> logs_of_owner(Session& session, const Logs& verb, const KnownKind& kind,
                       const kube::ObjectKey& key) {
  LogMultiplexer multiplexer(session, verb);
  for (;;) {
    auto object = session.client().get(kind.resource, key, session.call());
    if (!object) return session.explained(std::move(object).error());
    TRY(const auto pods, pods_of(session, *object));
    for (const OwnedPod& pod : pods) multiplexer.add(pod);
    if (!verb.follow || has_ended(*object)) break;
    if (!session.clock().sleep(kPollInterval, session.terminal().stop())) break;
  }
  multiplexer.join();
  if (multiplexer.empty()) {
    const bool cleans = kind.resource.plural == "paddlejobs";
    return Error{Code::kNotFound, kind.qualified_name() + "/" + key.name + " has no pods" +
                                      (cleans ? " any more: to keep them after its end, set "
                                                "spec.cleanPodPolicy to Never"
                                              : "")};
  }
  if (auto error = multiplexer.first_error()) return session.explained(*std::move(error));
  return Done{};
}

Result<> logs_of_selected(Session& session, const Logs& verb, const std::string& ns) {
  LogMultiplexer multiplexer(session, verb);
  auto listed = session.client().list(
      kube::resources::kPods, {.ns = ns, .label_selector = verb.selector},
      [&](std::string_view text) -> Result<> {
        TRY(const Json pod, api::parse_json(text));
        multiplexer.add({.key = {ns, api::look_text(pod, "/metadata/name")},
                         .uid = api::look_text(pod, "/metadata/uid")});
        return Done{};
      },
      session.call());
  multiplexer.join();
  if (!listed) return session.explained(std::move(listed).error());
  if (multiplexer.empty()) {
    return Error{Code::kNotFound, "no pod in namespace " + ns + " has the labels " + verb.selector};
  }
  if (auto error = multiplexer.first_error()) return session.explained(*std::move(error));
  return Done{};
}

}  // namespace

Result<> run(const Logs& verb, const CommandContext& context) {
  TRY(Session session, Session::open(verb.flags.cluster_directory(), context));
  const std::string ns = verb.flags.namespace_or_default();
  if (!verb.selector.empty()) return logs_of_selected(session, verb, ns);
  const auto slash = verb.target.find('/');
  std::string name = verb.target;
  if (slash != std::string::npos) {
    name = verb.target.substr(slash + 1);
    TRY(const KnownKind kind, session.kind(verb.target.substr(0, slash)));
    if (kind.resource.plural != "pods") return logs_of_owner(session, verb, kind, {ns, name});
  }
  auto done = stream_log(session, verb, {ns, name}, [&](std::string_view piece) -> Result<> {
    context.terminal.print(piece);
    return Done{};
  });
  if (done || done.is(Code::kCancelled)) return Done{};
  return session.explained(std::move(done).error());
}

void add_logs(CLI::App& local, Command& chosen) {
  const auto subcommand =
      add_verb<Logs>(local, chosen, "logs", "Prints the logs of containers.",
                     R"(  paddlectl local logs train-worker-0
  paddlectl local logs -f paddlejob/train
  paddlectl local logs -l batch.paddlepaddle.org/job-name=train
  paddlectl local logs train-worker-0 --previous --tail 20)",
                     [](Logs& given) -> Result<> {
                       if (given.target.empty() != given.selector.empty()) {
                         return Done{};
                       }
                       return Error{Code::kInvalid, "either POD, KIND/NAME or -l is required"};
                     });
  Logs& verb = *subcommand.verb;
  subcommand.app->add_option("target", verb.target, "POD or KIND/NAME");
  subcommand.app->add_option("-l,--selector", verb.selector,
                             "all pods with these labels, like a=b,c!=d");
  add_namespace(subcommand);
  subcommand.app->add_option("-c,--container", verb.container, "container; default: the first one");
  subcommand.app->add_flag("-f,--follow", verb.follow, "stream until the containers end");
  subcommand.app->add_flag("-p,--previous", verb.previous,
                           "logs of the run before the last restart");
  subcommand.app->add_option("--tail", verb.tail, "only this many lines from the end");
}

}  // namespace paddle::cli
