// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/watch.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "kube/rules/object_rules.h"
#include "local/api_server/reading.h"

namespace paddle::local {
namespace {

using api::Json;
using kube::EventType;

constexpr int kEventsAtOnce = 64;

struct Wish {
  std::string ns{};
  kube::Selector selector{};
  bool selects = false;
  Form form{};
  std::uint64_t cursor = 0;
  bool from_start = false;   // first the objects that are there
  bool marks_start = false;  // and a bookmark after them
  bool bookmarks = false;
  std::chrono::seconds timeout{};
};

class Watch final : public Stream {
 public:
  Watch(Storage& storage, const Clock& clock, const Kind& kind, Wish wish, WatchTerms terms)
      : storage_(storage),
        clock_(clock),
        kind_(kind),
        collection_(collection_of(kind.resource)),
        wish_(std::move(wish)),
        terms_(terms),
        end_(clock.boot() + wish_.timeout),
        next_bookmark_(clock.boot() + terms.bookmark_every) {}

  Piece next(BootTime now) override {
    now_ = now;
    Piece piece;
    if (wish_.from_start) {
      give_present(piece);
      if (piece.ended || !piece.text.empty()) return piece;
    }
    give_changes(piece);
    if (piece.ended || !piece.text.empty()) return piece;
    if (wish_.bookmarks && now >= next_bookmark_) {
      next_bookmark_ = now + terms_.bookmark_every;
      add_bookmark(piece, false);
    }
    piece.ended = now >= end_;
    return piece;
  }

  std::chrono::milliseconds patience() const override {
    const BootTime until = wish_.bookmarks ? std::min(end_, next_bookmark_) : end_;
    return std::max(std::chrono::ceil<std::chrono::milliseconds>(until - now_),
                    std::chrono::milliseconds{1});
  }

  bool cares_about(const std::string& collection) const override {
    return collection == collection_;
  }

 private:
  void give_present(Piece& piece) {
    wish_.from_start = false;
    auto seen = storage_.list({.collection = collection_, .ns = wish_.ns},
                              [&](const api::ObjectKey&, std::string_view body) {
                                if (is_selected(body)) add(piece, "ADDED", body);
                                return true;
                              });
    if (!seen) return give_failure(piece, seen.error());
    wish_.cursor = *seen;
    if (wish_.marks_start) add_bookmark(piece, true);
  }

  void give_changes(Piece& piece) {
    do {
      auto found = storage_.changes(collection_, wish_.ns, wish_.cursor, kEventsAtOnce);
      if (!found) return give_failure(piece, found.error());
      for (const Change& change : found->list) take(piece, change);
      const bool all = static_cast<int>(found->list.size()) < kEventsAtOnce;
      wish_.cursor = found->up_to;
      if (all) return;
    } while (piece.text.empty());  // changes that the selector passes over are no news
  }

  // An object that comes into or leaves the selection is an addition or a deletion.
  void take(Piece& piece, const Change& change) {
    const bool was = !change.before.empty() && is_selected(change.before);
    const bool is = change.type != EventType::kDeleted && is_selected(change.body);
    if (is) {
      add(piece, was ? "MODIFIED" : "ADDED", change.body);
    } else if (was && change.type == EventType::kDeleted) {
      add(piece, "DELETED", change.body);
    } else if (was) {
      auto last = api::parse_json(change.before);
      if (!last) return;
      (*last)["metadata"]["resourceVersion"] = std::to_string(change.revision);
      add(piece, "DELETED", api::dump_json(*last));
    }
  }

  bool is_selected(std::string_view body) const {
    if (!wish_.selects) return true;
    const auto object = api::parse_json(body);
    return object && wish_.selector.matches(*object);
  }

  void add(Piece& piece, const char* type, std::string_view body) {
    piece.text += std::string(R"({"type":")") + type + R"(","object":)";
    piece.text += shaped_text(kind_, body, wish_.form, clock_.wall());
    piece.text += "}\n";
  }

  void add_bookmark(Piece& piece, bool initial) {
    Json meta{{"resourceVersion", std::to_string(wish_.cursor)}, {"creationTimestamp", nullptr}};
    if (initial) meta["annotations"] = {{"k8s.io/initial-events-end", "true"}};
    const Json object{{"kind", kind_.resource.kind},
                      {"apiVersion", kind_.resource.api_version()},
                      {"metadata", std::move(meta)}};
    piece.text += api::dump_json({{"type", "BOOKMARK"}, {"object", object}}) + "\n";
  }

  static void give_failure(Piece& piece, const Error& error) {
    const Json status = status_of(http_status(error.code), reason_of(error.code), error.message);
    piece.text += api::dump_json({{"type", "ERROR"}, {"object", status}}) + "\n";
    piece.ended = true;
  }

  Storage& storage_;
  const Clock& clock_;
  const Kind& kind_;
  const std::string collection_;
  Wish wish_;
  const WatchTerms terms_;
  const BootTime end_;
  BootTime next_bookmark_;
  BootTime now_{};
};

}  // namespace

Reply start_watch(Storage& storage, const Clock& clock, const Kind& kind, const std::string& ns,
                  const Target& target, const Form& form, const WatchTerms& terms) {
  const auto selector = kube::Selector::parse(target["labelSelector"], target["fieldSelector"]);
  if (!selector) return bad_request(selector.error().message);
  const auto revision = parse_revision(target["resourceVersion"]);
  const auto timeout = parse_revision(target["timeoutSeconds"]);
  if (!revision) {
    return bad_request("resourceVersion: Invalid value: \"" + target["resourceVersion"] + "\"");
  }
  if (!timeout) {
    return bad_request("timeoutSeconds: Invalid value: \"" + target["timeoutSeconds"] + "\"");
  }
  Wish wish{.ns = ns,
            .selector = *selector,
            .selects = !target["labelSelector"].empty() || !target["fieldSelector"].empty(),
            .form = form,
            .cursor = *revision,
            .bookmarks = target.is_true("allowWatchBookmarks")};
  const bool wants_present = target.is_true("sendInitialEvents");
  wish.from_start =
      wants_present || (*revision == 0 && !target.query.contains("sendInitialEvents"));
  wish.marks_start = wants_present && wish.bookmarks;
  if (!wish.from_start && *revision == 0) {
    auto latest = storage.revision();
    if (!latest) return failure(latest.error());
    wish.cursor = *latest;
  }
  const auto longest = static_cast<std::uint64_t>(terms.longest.count());
  wish.timeout = *timeout == 0 ? terms.longest : std::chrono::seconds(std::min(*timeout, longest));
  return {.stream = std::make_shared<Watch>(storage, clock, kind, std::move(wish), terms)};
}

}  // namespace paddle::local
