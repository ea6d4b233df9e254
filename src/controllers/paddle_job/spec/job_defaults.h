// SPDX-License-Identifier: Apache-2.0
//
// Defaults of a namespace: the ConfigMap `paddle-job-defaults` beside the jobs. Its key `template`
// is a part of a PodTemplateSpec, as YAML or JSON, and is merged under the template of every role
// and task. Pure.
//
//   objects   key by key; what the job says wins
//   lists     elements with the same name (of a volumeMount: mountPath, of a port: containerPort)
//             are merged; those that only the defaults have come first, and those without a name
//             are added unless the job has an equal one
//   "*"       a container of this name is merged into every container of the job
//
// A running job keeps the pods that it has: defaults count when pods are created.

#pragma once

#include <map>
#include <string>

#include "api/json/json.h"
#include "api/paddle_job.h"
#include "base/result.h"

namespace paddle::controllers::paddle_job {

inline constexpr const char* kDefaultsName = "paddle-job-defaults";
inline constexpr const char* kDefaultsKey = "template";

// The template in the data of the ConfigMap; null when it has none. kInvalid when it is no part of
// a template.
Result<api::Json> parse_defaults(const std::map<std::string, std::string>& data);

// `over` wins. Any JSON is accepted.
api::Json merged_under(const api::Json& defaults, const api::Json& over);

api::PaddleJob with_defaults(api::PaddleJob job, const api::Json& defaults);

}  // namespace paddle::controllers::paddle_job
