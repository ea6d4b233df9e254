// SPDX-License-Identifier: Apache-2.0
#include "api/crd/structure.h"

#include <algorithm>
#include <limits>
#include <set>

#include <nlohmann/json.hpp>

#include "api/schema/codec.h"
#include "api/schema/pattern.h"
#include "base/clock.h"

namespace paddle::api {
namespace {

// One walk over one value; keeps the arguments of the recursion short.
class Check {
 public:
  Check(const Json& value, const Json* old, const Json& schema, const std::string& path,
        std::vector<Problem>& problems)
      : value_(value), old_(old), schema_(schema), path_(path), problems_(problems) {}

  void run() {
    if (old_ && *old_ == value_) return;
    if (value_.is_null() && schema_.value("nullable", false)) return;
    if (!has_right_type()) return;
    check_enum();
    if (value_.is_string()) check_text();
    if (value_.is_number()) check_number();
    if (value_.is_array()) check_list();
    if (value_.is_object()) check_object();
  }

 private:
  void say(std::string message) { problems_.push_back({path_, std::move(message)}); }
  std::optional<std::int64_t> limit(const char* key) const {
    const auto found = schema_.find(key);
    if (found == schema_.end()) return {};
    return found->get<std::int64_t>();
  }

  bool has_right_type() {
    if (schema_.value("x-kubernetes-int-or-string", false)) {
      if (value_.is_string() || whole()) return true;
      say("must be an integer or a string");
      return false;
    }
    const std::string type = schema_.value("type", "");
    const bool right = type.empty() || (type == "object" && value_.is_object()) ||
                       (type == "array" && value_.is_array()) ||
                       (type == "string" && value_.is_string()) ||
                       (type == "boolean" && value_.is_boolean()) ||
                       (type == "integer" && whole()) || (type == "number" && value_.is_number());
    if (!right) {
      const char* article = type == "integer" || type == "object" || type == "array" ? "an " : "a ";
      say("must be " + (article + type) + ", not " + value_.type_name());
    }
    return right;
  }

  std::optional<std::int64_t> whole() const {
    using Limits = std::numeric_limits<std::int64_t>;
    return codec::integer(value_, Limits::min(), Limits::max());
  }

  void check_enum() {
    const auto choices = schema_.find("enum");
    if (choices == schema_.end()) return;
    if (std::find(choices->begin(), choices->end(), value_) != choices->end()) return;
    std::string list;
    for (const Json& choice : *choices) {
      if (choice == "") continue;
      list += (list.empty() ? "" : ", ") + choice.get<std::string>();
    }
    say("must be one of " + list);
  }

  void check_text() {
    const auto& text = value_.get_ref<const std::string&>();
    const auto length = static_cast<std::int64_t>(characters(text));
    if (const auto most = limit("maxLength"); most && length > *most) {
      say("must not be longer than " + std::to_string(*most) + " characters");
      return;
    }
    if (const auto least = limit("minLength"); least && length < *least) {
      say("must not be shorter than " + std::to_string(*least) + " characters");
    }
    if (const auto pattern = schema_.find("pattern");
        pattern != schema_.end() && !matches_pattern(text, pattern->get<std::string>())) {
      say("must match " + pattern->get<std::string>());
    }
    if (schema_.value("format", "") == "date-time" && !parse_rfc3339(text)) {
      say("must be an RFC 3339 time");
    }
  }

  // The server does not hold numbers to their format (int32); our own fields have limits instead.
  void check_number() {
    const auto number = whole();
    if (!number) return;
    if (const auto least = limit("minimum"); least && *number < *least) {
      say("must not be less than " + std::to_string(*least));
    }
    if (const auto most = limit("maximum"); most && *number > *most) {
      say("must not be greater than " + std::to_string(*most));
    }
  }

  void check_list() {
    const auto length = static_cast<std::int64_t>(value_.size());
    if (const auto least = limit("minItems"); least && length < *least) {
      say("must have at least " + std::to_string(*least) + " item" + (*least == 1 ? "" : "s"));
    }
    if (const auto most = limit("maxItems"); most && length > *most) {
      say("must not have more than " + std::to_string(*most) + " items");
      return;
    }
    if (const auto items = schema_.find("items"); items != schema_.end()) {
      for (size_t i = 0; i < value_.size(); ++i) {
        check_structure(value_[i], counterpart(value_[i], old_, schema_), *items,
                        path_ + "[" + std::to_string(i) + "]", problems_);
      }
    }
    check_duplicates();
  }

  void check_duplicates() {
    const std::string type = schema_.value("x-kubernetes-list-type", "");
    if (type != "map" && type != "set") return;
    std::set<std::string> seen;
    for (size_t i = 0; i < value_.size(); ++i) {
      Json id = value_[i];
      if (type == "map") {
        id = Json::array();
        for (const Json& key : schema_["x-kubernetes-list-map-keys"]) {
          const bool there = value_[i].is_object() && value_[i].contains(key.get<std::string>());
          id.push_back(there ? value_[i][key.get<std::string>()] : Json());
        }
      }
      if (!seen.insert(dump_json(id)).second) {
        problems_.push_back({path_ + "[" + std::to_string(i) + "]", "must not appear twice"});
      }
    }
  }

  void check_object() {
    if (const auto required = schema_.find("required"); required != schema_.end()) {
      for (const Json& key : *required) {
        if (value_.contains(key.get<std::string>())) continue;
        problems_.push_back({under(key.get<std::string>()), "is required"});
      }
    }
    const auto properties = schema_.find("properties");
    const auto others = schema_.find("additionalProperties");
    for (const auto& [key, part] : value_.items()) {
      const Json* about = nullptr;
      if (properties != schema_.end() && properties->contains(key)) {
        about = &(*properties)[key];
      } else if (others != schema_.end() && others->is_object()) {
        about = &*others;
      }
      if (!about) continue;
      const bool had = old_ && old_->is_object() && old_->contains(key);
      check_structure(part, had ? &(*old_)[key] : nullptr, *about, under(key), problems_);
    }
  }

  std::string under(const std::string& key) const {
    return path_.empty() ? key : path_ + "." + key;
  }

  const Json& value_;
  const Json* old_;
  const Json& schema_;
  const std::string& path_;
  std::vector<Problem>& problems_;
};

}  // namespace

void check_structure(const Json& value, const Json* old, const Json& schema,
                     const std::string& path, std::vector<Problem>& problems) {
  Check(value, old, schema, path, problems).run();
}

const Json* counterpart(const Json& item, const Json* old, const Json& schema) {
  const auto keys = schema.find("x-kubernetes-list-map-keys");
  if (!old || !old->is_array() || !item.is_object() || keys == schema.end()) return nullptr;
  for (const Json& candidate : *old) {
    const bool same =
        candidate.is_object() && std::ranges::all_of(*keys, [&](const Json& key) {
          const auto& name = key.get_ref<const std::string&>();
          return candidate.contains(name) && item.contains(name) && candidate[name] == item[name];
        });
    if (same) return &candidate;
  }
  return nullptr;
}

}  // namespace paddle::api
