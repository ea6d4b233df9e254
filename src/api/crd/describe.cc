// SPDX-License-Identifier: Apache-2.0
#include "api/crd/describe.h"

#include "api/paddle_job_fields.h"
#include "api/sample_job_fields.h"
#include "api/sample_set_fields.h"
#include "api/schema/schema.h"

namespace paddle::api {
namespace schema {

void bound(Json& schema, std::int64_t most) {
  schema["minimum"] = -most;
  schema["maximum"] = most;
}

void add_limits(Json& schema, const Field& field) {
  if (field.min) schema["minimum"] = *field.min;
  if (field.max) schema["maximum"] = *field.max;
  if (field.min_length) schema["minLength"] = *field.min_length;
  if (field.max_length) schema["maxLength"] = *field.max_length;
  if (field.pattern) schema["pattern"] = field.pattern;
  for (const char* choice : field.one_of) schema["enum"].push_back(choice);
}

void add_list_limits(Json& schema, const Field& field) {
  if (field.min_items) schema["minItems"] = *field.min_items;
  if (field.max_items) schema["maxItems"] = *field.max_items;
  if (!field.list_key) return;
  schema["x-kubernetes-list-type"] = "map";
  schema["x-kubernetes-list-map-keys"] = {field.list_key};
}

void add_rules(Json& schema, const Rules& rules, RuleBook& book) {
  for (const Rule& rule : rules) {
    const std::string cel = to_cel(rule.expr);
    schema["x-kubernetes-validations"].push_back({{"rule", cel}, {"message", rule.message}});
    book.emplace(cel, rule.expr);
  }
}

}  // namespace schema

namespace {

template <typename Object>
Description derived(std::string singular, std::string short_name, std::vector<Column> columns,
                    std::optional<Scale> scale = {}) {
  Description out;
  out.kind = Object::kKind;
  out.version = std::string(Object::kApiVersion).substr(std::string(kGroup).size() + 1);
  out.plural = singular + "s";
  out.singular = std::move(singular);
  out.short_name = std::move(short_name);
  out.columns = std::move(columns);
  out.scale = std::move(scale);
  Json root = schema::schema_of<Object>({}, out.rules);
  root["properties"]["apiVersion"] = {{"type", "string"}};
  root["properties"]["kind"] = {{"type", "string"}};
  root["properties"]["metadata"] = {{"type", "object"}};
  out.schema = std::move(root);
  return out;
}

}  // namespace

const Description& describe(Kind kind) {
  static const char* const kReadyReason = ".status.conditions[?(@.type==\"Ready\")].reason";
  static const Description kPaddleJob =
      derived<PaddleJob>("paddlejob", "pdj",
                         {{"Status", "string", ".status.phase"},
                          {"Mode", "string", ".status.mode"},
                          {"Ready", "string", ".status.ready"},
                          {"Age", "date", ".metadata.creationTimestamp"},
                          {"Restarts", "integer", ".status.restarts", 1},
                          {"Reason", "string", kReadyReason, 1}},
                         Scale{".spec.worker.replicas", ".status.replicas", ".status.selector"});
  static const Description kSampleSet =
      derived<SampleSet>("sampleset", "ss",
                         {{"TOTAL SIZE", "string", ".status.cacheStatus.totalSize"},
                          {"CACHED SIZE", "string", ".status.cacheStatus.cachedSize"},
                          {"AVAIL SPACE", "string", ".status.cacheStatus.diskAvail"},
                          {"Runtime", "string", ".status.runtimeStatus.runtimeReady"},
                          {"PHASE", "string", ".status.phase"},
                          {"AGE", "date", ".metadata.creationTimestamp"}});
  static const Description kSampleJob =
      derived<SampleJob>("samplejob", "sj",
                         {{"PHASE", "string", ".status.phase"},
                          {"TYPE", "string", ".spec.type"},
                          {"PROGRESS", "string", ".status.progress"},
                          {"DURATION", "string", ".status.duration"},
                          {"AGE", "date", ".metadata.creationTimestamp"}});
  switch (kind) {
    case Kind::kPaddleJob:
      return kPaddleJob;
    case Kind::kSampleSet:
      return kSampleSet;
    case Kind::kSampleJob:
      break;
  }
  return kSampleJob;
}

std::optional<Kind> kind_named(std::string_view name) {
  for (const Kind kind : kAllKinds) {
    if (describe(kind).kind == name) return kind;
  }
  return {};
}

}  // namespace paddle::api
