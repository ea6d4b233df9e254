// SPDX-License-Identifier: Apache-2.0
//
// The typed interface of an informer's cache: objects of one collection as values of T.
//
//   auto pods = informers.of(kPods, {.label_selector = "app=paddle"}, pod_projection());
//   pods.add_index("owner", [](const Pod& pod) { return owner_uids(pod); });
//   pods.on_change([&](const auto& key, const Pod* before, const Pod* after) { ... });
//   for (const auto& pod : pods.list("owner", job.uid)) ...
//
// A handle, cheap to copy, valid as long as the Informers that it came from. object_cache.h has the
// contracts for threads and handlers, state/observed_state.h that for acknowledgements.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kube/informer/object_cache.h"

namespace paddle::kube {

// Decodes T from an object and keeps only what is needed. Within one type, projections with the
// same name are the same and are shared.
template <typename T>
struct Projection {
  std::string name{};
  std::function<Result<T>(const Json& object)> decode{};
};

template <typename T>
class Store {
 public:
  using Ptr = std::shared_ptr<const T>;

  explicit Store(ObjectCache& cache) : cache_(&cache) {}

  Ptr find(const ObjectKey& key) const { return typed(cache_->find(key)); }
  std::vector<Ptr> list() const { return typed(cache_->list()); }
  std::vector<Ptr> list(const std::string& index, const std::string& entry) const {
    return typed(cache_->list(index, entry));
  }
  size_t size() const { return cache_->size(); }
  bool is_unreadable(const ObjectKey& key) const { return cache_->is_unreadable(key); }
  bool has_synced() const { return cache_->has_synced(); }
  bool wait_until_synced(std::stop_token stop) const { return cache_->wait_until_synced(stop); }

  template <typename Function>  // std::vector<std::string>(const T&)
  void add_index(const std::string& name, Function function) const {
    cache_->add_index(name, [function = std::move(function)](const void* value) {
      return function(*static_cast<const T*>(value));
    });
  }

  template <typename Handler>  // void(const ObjectKey&, const T* before, const T* after)
  void on_change(Handler handler) const {
    cache_->on_change([handler = std::move(handler)](const ObjectKey& key, const Value& before,
                                                     const Value& after) {
      handler(key, static_cast<const T*>(before.get()), static_cast<const T*>(after.get()));
    });
  }

  // Our own write, as the server returned it: it is visible until the watch shows it.
  void acknowledge(const Json& written) const { cache_->acknowledge(written); }
  void acknowledge(T written) const requires requires { written.meta.resource_version; }
  {
    ObjectState seen{.key = written.meta.key,
                     .uid = written.meta.uid,
                     .version = parse_version(written.meta.resource_version),
                     .deleting = written.meta.deleting()};
    seen.value = std::make_shared<const T>(std::move(written));
    cache_->acknowledge(std::move(seen));
  }
  void acknowledge_deleted(const ObjectKey& key, const std::string& uid,
                           const std::string& resource_version = {}) const {
    cache_->acknowledge_deleted(key, uid, resource_version);
  }

 private:
  static Ptr typed(const Value& value) { return std::static_pointer_cast<const T>(value); }
  static std::vector<Ptr> typed(const std::vector<Value>& values) {
    std::vector<Ptr> typed_values;
    typed_values.reserve(values.size());
    for (const auto& value : values) typed_values.push_back(typed(value));
    return typed_values;
  }

  ObjectCache* cache_;
};

template <typename T>
Decode erased(const Projection<T>& projection) {
  return [decode = projection.decode](const Json& object) -> Result<Value> {
    TRY(T value, decode(object));
    return Value(std::make_shared<const T>(std::move(value)));
  };
}

}  // namespace paddle::kube
