// SPDX-License-Identifier: Apache-2.0
//
// The places of a server's connections: a thread for each, up to a limit; none while idle.
//
// A client that connects and sends nothing must not keep others out, least of all kubelet's probes.
// So when all places are taken, the connection that has waited longest for a whole header (of its
// first request, or of the next one on a kept connection) is closed and makes room. Only when every
// place is busy with a request is the new connection turned away.
//
// enqueue() and shutdown() are called by the accepting thread alone; a Place is used by the thread
// that serves it, beside the accepting one.

#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include <httplib.h>

#include "base/clock.h"
#include "base/sync.h"

namespace paddle::net {

class Place {
 public:
  // The place of the connection that this thread serves. Null: the connection was turned away, and
  // is to be closed without reading it.
  static Place* current();

  // The connection waits for the header of a request, and may be closed meanwhile to make room.
  // False: it has been closed already.
  bool wait_for_request(int socket);
  // The header is complete: the request is answered. False: the connection has been closed.
  bool begin_request();
  // Before the socket is closed.
  void leave();

 private:
  friend class ConnectionPlaces;

  std::atomic<bool> taken_{false};
  std::thread thread_;  // of the accepting thread

  Mutex mutex_;
  int socket_ GUARDED_BY(mutex_) = -1;  // -1: its thread has not begun yet
  bool waiting_ GUARDED_BY(mutex_) = false;
  bool closed_ GUARDED_BY(mutex_) = false;  // to make room
  BootTime since_ GUARDED_BY(mutex_){};
};

class ConnectionPlaces final : public httplib::TaskQueue {
 public:
  explicit ConnectionPlaces(int limit) : places_(static_cast<size_t>(limit)) {}

  void enqueue(std::function<void()> serve) override;
  void shutdown() override;

 private:
  Place* free_place();
  Place* make_room();

  std::vector<Place> places_;
};

}  // namespace paddle::net
