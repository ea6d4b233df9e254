// SPDX-License-Identifier: Apache-2.0
#include "net/server/connection_places.h"

#include <sys/socket.h>

namespace paddle::net {
namespace {

thread_local Place* current_place = nullptr;

}  // namespace

Place* Place::current() { return current_place; }

bool Place::wait_for_request(int socket) {
  Lock lock(mutex_);
  socket_ = socket;
  waiting_ = !closed_;
  since_ = system_clock().boot();
  return waiting_;
}

bool Place::begin_request() {
  Lock lock(mutex_);
  waiting_ = false;
  return !closed_;
}

void Place::leave() {
  Lock lock(mutex_);
  socket_ = -1;
  waiting_ = false;
}

void ConnectionPlaces::enqueue(std::function<void()> serve) {
  Place* place = free_place();
  if (!place) place = make_room();
  if (!place) return serve();  // turned away
  if (place->thread_.joinable()) place->thread_.join();
  {
    Lock lock(place->mutex_);
    place->closed_ = false;
    place->socket_ = -1;
    place->waiting_ = true;
    place->since_ = system_clock().boot();
  }
  place->taken_ = true;
  place->thread_ = std::thread([place, serve = std::move(serve)] {
    current_place = place;
    serve();
    place->taken_ = false;
  });
}

void ConnectionPlaces::shutdown() {
  for (Place& place : places_) {
    if (place.thread_.joinable()) place.thread_.join();
  }
}

Place* ConnectionPlaces::free_place() {
  for (Place& place : places_) {
    if (!place.taken_) return &place;
  }
  return nullptr;
}

// Its thread ends at once, for nothing can be read or written any more, and is joined by the
// caller.
Place* ConnectionPlaces::make_room() {
  Place* oldest = nullptr;
  BootTime since{};
  for (Place& place : places_) {
    Lock lock(place.mutex_);
    if (place.waiting_ && (!oldest || place.since_ < since)) {
      oldest = &place;
      since = place.since_;
    }
  }
  if (!oldest) return nullptr;
  Lock lock(oldest->mutex_);
  if (!oldest->waiting_) return nullptr;  // its request has come meanwhile
  oldest->closed_ = true;
  if (oldest->socket_ >= 0) ::shutdown(oldest->socket_, SHUT_RDWR);
  return oldest;
}

}  // namespace paddle::net
