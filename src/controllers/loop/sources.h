// SPDX-License-Identifier: Apache-2.0
//
// Adds keys to a controller's queue when informers see changes.
//
//   for_kind(jobs, queue)                    a changed object's own key
//   for_spec(sets, queue)                    the same, unless only its status has changed
//   owns(pods, kPaddleJobs, queue)           the key of its controlling owner
//   watches(sets, queue, jobs_that_use)      the keys that a function returns
//
// Both the old and the new state of an object count, so that a change of its owner enqueues both
// owners. Handlers live as long as the store; the queue must outlive it.

#pragma once

#include <optional>
#include <utility>

#include "controllers/loop/workqueue.h"
#include "kube/informer/store.h"
#include "kube/resource.h"

namespace paddle::controllers {

// The key of the object of kind `owner` that controls `child`; nothing when another kind does. API
// versions are not compared: an owner reference keeps the version it was created with.
std::optional<ObjectKey> controlling_key(const api::Meta& child, const kube::Resource& owner);

template <typename T>
void for_kind(const kube::Store<T>& store, WorkQueue& queue) {
  store.on_change(
      [&queue](const ObjectKey& key, const T* /*before*/, const T* /*after*/) { queue.add(key); });
}

// Whether anything but the status has changed. T has the fields `meta` and `spec`.
template <typename T>
bool spec_changed(const T* before, const T* after) {
  if (!before || !after || before->spec != after->spec) return true;
  api::Meta meta = after->meta;
  meta.resource_version = before->meta.resource_version;
  return meta != before->meta;
}

// For an object whose status only its controller writes: a pass that has written it requests the
// next pass itself. Otherwise each write would start another pass at once, which finds the next
// progress to write.
template <typename T>
void for_spec(const kube::Store<T>& store, WorkQueue& queue) {
  store.on_change([&queue](const ObjectKey& key, const T* before, const T* after) {
    if (spec_changed(before, after)) queue.add(key);
  });
}

// T has a field `meta` of type api::Meta.
template <typename T>
void owns(const kube::Store<T>& store, const kube::Resource& owner, WorkQueue& queue) {
  store.on_change([&queue, owner](const ObjectKey&, const T* before, const T* after) {
    for (const T* state : {before, after}) {
      if (!state) continue;
      if (const auto key = controlling_key(state->meta, owner)) queue.add(*key);
    }
  });
}

// `map`: a range of ObjectKeys from a const T&.
template <typename T, typename Map>
void watches(const kube::Store<T>& store, WorkQueue& queue, Map map) {
  store.on_change(
      [&queue, map = std::move(map)](const ObjectKey&, const T* before, const T* after) {
        for (const T* state : {before, after}) {
          if (!state) continue;
          for (const ObjectKey& key : map(*state)) queue.add(key);
        }
      });
}

}  // namespace paddle::controllers
