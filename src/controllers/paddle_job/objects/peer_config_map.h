// SPDX-License-Identifier: Apache-2.0
//
// What tells every trainer where its peers are: the ConfigMap `<job>` that training containers take
// their environment from. Pure.
//
// It is written once per epoch, when every pod can be reached, and before any of them may start:
// the environment of a running container never changes, so a list that would have to change means
// another epoch. Elastic jobs have none.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "api/paddle_job.h"
#include "controllers/paddle_job/decide/replica_slots.h"
#include "controllers/paddle_job/names.h"

namespace paddle::controllers::paddle_job {

bool by_service(const api::PaddleJobSpec& spec);  // intranet: Service
// First of the job's ports: the same in every list, in PADDLE_PORT and in Services.
int port_of(const api::PaddleJob& job);

// How peers call each pod, by name of the part and index. Complete: one for each replica, kDeparted
// for a pod that has succeeded and is gone.
using Addresses = std::map<std::string, std::vector<std::string>>;
inline constexpr const char* kDeparted = "?";  // no address begins so
Addresses addresses(const api::PaddleJob& job, const ReplicaSlots& slots);

// The ConfigMap of this epoch is there.
bool is_published(const api::PaddleJob& job, const World& world);
// What it says can be said: always, unless it is not there and a pod that belongs into it is gone.
bool addresses_known(const api::PaddleJob& job, const ReplicaSlots& slots, const World& world);

// "10.0.0.1:36000", "[fd00::1]:36000".
std::string endpoint(const std::string& address, int port);

std::map<std::string, std::string> peer_data(const api::PaddleJob& job, const Addresses& addresses);

// A pod has another address than its peers were told: of the ConfigMap's data the lists of peers
// are what a running container can not unlearn. Those who have left are where they were.
bool address_changed(const api::PaddleJob& job, const ReplicaSlots& slots, const World& world);

// What of the spec the data rests on: another shape is the user's wish, another address is not.
std::string shape_of(const api::PaddleJob& job);

api::Json peer_config_map(const api::PaddleJob& job,
                          const std::map<std::string, std::string>& data);

}  // namespace paddle::controllers::paddle_job
