// SPDX-License-Identifier: Apache-2.0
#include "controllers/execute/object_writer.h"

#include <nlohmann/json.hpp>

namespace paddle::controllers {

using api::Json;
using Stored = Result<std::optional<Json>>;

Stored ObjectWriter::write_status(const kube::Resource& resource, const Json& object,
                                  const kube::Call& call) {
  auto stored = cluster_.update(resource, object, "status", call);
  if (stored.is(Code::kNotFound)) return std::optional<Json>{};
  if (!stored) return std::move(stored).error().in("write status");
  return std::optional(*std::move(stored));
}

Stored ObjectWriter::remove_finalizer(const kube::Resource& resource, const api::Meta& meta,
                                      const std::string& finalizer, const kube::Call& call) {
  auto left = meta.finalizers;
  std::erase(left, finalizer);
  const kube::Patch patch{
      .body = {{"metadata", {{"resourceVersion", meta.resource_version}, {"finalizers", left}}}}};
  auto stored = cluster_.patch(resource, meta.key, patch, {}, call);
  if (stored.is(Code::kNotFound)) return std::optional<Json>{};
  if (!stored) return std::move(stored).error().in("drop the finalizer");
  if (meta.deleting()) return std::optional<Json>{};
  return std::optional(*std::move(stored));
}

Result<> ObjectWriter::remove(const kube::Resource& resource, const api::ObjectKey& key,
                              const std::string& uid, const kube::Call& call) {
  auto removed = cluster_.remove(resource, key, {.uid = uid}, call);
  if (removed || removed.is(Code::kNotFound) || removed.is(Code::kConflict)) return Done{};
  return std::move(removed).error().in("delete " + key.name);
}

void ObjectWriter::emit(const kube::Resource& resource, const api::Meta& meta,
                        const EmitEvent& event) {
  events_.event({.api_version = resource.api_version(),
                 .kind = resource.kind,
                 .key = meta.key,
                 .uid = meta.uid},
                event.warning ? kube::EventKind::kWarning : kube::EventKind::kNormal, event.reason,
                event.message);
}

}  // namespace paddle::controllers
