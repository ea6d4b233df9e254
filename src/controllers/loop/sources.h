// SPDX-License-Identifier: Apache-2.0
//
// What puts keys into a controller's queue: changes that informers see.
//
//   for_kind(jobs, queue)                    a changed object's own key
//   owns(pods, kPaddleJobs, queue)           the key of the controller that owns it
//   watches(sets, queue, jobs_that_use)      whatever keys a function names
//
// A change counts for what an object was and for what it is, so that moving it from one owner to
// another wakes both. Handlers live as long as the store; the queue must outlive it.

#pragma once

#include <optional>
#include <utility>

#include "controllers/loop/workqueue.h"
#include "kube/informer/store.h"
#include "kube/resource.h"

namespace paddle::controllers {

// The key of the object of kind `owner` that controls `child`; nothing when another kind does.
// Versions of the group are not compared: an owner reference keeps the one it was made with.
std::optional<ObjectKey> controlling_key(const api::Meta& child, const kube::Resource& owner);

template <typename T>
void for_kind(const kube::Store<T>& store, WorkQueue& queue) {
  store.on_change(
      [&queue](const ObjectKey& key, const T* /*before*/, const T* /*after*/) { queue.add(key); });
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
