// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/parameters.h"

#include <nlohmann/json.hpp>

#include "local/api_server/reader.h"

namespace paddle::local {
namespace {

using api::Json;
using kube::Propagation;

Error invalid(const std::string& field, const std::string& value) {
  return {Code::kInvalid, field + ": Invalid value: \"" + value + "\""};
}

Result<bool> read_dry_run(const std::string& text) {
  if (text.empty() || text == "All") return !text.empty();
  return invalid("dryRun", text);
}

Result<Propagation> read_propagation(const std::string& text) {
  if (text == "Background") return Propagation::kBackground;
  if (text == "Foreground") return Propagation::kForeground;
  if (text == "Orphan") return Propagation::kOrphan;
  return invalid("propagationPolicy", text);
}

std::string_view media_type(std::string_view content_type) {
  content_type = content_type.substr(0, content_type.find(';'));
  const auto end = content_type.find_last_not_of(' ');
  return end == std::string_view::npos ? std::string_view{} : content_type.substr(0, end + 1);
}

std::string text_of(const Json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

Result<> read_delete_body(const std::string& text, DeleteRequest& to) {
  TRY(const Json body, api::parse_json(text));
  if (!body.is_object()) return Error{Code::kInvalid, "DeleteOptions must be an object"};
  if (const auto policy = text_of(body, "propagationPolicy"); !policy.empty()) {
    TRY(to.options.propagation, read_propagation(policy));
  } else if (body.value("orphanDependents", Json()) == true) {
    to.options.propagation = Propagation::kOrphan;
  }
  if (const auto grace = body.find("gracePeriodSeconds");
      grace != body.end() && !grace->is_null()) {
    if (!grace->is_number_integer() || *grace < 0 || *grace > INT32_MAX) {
      return invalid("gracePeriodSeconds", api::dump_json(*grace));
    }
    to.options.grace_seconds = grace->get<int>();
  }
  if (const auto wanted = body.find("preconditions"); wanted != body.end() && wanted->is_object()) {
    to.options.uid = text_of(*wanted, "uid");
    to.options.resource_version = text_of(*wanted, "resourceVersion");
  }
  if (const auto dry_run = body.find("dryRun"); dry_run != body.end() && dry_run->is_array()) {
    for (const Json& stage : *dry_run) {
      TRY(to.dry_run, read_dry_run(stage.is_string() ? stage.get<std::string>() : "?"));
    }
  }
  return Done{};
}

}  // namespace

Result<WriteOptions> read_write_options(const Target& target) {
  WriteOptions options{.field_manager = target["fieldManager"], .force = target.is_true("force")};
  TRY(options.dry_run, read_dry_run(target["dryRun"]));
  const std::string validation = target["fieldValidation"];
  if (validation == "Strict") {
    options.validation = FieldValidation::kStrict;
  } else if (validation == "Ignore") {
    options.validation = FieldValidation::kIgnore;
  } else if (!validation.empty() && validation != "Warn") {
    return invalid("fieldValidation", validation);
  }
  // A space would be taken for the marker of plain writes; 128 is the real server's limit.
  if (options.field_manager.size() > 128 || options.field_manager.find(' ') != std::string::npos) {
    return invalid("fieldManager", options.field_manager);
  }
  return options;
}

Result<DeleteRequest> read_delete_options(const Target& target, const std::string& body) {
  DeleteRequest made;
  if (const auto policy = target["propagationPolicy"]; !policy.empty()) {
    TRY(made.options.propagation, read_propagation(policy));
  } else if (target.query.contains("orphanDependents") && target.is_true("orphanDependents")) {
    made.options.propagation = Propagation::kOrphan;
  }
  if (const auto grace = target["gracePeriodSeconds"]; !grace.empty()) {
    const auto seconds = parse_revision(grace);
    if (!seconds || *seconds > INT32_MAX) return invalid("gracePeriodSeconds", grace);
    made.options.grace_seconds = static_cast<int>(*seconds);
  }
  TRY(made.dry_run, read_dry_run(target["dryRun"]));
  if (!body.empty()) CHECK_DONE(read_delete_body(body, made));
  return made;
}

Result<LogRequest> read_log_request(const api::ObjectKey& pod, const Target& target) {
  LogRequest made{.pod = pod,
                  .container = target["container"],
                  .follow = target.is_true("follow"),
                  .previous = target.is_true("previous")};
  if (target.is_true("timestamps")) {
    return Error{Code::kInvalid,
                 "timestamps is not supported on one machine: programs write their logs directly "
                 "into a file; leave it out"};
  }
  for (auto [name, to] :
       {std::pair{"tailLines", &made.tail_lines}, std::pair{"limitBytes", &made.limit_bytes}}) {
    if (!target.query.contains(name)) continue;
    *to = parse_revision(target[name]);
    if (!*to) return invalid(name, target[name]);
  }
  return made;
}

bool is_json(std::string_view content_type) {
  const auto type = media_type(content_type);
  return type.empty() || type == "application/json";
}

std::optional<PatchStyle> read_patch_style(std::string_view content_type) {
  const auto type = media_type(content_type);
  if (type == "application/merge-patch+json") return PatchStyle::kMerge;
  if (type == "application/json-patch+json") return PatchStyle::kJson;
  if (type == "application/strategic-merge-patch+json") return PatchStyle::kStrategic;
  if (type == "application/apply-patch+yaml") return PatchStyle::kApply;
  return std::nullopt;
}

}  // namespace paddle::local
