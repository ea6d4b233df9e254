// SPDX-License-Identifier: Apache-2.0
//
// Arguments of the verbs of kube/cluster.h, the events of a watch, and the callbacks that receive
// objects. Plain values.

#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>  // Patch holds one

#include "api/core/meta.h"
#include "api/json/json.h"
#include "base/result.h"

namespace paddle::kube {

using api::Json;
using api::ObjectKey;

struct ListOptions {
  std::string ns{};  // empty = all namespaces
  std::string label_selector{};
  std::string field_selector{};
  int page_size = 500;  // the list is read in pages of this size; 0 = one response
  // Passed on as resourceVersion with resourceVersionMatch=NotOlderThan: the server may answer from
  // its cache, "0" = at any version. Empty = most recent.
  std::string resource_version{};
  // Objects have only their metadata: the data of a Secret is not transferred.
  bool metadata_only = false;
};

struct WatchOptions {
  std::string ns{};
  std::string label_selector{};
  std::string field_selector{};
  std::string resource_version{};
  bool bookmarks = true;
  // The server ends the watch after about this long; a normal end, not an error.
  std::chrono::seconds timeout{300};
  bool metadata_only = false;  // as in ListOptions
};

enum class EventType { kAdded, kModified, kDeleted, kBookmark };

// One change. `object` is the object's JSON text, valid only during the call.
struct WatchEvent {
  EventType type = EventType::kAdded;
  std::string_view object{};
};

// Called for each element in turn, on the caller's thread; an error ends the call with that error.
using ItemSink = std::function<Result<>(std::string_view object)>;
using EventSink = std::function<Result<>(const WatchEvent&)>;

enum class PatchType { kMerge, kJson, kApply };  // RFC 7386, RFC 6902, server-side apply

struct Patch {
  PatchType type = PatchType::kMerge;
  Json body;
  std::string field_manager{};  // required for kApply
  bool force = false;           // kApply only: take over fields that others manage
  bool strict = false;          // unknown and duplicate fields are refused, not ignored
};

enum class Propagation { kBackground, kForeground, kOrphan };

struct DeleteOptions {
  std::string uid{};               // precondition when not empty
  std::string resource_version{};  // precondition when not empty
  Propagation propagation = Propagation::kBackground;
  std::optional<int> grace_seconds{};
};

}  // namespace paddle::kube
