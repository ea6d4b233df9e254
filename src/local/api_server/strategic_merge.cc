// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include <nlohmann/json.hpp>

#include "local/api_server/patches.h"

namespace paddle::local {
namespace {

using api::Json;

constexpr std::string_view kOrder = "$setElementOrder/";
constexpr std::string_view kDelete = "$deleteFromPrimitiveList/";

// The merge key of the elements of a list, by the name of the list's field. `ports` is
// containerPort in a container and port in a Service: the element decides.
std::string_view merge_key(std::string_view field, const Json& element) {
  static const std::map<std::string_view, std::string_view> kKeys{
      {"containers", "name"},
      {"initContainers", "name"},
      {"ephemeralContainers", "name"},
      {"volumes", "name"},
      {"env", "name"},
      {"imagePullSecrets", "name"},
      {"volumeMounts", "mountPath"},
      {"volumeDevices", "devicePath"},
      {"hostAliases", "ip"},
      {"conditions", "type"},
      {"ownerReferences", "uid"},
      {"secrets", "name"},
      {"addresses", "type"},
      {"taints", "key"},
      {"resourceClaims", "name"},
      {"podIPs", "ip"},
      {"hostIPs", "ip"},
      {"topologySpreadConstraints", "topologyKey"}};
  if (field == "ports") {
    return element.is_object() && element.contains("containerPort") ? "containerPort" : "port";
  }
  const auto found = kKeys.find(field);
  return found == kKeys.end() ? std::string_view{} : found->second;
}

bool is_set(std::string_view field) { return field == "finalizers"; }

Error bad(std::string message) { return {Code::kInvalid, std::move(message)}; }

class Merge {
 public:
  Result<> object(Json& to, const Json& patch) {
    if (!to.is_object()) to = Json::object();
    if (const auto directive = patch.find("$patch"); directive != patch.end()) {
      if (*directive == "delete") {
        to = Json::object();
        return Done{};
      }
      if (*directive == "replace") {
        to = patch;
        to.erase("$patch");
        return Done{};
      }
      if (*directive != "merge") return bad("unknown $patch directive");
    }
    retain(to, patch);
    for (const auto& [name, value] : patch.items()) {
      if (name == "$patch" || name == "$retainKeys" || name.starts_with(kOrder)) continue;
      if (name.starts_with(kDelete)) {
        remove_values(to[name.substr(kDelete.size())], value);
      } else {
        CHECK_DONE(field(to, name, value));
      }
    }
    for (const auto& [name, value] : patch.items()) {
      if (name.starts_with(kOrder)) reorder(to, name.substr(kOrder.size()), value);
    }
    return Done{};
  }

 private:
  Result<> field(Json& to, const std::string& name, const Json& value) {
    if (value.is_null()) {
      to.erase(name);
      return Done{};
    }
    if (value.is_object()) return object(to[name], value);
    if (!value.is_array()) {
      to[name] = value;
      return Done{};
    }
    return list(to[name], name, value);
  }

  Result<> list(Json& to, const std::string& name, const Json& patch) {
    const bool replaces = std::ranges::any_of(patch, [](const Json& item) {
      return item.is_object() && item.contains("$patch") && item["$patch"] == "replace";
    });
    if (!to.is_array()) to = Json::array();
    if (is_set(name) && !replaces) {
      for (const Json& item : patch) {
        if (std::ranges::find(to, item) == to.end()) to.push_back(item);
      }
      return Done{};
    }
    const bool keyed =
        !patch.empty() && patch[0].is_object() && !merge_key(name, patch[0]).empty() && !replaces;
    if (keyed) return keyed_list(to, name, patch);
    Json whole = Json::array();
    for (const Json& item : patch) {
      if (item.is_object() && item.contains("$patch")) continue;
      whole.push_back(item);
    }
    to = std::move(whole);
    return Done{};
  }

  Result<> keyed_list(Json& to, const std::string& name, const Json& patch) {
    for (const Json& item : patch) {
      const std::string key(merge_key(name, item));
      if (!item.is_object() || !item.contains(key)) {
        return bad("an element of " + name + " lacks its merge key " + key);
      }
      const auto same = std::ranges::find_if(to, [&](const Json& there) {
        return there.is_object() && there.contains(key) && there[key] == item[key];
      });
      if (item.value("$patch", Json()) == "delete") {
        if (same != to.end()) to.erase(same);
      } else if (same != to.end()) {
        CHECK_DONE(object(*same, item));
      } else {
        Json made = Json::object();
        CHECK_DONE(object(made, item));
        to.push_back(std::move(made));
      }
    }
    return Done{};
  }

  static void retain(Json& to, const Json& patch) {
    const auto wanted = patch.find("$retainKeys");
    if (wanted == patch.end() || !wanted->is_array()) return;
    std::set<std::string> keep;
    for (const Json& name : *wanted) {
      if (name.is_string()) keep.insert(name.get<std::string>());
    }
    Json left = Json::object();
    for (const auto& [name, value] : to.items()) {
      if (keep.contains(name)) left[name] = value;
    }
    to = std::move(left);
  }

  static void remove_values(Json& list, const Json& values) {
    if (!list.is_array() || !values.is_array()) return;
    Json left = Json::array();
    for (const Json& item : list) {
      if (std::ranges::find(values, item) == values.end()) left.push_back(item);
    }
    list = std::move(left);
  }

  // Elements in `order` come first, in that order; the others follow in their previous order.
  static void reorder(Json& to, const std::string& name, const Json& order) {
    if (!to.contains(name) || !to[name].is_array() || !order.is_array()) return;
    const auto rank = [&](const Json& item) {
      const auto found = std::ranges::find_if(order, [&](const Json& wanted) {
        if (!wanted.is_object() || !item.is_object()) return wanted == item;
        const std::string key(merge_key(name, wanted));
        return wanted.contains(key) && item.contains(key) && wanted[key] == item[key];
      });
      return found - order.begin();
    };
    auto& items = to[name].get_ref<Json::array_t&>();
    std::ranges::stable_sort(items, {}, rank);
  }
};

}  // namespace

Result<Json> strategic_merge(Json object, const Json& patch) {
  CHECK_DONE(Merge{}.object(object, patch));
  return object;
}

}  // namespace paddle::local
