// SPDX-License-Identifier: Apache-2.0
//
// The ConfigMap `<job>`, from which training containers take their environment: it tells every
// trainer where its peers are. Pure.
//
// It is written once per epoch, when every pod has an address, and before any of them may start.
// The environment of a running container cannot change, so a list that would have to change
// requires another epoch (decide/start_barrier.h, decide/failure_policy.h). Elastic jobs have no
// ConfigMap.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "api/paddle_job.h"

namespace paddle::controllers::paddle_job {

// How peers reach each pod, by name of the replica group and index: one entry for each replica,
// kDeparted for a pod that has succeeded and no longer exists.
using Addresses = std::map<std::string, std::vector<std::string>>;
inline constexpr const char* kDeparted = "?";  // no address begins with it

using PeerData = std::map<std::string, std::string>;
PeerData peer_data(const api::PaddleJob& job, const Addresses& addresses);

// Whether the stored lists of peers, which running containers cannot reload, are those of
// `current`. Departed pods count as unchanged.
bool same_peers(const PeerData& stored, const PeerData& current);

// "10.0.0.1:36000", "[fd00::1]:36000".
std::string endpoint(const std::string& address, int port);

// The part of the spec that the data follows from. Another shape is a change of the spec; other
// data of the same shape is a change of an address.
std::string shape_of(const api::PaddleJob& job);

api::Json peer_config_map(const api::PaddleJob& job, const PeerData& data);

}  // namespace paddle::controllers::paddle_job
