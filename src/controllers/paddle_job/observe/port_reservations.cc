// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/observe/port_reservations.h"

#include "controllers/paddle_job/spec/host_ports.h"

namespace paddle::controllers::paddle_job {

bool PortReservations::reserve(const api::ObjectKey& job, int first_port) {
  Lock lock(mutex_);
  blocks_.erase(job);
  if (overlaps(first_port, others(job))) return false;
  blocks_[job] = first_port;
  return true;
}

void PortReservations::release(const api::ObjectKey& job) {
  Lock lock(mutex_);
  blocks_.erase(job);
}

std::set<int> PortReservations::of_others(const api::ObjectKey& job) const {
  Lock lock(mutex_);
  return others(job);
}

std::set<int> PortReservations::others(const api::ObjectKey& job) const {
  std::set<int> found;
  for (const auto& [key, block] : blocks_) {
    if (key != job) found.insert(block);
  }
  return found;
}

}  // namespace paddle::controllers::paddle_job
