// SPDX-License-Identifier: Apache-2.0
//
// The shapes of jobs that tests execute on the model of a cluster.

#pragma once

#include <ostream>

#include "controllers/paddle_job/config.h"
#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {

struct Shape {
  const char* name;
  const char* spec;
  const char* scheduling = "";
  friend void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }
};
inline const Shape kShapes[] = {
    {"single", R"({"worker": {"replicas": 1}})"},
    {"collective", R"({"worker": {"replicas": 3}})"},
    {"ps", R"({"withGloo": 1, "ps": {"replicas": 2}, "worker": {"replicas": 2}})"},
    {"service", R"({"intranet": "Service", "ps": {"replicas": 1}, "worker": {"replicas": 2}})"},
    {"host", R"({"intranet": "Host", "worker": {"replicas": 2}})"},
    {"patient", R"({"backoffLimit": 4, "disruptionLimit": 9, "worker": {"replicas": 2}})"},
    {"crashing", R"({"intranet": "Service", "backoffLimit": 6, "worker": {"replicas": 3}})"},
    {"elastic", R"({"elastic": 1, "worker": {"replicas": 3, "requests": 1, "limits": 4}})"},
    {"cleaning", R"({"cleanPodPolicy": "Always", "worker": {"replicas": 2}})"},
    {"heter", R"({"ps": {"replicas": 1}, "worker": {"replicas": 2}, "heter": {"replicas": 2}})"},
    {"tasks", R"({"mode": "PS", "withGloo": 1, "tasks": [{"name": "trainer", "replicas": 2},
        {"name": "ps-1", "replicas": 1}, {"name": "ps", "replicas": 1}]})"},
    {"devices", R"({"mode": "Collective", "tasks": [{"name": "gpu-1", "replicas": 1},
        {"name": "xpu-22", "replicas": 2}]})"},
    {"in_order", R"({"mode": "PS", "startInOrder": 1, "tasks": [{"name": "ps", "replicas": 1},
        {"name": "heter", "replicas": 1}, {"name": "trainer", "replicas": 2}]})"},
    {"alone", R"({"mode": "Custom", "tasks": [{"name": "a", "replicas": 1},
        {"name": "b", "replicas": 2}]})"},
    {"keeping", R"({"cleanPodPolicy": "Never", "ps": {"replicas": 1}, "worker": {"replicas": 2}})"},
    {"fleeting", R"({"ttlSecondsAfterFinished": 5, "worker": {"replicas": 2}})"},
    {"gang", R"({"disruptionLimit": 9, "backoffLimit": 3, "ps": {"replicas": 1},
        "worker": {"replicas": 2}})",
     "volcano"},
};

inline Config config_of(const Shape& shape) {
  return {.scheduling = shape.scheduling, .etcd = {"http://e:2379"}};
}

inline api::PaddleJob job_of(const Shape& shape) { return job_with(shape.spec); }

}  // namespace paddle::controllers::paddle_job
