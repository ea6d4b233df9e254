// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/admission.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/crd/validate.h"
#include "kube/rules/object_rules.h"
#include "local/api_server/defaults.h"
#include "local/api_server/object_limits.h"
#include "local/api_server/pod_update.h"

namespace paddle::local {
namespace {

using api::Json;
using api::Problem;

constexpr size_t kMostBytes = size_t{3} << 20;
// Below api::kMaxDepth, so that a stored object can be parsed again, also inside a list.
constexpr int kMostDepth = 100;

bool is_shallow(const Json& value, int depth) {
  if (depth == 0) return false;
  if (!value.is_structured()) return true;
  return std::ranges::all_of(value, [&](const Json& part) { return is_shallow(part, depth - 1); });
}

Result<> check_bounds(const Json& object, ResponseNotes& notes) {
  if (is_shallow(object, kMostDepth) && api::dump_json(object).size() <= kMostBytes) return Done{};
  notes.bad_request = true;
  return Error{Code::kInvalid, "the object is too large or nested too deeply"};
}

// An owner without a name or uid can never be found: its dependents would be garbage-collected.
Result<> check_owners(const Json& object) {
  static const Json::json_pointer kPath{"/metadata/ownerReferences"};
  if (!object.contains(kPath)) return Done{};
  for (const Json& owner : object.at(kPath)) {
    for (const char* field : {"apiVersion", "kind", "name", "uid"}) {
      if (owner.value(field, "").empty()) {
        return Error{Code::kInvalid, std::string("metadata.ownerReferences.") + field +
                                         ": Invalid value: \"\": must not be empty"};
      }
    }
  }
  return Done{};
}

// Checks that apply to every core kind.
Result<> check_parts(const Json& object) {
  for (const char* field : {"spec", "status"}) {
    const auto found = object.find(field);
    if (found == object.end() || found->is_object() || found->is_null()) continue;
    return Error{Code::kInvalid, std::string(field) + ": Invalid value: must be an object"};
  }
  return Done{};
}

std::string joined(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    text += (text.empty() ? "" : ", ") + problem.path + ": " + problem.message;
  }
  return problems.size() > 1 ? "[" + text + "]" : text;
}

// Unknown fields are rejected, reported as warnings or dropped, as fieldValidation requests.
Result<> check_unknown_fields(const std::vector<Problem>& unknown, const AdmitOptions& options,
                              ResponseNotes& notes) {
  if (unknown.empty() || options.validation == FieldValidation::kIgnore) return Done{};
  if (options.validation == FieldValidation::kWarn) {
    for (const Problem& problem : unknown) {
      notes.warnings.push_back("unknown field \"" + problem.path + "\"");
    }
    return Done{};
  }
  std::string message = "strict decoding error: ";
  for (size_t i = 0; i < unknown.size(); ++i) {
    message += (i > 0 ? ", unknown field \"" : "unknown field \"") + unknown[i].path + "\"";
  }
  notes.bad_request = true;
  return Error{Code::kInvalid, message};
}

Result<> check_ours(api::Kind kind, const Json& object, api::Write write,
                    const AdmitOptions& options, ResponseNotes& notes) {
  write.strict = false;
  const auto problems = api::validate(kind, object, write);
  write.strict = true;
  auto unknown = api::validate(kind, object, write);
  std::erase_if(unknown, [&](const Problem& problem) {
    return std::ranges::find(problems, problem) != problems.end();
  });
  CHECK_DONE(check_unknown_fields(unknown, options, notes));
  if (problems.empty()) return Done{};
  for (const Problem& problem : problems) {
    notes.causes.push_back({"FieldValueInvalid", problem.message, problem.path});
  }
  return Error{Code::kInvalid, joined(problems)};
}

}  // namespace

std::string qualified(const kube::Resource& resource) {
  return resource.group.empty() ? resource.plural : resource.plural + "." + resource.group;
}

Result<Json> admit(const Kind& kind, Json object, const AdmitOptions& options,
                   ResponseNotes& notes) {
  CHECK_DONE(check_bounds(object, notes));
  CHECK_DONE(check_owners(object));
  CHECK_DONE(check_labels_and_annotations(object));
  if (!kind.ours) {
    CHECK_DONE(check_parts(object));
    CHECK_DONE(check_data(kind.resource, object));
    return with_defaults(kind.resource, std::move(object));
  }
  CHECK_DONE(check_ours(*kind.ours, object, {}, options, notes));
  return api::normalized(*kind.ours, std::move(object));
}

Result<Json> admit_update(const Kind& kind, const Json& old, Json incoming, const std::string& part,
                          const AdmitOptions& options, ResponseNotes& notes) {
  CHECK_DONE(check_bounds(incoming, notes));
  if (!kind.ours) {
    TRY(Json updated, kube::prepare_update(kind.resource, old, std::move(incoming), part));
    CHECK_DONE(check_owners(updated));
    CHECK_DONE(check_labels_and_annotations(updated));
    CHECK_DONE(check_parts(updated));
    if (!part.empty()) return updated;
    CHECK_DONE(check_data(kind.resource, updated));
    TRY(updated, with_defaults(kind.resource, std::move(updated)));
    if (kind.resource == kube::resources::kPods) CHECK_DONE(check_pod_update(old, updated));
    return updated;
  }
  // Validate the object as it came, store it normalized: dropped fields must not count as a change.
  TRY(const Json raw, kube::prepare_update(kind.resource, old, incoming, part));
  CHECK_DONE(check_owners(raw));
  CHECK_DONE(check_labels_and_annotations(raw));
  CHECK_DONE(
      check_ours(*kind.ours, raw, {.old = &old, .status = part == "status"}, options, notes));
  return kube::prepare_update(kind.resource, old, api::normalized(*kind.ours, std::move(incoming)),
                              part);
}

}  // namespace paddle::local
