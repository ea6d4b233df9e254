// SPDX-License-Identifier: Apache-2.0
//
// How a pod waits for its peers: the init container `coord-paddle`, the last one, reads a
// downward-API file of the pod's own release annotation until it says "<epoch>/<this pod's
// address>". An update of the pod refreshes the file at once; no account, no DNS and no other image
// is needed, only a shell in the job's own (or the image of --initImage).
//
// A pod that comes back under another address, after a reboot of its node, waits again. Pure.

#pragma once

#include <string>

#include "api/json/json.h"
#include "api/paddle_job.h"

namespace paddle::controllers::paddle_job {

// Appends the init container and its volume. `image` empty: that of `training_container`.
void add_coordinator(api::Json& pod_spec, const api::Json& training_container,
                     const api::PaddleJob& job, const std::string& image);

// What the release annotation says for a pod with this address (status.podIP in every intranet).
std::string release_value(const api::PaddleJob& job, const std::string& address);

}  // namespace paddle::controllers::paddle_job
