// SPDX-License-Identifier: Apache-2.0
#include "cli/wait.h"

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "cli/progress.h"
#include "cli/verb.h"

namespace paddle::cli {
namespace {

using api::Json;

constexpr std::chrono::seconds kLongestWatch{60};

class Waiter {
 public:
  Waiter(Session& session, const Wait& verb, KnownKind kind, kube::ObjectKey key)
      : session_(session),
        verb_(verb),
        kind_(std::move(kind)),
        key_(std::move(key)),
        name_(kind_.qualified_name() + "/" + key_.name) {
    if (verb.timeout_seconds > 0) {
      deadline_ = session.clock().boot() + std::chrono::seconds{verb.timeout_seconds};
    }
  }

  // Reads the object and watches it from there; a watch that ends is restarted.
  Result<> run() {
    for (;;) {
      auto object = session_.client().get(kind_.resource, key_, session_.call());
      if (!object) {
        const bool wanted =
            verb_.condition.type == WaitCondition::Type::kDeleted && object.is(Code::kNotFound);
        if (wanted) return met();
        return session_.explained(std::move(object).error());
      }
      if (auto end = check(*object)) return *std::move(end);
      std::optional<Result<>> end;
      auto watched = session_.client().watch(
          kind_.resource,
          {.ns = key_.ns,
           .field_selector = "metadata.name=" + key_.name,
           .resource_version = api::look_text(*object, "/metadata/resourceVersion"),
           .timeout = watch_timeout()},
          [&](const kube::WatchEvent& event) { return take(event, end); }, session_.call());
      if (end) return *std::move(end);
      if (watched.is(Code::kCancelled)) return Error{Code::kCancelled, "interrupted"};
      const bool again = watched || watched.is(Code::kExpired) || watched.is(Code::kUnavailable);
      if (!again) return std::move(watched).error();
      if (!watched &&
          !session_.clock().sleep(std::chrono::milliseconds{200}, session_.terminal().stop())) {
        return Error{Code::kCancelled, "interrupted"};
      }
      if (deadline_ && session_.clock().boot() >= *deadline_) return too_late();
    }
  }

 private:
  // An error ends the watch; `end` is the result of the wait.
  Result<> take(const kube::WatchEvent& event, std::optional<Result<>>& end) {
    if (event.type == kube::EventType::kBookmark) return Done{};
    TRY(const Json object, api::parse_json(event.object));
    if (event.type == kube::EventType::kDeleted) {
      end = verb_.condition.type == WaitCondition::Type::kDeleted
                ? met()
                : Result<>(Error{Code::kNotFound, name_ + " was deleted"});
    } else {
      end = check(object);
    }
    if (end) return Error{Code::kCancelled, "seen enough"};
    return Done{};
  }

  std::optional<Result<>> check(const Json& object) {
    const WaitState state = evaluate(verb_.condition, object);
    if (state.progress == WaitState::Progress::kMet) {
      if (!session_.terminal().live()) session_.terminal().progress(describe(object));
      return met();
    }
    if (state.progress == WaitState::Progress::kNever) {
      return Error{Code::kInvalid, name_ + " cannot meet the condition any more: " + state.reason};
    }
    session_.terminal().progress(describe(object));
    last_ = describe(object);
    return std::nullopt;
  }

  std::string describe(const Json& object) const {
    return kind_.singular + "/" + key_.name + ": " + progress_line(object);
  }

  Result<> met() {
    session_.terminal().line(name_ + (verb_.condition.type == WaitCondition::Type::kDeleted
                                          ? " deleted"
                                          : " condition met"));
    return Done{};
  }

  Result<> too_late() const {
    const bool has_pods = kind_.singular == "paddlejob" || kind_.singular == "sampleset";
    const std::string hint =
        has_pods ? " (see 'paddlectl local logs " + kind_.singular + "/" + key_.name + "')" : "";
    return Error{Code::kDeadline, "timed out after " + std::to_string(verb_.timeout_seconds) +
                                      " s: " + last_ + hint};
  }

  std::chrono::seconds watch_timeout() const {
    if (!deadline_) return kLongestWatch;
    const auto left = std::chrono::ceil<std::chrono::seconds>(*deadline_ - session_.clock().boot());
    return std::clamp(left, std::chrono::seconds{1}, kLongestWatch);
  }

  Session& session_;
  const Wait& verb_;
  const KnownKind kind_;
  const kube::ObjectKey key_;
  const std::string name_;
  std::optional<BootTime> deadline_{};
  std::string last_{};
};

}  // namespace

Result<> run(const Wait& verb, const CommandContext& context) {
  TRY(const auto names, parse_object_names(verb.words));
  TRY(Session session, Session::open(verb.flags.cluster_directory(), context));
  for (const ObjectName& each : names) {
    TRY(KnownKind kind, session.kind(each.kind));
    const std::string ns = kind.resource.namespaced ? verb.flags.namespace_or_default() : "";
    CHECK_DONE(Waiter(session, verb, std::move(kind), {ns, each.name}).run());
  }
  return Done{};
}

void add_wait(CLI::App& local, Command& chosen) {
  auto wanted = std::make_shared<std::string>();
  const auto subcommand =
      add_verb<Wait>(local, chosen, "wait", "Waits until an object meets a condition.",
                     R"(  paddlectl local wait sampleset/images --for=phase=Ready
  paddlectl local wait sampleset/images --for=cached
  paddlectl local wait paddlejob/train --for=phase=Completed --timeout 10m
  paddlectl local wait pod/a --for=condition=Ready
  paddlectl local wait pod/a --for='jsonpath={.status.podIP}'
  paddlectl local wait pod/a --for=delete)",
                     [wanted](Wait& verb) -> Result<> {
                       TRY(verb.condition, parse_wait_condition(*wanted));
                       const auto names = parse_object_names(verb.words);
                       return names ? Result<>(Done{}) : names.error();
                     });
  Wait& verb = *subcommand.verb;
  subcommand.app->add_option("what", verb.words, "KIND/NAME...")->required();
  subcommand.app->add_option("--for", *wanted, "condition=, phase=, jsonpath=, cached or delete")
      ->required();
  add_namespace(subcommand);
  subcommand.app
      ->add_option("--timeout", verb.timeout_seconds, "like 90s or 10m; default: no limit")
      ->transform(
          CLI::AsNumberWithUnit(std::map<std::string, int>{{"s", 1}, {"m", 60}, {"h", 3600}}));
}

}  // namespace paddle::cli
