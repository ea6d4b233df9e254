// SPDX-License-Identifier: Apache-2.0
#include "api/crd/validate.h"

#include <nlohmann/json.hpp>

#include "api/crd/normalize.h"
#include "api/crd/structure.h"

namespace paddle::api {
namespace {

// Walks value and schema together and applies the rules that stand in the schema.
class RuleCheck {
 public:
  RuleCheck(const Description& about, std::vector<Problem>& problems)
      : about_(about), problems_(problems) {}

  void run(const Json& value, const Json* old, const Json& schema, const std::string& path) {
    if (const auto rules = schema.find("x-kubernetes-validations"); rules != schema.end()) {
      for (const Json& rule : *rules) apply(rule, value, old, path);
    }
    if (value.is_object() && schema.contains("properties")) {
      for (const auto& [key, part] : value.items()) {
        const auto about = schema["properties"].find(key);
        if (about == schema["properties"].end()) continue;
        const bool had = old && old->is_object() && old->contains(key);
        run(part, had ? &(*old)[key] : nullptr, *about, path.empty() ? key : path + "." + key);
      }
    } else if (value.is_array() && schema.contains("items")) {
      for (size_t i = 0; i < value.size(); ++i) {
        run(value[i], counterpart(value[i], old, schema), schema["items"],
            path + "[" + std::to_string(i) + "]");
      }
    }
  }

 private:
  void apply(const Json& rule, const Json& value, const Json* old, const std::string& path) {
    const auto found = about_.rules.find(rule["rule"].get<std::string>());
    if (found == about_.rules.end()) return;
    const Expr& expr = found->second;
    if (uses_old_self(expr) ? !old : old && *old == value) return;
    if (evaluate(expr, value, old) != true) {
      problems_.push_back({path.empty() ? "metadata" : path, rule["message"].get<std::string>()});
    }
  }

  const Description& about_;
  std::vector<Problem>& problems_;
};

void check_identity(const Description& about, const Json& object, std::vector<Problem>& problems) {
  if (object.value("kind", Json()) != about.kind)
    problems.push_back({"kind", "must be " + about.kind});
  if (object.value("apiVersion", Json()) != about.api_version()) {
    problems.push_back({"apiVersion", "must be " + about.api_version()});
  }
}

// The half of the object that this write does not touch is the old one's.
void settle_status(Json& object, const Write& write) {
  if (write.status && write.old) {
    Json merged = *write.old;
    merged.erase("status");
    if (object.contains("status")) merged["status"] = object["status"];
    object = std::move(merged);
    return;
  }
  object.erase("status");
  if (write.old && write.old->contains("status")) object["status"] = (*write.old)["status"];
}

// With generateName the server has made the name before the rules see it.
void settle_name(Json& object) {
  Json& meta = object["metadata"];
  const bool named = meta.contains("name") && meta["name"].is_string() && meta["name"] != "";
  if (named || !meta.contains("generateName") || !meta["generateName"].is_string()) return;
  meta["name"] = meta["generateName"].get<std::string>() + "x1x2x";
}

}  // namespace

Json normalized(Kind kind, Json object) {
  normalize(object, *describe(kind).schema, "", nullptr);
  return object;
}

std::vector<Problem> validate(Kind kind, const Json& object, const Write& write) {
  const Description& about = describe(kind);
  std::vector<Problem> problems;
  if (!object.is_object()) return {{"", "must be an object"}};
  check_identity(about, object, problems);
  check_metadata(object, write.strict, problems);
  if (!problems.empty()) return problems;

  Json subject = object;
  normalize(subject, *about.schema, "", write.strict ? &problems : nullptr);
  settle_status(subject, write);
  settle_name(subject);
  if (!problems.empty()) return problems;

  const Json old = write.old ? normalized(kind, *write.old) : Json();
  const Json* before = write.old ? &old : nullptr;
  check_structure(subject, before, *about.schema, "", problems);
  if (problems.empty()) RuleCheck(about, problems).run(subject, before, *about.schema, "");
  return problems;
}

Result<> first_of(const std::vector<Problem>& problems) {
  if (problems.empty()) return Done{};
  const Problem& first = problems.front();
  return Error{Code::kInvalid,
               first.path.empty() ? first.message : first.path + ": " + first.message};
}

}  // namespace paddle::api
