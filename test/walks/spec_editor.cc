// SPDX-License-Identifier: Apache-2.0
#include "test/walks/spec_editor.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include <nlohmann/json.hpp>

namespace paddle::walks {
namespace {

using api::Json;

// Their insides are the API server's, not ours: they are edited as a whole.
bool is_whole(const std::string& name) {
  static const std::set<std::string> kWhole{"template", "nodeAffinity", "tolerations",
                                            "minResources"};
  return kWhole.contains(name);
}

std::string last_name(const std::string& path) { return path.substr(path.rfind('.') + 1); }

std::string below(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

bool is_list_of_objects(const Json& schema) {
  return schema.value("type", "") == "array" && schema["items"].contains("properties");
}

// The leaves of a schema with their own schemas.
void collect_fields(const Json& schema, const std::string& path, bool whole,
                    std::map<std::string, Json>& all, std::vector<std::string>& leaves) {
  if (!path.empty()) all[path] = schema;
  if (!whole && is_list_of_objects(schema)) {
    return collect_fields(schema["items"], path + "[]", false, all, leaves);
  }
  if (!whole && schema.contains("properties")) {
    for (const auto& [name, inner] : schema["properties"].items()) {
      collect_fields(inner, below(path, name), is_whole(name), all, leaves);
    }
    return;
  }
  if (!path.empty()) leaves.push_back(path);
}

const Json& spec_schema(api::Kind kind) {
  return (*api::describe(kind).schema)["properties"]["spec"];
}

// The texts at each leaf, those of a list one after another.
void flatten(const Json& value, const std::string& path, bool whole,
             const std::set<std::string>& leaves, std::map<std::string, std::string>& out) {
  if (value.is_array() && !whole && !leaves.contains(path)) {
    for (const Json& each : value) flatten(each, path + "[]", false, leaves, out);
  } else if (value.is_object() && !whole && !leaves.contains(path)) {
    for (const auto& [name, inner] : value.items()) {
      flatten(inner, below(path, name), is_whole(name), leaves, out);
    }
  } else {
    out[path] += value.dump() + "\n";
  }
}

// What fields whose schema is a pattern or a plain string may have. Later entries are for resources
// where the name means something else.
const std::map<std::string, Json>& samples() {
  static const std::map<std::string, Json> kSamples{
      {"replicas", {0, 1, 1, 2, 2, 3}},
      {"requests", {1, 1, 2}},
      {"limits", {0, 3, 4}},
      {"partitions", {1, 2, 3}},
      {"activeDeadlineSeconds", {100'000'000, 200'000'000}},
      {"ttlSecondsAfterFinished", {100'000'000, 200'000'000}},
      {"startingDeadlineSeconds", {600, 100'000}},
      {"timeoutSeconds", {60, 100'000'000}},
      {"backoffLimit", {0, 1, 5}},
      {"disruptionLimit", {2, 5}},
      {"values", {{1}, {3, 137}, {42}}},
      {"containerName", {"main", "side"}},
      {"onReasons", {{"OOMKilled"}, {"Evicted", "DeadlineExceeded"}}},
      {"containers", {{"main"}, {"main", "side"}}},
      {"queue", {"default", "research"}},
      {"priorityClass", {"high", "low"}},
      {"minResources", {{{"cpu", "1"}}, {{"cpu", "2"}, {"memory", "1Gi"}}}},
      {"mountPath", {"/data", "/samples"}},
      {"namespace", {"train", ""}},
      {"managedBy", {"batch.paddlepaddle.org/paddle-operator", "example.org/other"}},
      {"tasks[].name", {"trainer", "ps", "heter-1", "driver", "gpu-1"}},
      {"sampleSetRef.name", {"imagenet", "imagenet", "absent"}},
      {"secretRef.name", {"keys", "keys", "other-keys"}},
      {"source.secretRef.name", {"keys", "none"}},
      {"uri", {"s3://bucket/images", "s3://bucket/photos", "s3://other"}},
      {"metrics", {"127.0.0.1:9567", "localhost:9568"}},
      {"cache-dir", {"/data/cache", "/mnt/a:/mnt/b"}},
      {"free-space-ratio", {"0.1", "0.25"}},
      {"sub-dir", {"a", "a/b"}},
      {"path", {"/dev/shm/cache", "/mnt/ssd", "/mnt/a:/mnt/b"}},
      {"cacheSize", {0, 128, 1024}},
      {"tolerations",
       {{{{"key", "gpu"}, {"operator", "Exists"}}},
        {{{"key", "a"}, {"value", "b"}, {"effect", "NoSchedule"}}, {{"operator", "Exists"}}}}},
      {"nodeAffinity",
       {Json::parse(R"({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms":
            [{"matchExpressions": [{"key": "disk", "operator": "Exists"}]}]}})"),
        Json::parse(R"({"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1,
            "preference": {"matchExpressions": [{"key": "ssd", "operator": "In",
            "values": ["yes"]}]}}]})")}},
      {"schedule", {"*/5 * * * *", "@hourly", "0 3 * * 1"}},
      {"timeZone", {"Asia/Shanghai", "UTC"}},
      {"paths", {{"/a"}, {"/a", "/b/c"}}},
      {"syncOptions.source", {"s3://other/x", "s3://bucket/y"}},
      {"destination", {"a", "b/c"}},
      {"start", {"a", "b"}},
      {"end", {"y", "z"}},
      {"exclude", {"*.tmp", "tmp*"}},
      {"include", {"*.jpg", "a*"}},
      {"manager", {"10.0.0.9", "10.0.0.7"}},
      {"worker", {"10.0.0.8", "10.0.0.6"}},
      {"file", {"lists/a.txt", "lists/b.txt"}},
      {"strategyName", {"sequence", "random", "distributedBatch"}},
  };
  return kSamples;
}

const Json* sample_of(std::string path) {
  while (true) {
    if (const auto found = samples().find(path); found != samples().end()) return &found->second;
    const size_t dot = path.find('.');
    if (dot == std::string::npos) return nullptr;
    path = path.substr(dot + 1);
  }
}

}  // namespace

SpecEditor::SpecEditor(api::Kind kind, Random& random) : random_(random) {
  collect_fields(spec_schema(kind), "", false, schemas_, leaves_);
}

Json SpecEditor::pod_template() {
  Json pod;
  Json main{{"name", "main"}, {"image", "train:" + std::to_string(random_.below(3))}};
  if (random_.below(3) == 0) {
    main["env"] = {{{"name", "RATE"}, {"value", std::to_string(random_.below(3))}}};
  }
  if (random_.below(4) == 0) {
    main["resources"]["requests"]["cpu"] = std::to_string(1 + random_.below(2));
  }
  if (random_.below(4) == 0) main["command"] = {"python", "train.py"};
  pod["spec"]["containers"] = Json::array({main});
  if (random_.below(4) == 0) {
    pod["spec"]["containers"].push_back({{"name", "side"}, {"image", "log:1"}});
  }
  if (random_.below(4) == 0) pod["spec"]["nodeSelector"]["disk"] = "ssd";
  if (random_.below(4) == 0) {
    pod["spec"]["tolerations"] = Json::array({Json{{"key", "gpu"}, {"operator", "Exists"}}});
  }
  if (random_.below(5) == 0) pod["spec"]["restartPolicy"] = pick({"Never", "OnFailure"});
  if (random_.below(5) == 0) pod["spec"]["priorityClassName"] = "high";
  if (random_.below(5) == 0) pod["metadata"]["labels"]["team"] = pick({"a", "b"});
  if (random_.below(5) == 0) pod["metadata"]["annotations"]["note"] = pick({"x", "y"});
  return pod;
}

Json SpecEditor::value_of(const std::string& path) {
  const Json& schema = schemas_.at(path);
  if (last_name(path) == "template") return pod_template();
  if (const Json* known = sample_of(path)) return pick(*known);
  if (schema.contains("enum")) return pick(schema["enum"]);
  const std::string type = schema.value("type", "");
  if (type == "boolean") return random_.below(2) == 0;
  if (type == "integer") {
    const std::int64_t least = std::max(schema.value("minimum", std::int64_t{0}), std::int64_t{0});
    const std::int64_t most = std::min(schema.value("maximum", least + 3), least + 3);
    return least +
           static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(most - least) + 1));
  }
  if (type == "string" && !schema.contains("pattern")) {
    return "text-" + std::to_string(random_.below(3));
  }
  std::cerr << "test/walks/spec_editor.cc has no value for the field '" << path << "'\n";
  std::abort();
}

// A value with what is required in it.
Json SpecEditor::make(const std::string& path) {
  const Json& schema = schemas_.at(path);
  if (is_whole(last_name(path))) return value_of(path);
  if (is_list_of_objects(schema)) {
    Json item = Json::object();
    for (const Json& name : schema["items"].value("required", Json::array())) {
      item[name.get<std::string>()] = make(path + "[]." + name.get<std::string>());
    }
    return Json::array({item});
  }
  if (!schema.contains("properties")) return value_of(path);
  Json object = Json::object();
  for (const Json& name : schema.value("required", Json::array())) {
    object[name.get<std::string>()] = make(below(path, name.get<std::string>()));
  }
  return object;
}

// `left`: the rest of the path, which begins in `value`.
void SpecEditor::change(Json& value, const std::string& done, const std::string& left) {
  const size_t dot = left.find('.');
  const std::string step = left.substr(0, dot);
  const bool list = step.ends_with("[]");
  const std::string name = list ? step.substr(0, step.size() - 2) : step;
  const std::string path = below(done, name);
  if (dot == std::string::npos) {
    if (value.contains(name) && random_.below(3) == 0) {
      value.erase(name);
    } else {
      value[name] = value_of(path);
    }
    return;
  }
  if (value.contains(name) && random_.below(12) == 0) {
    value.erase(name);  // with all that is in it
    return;
  }
  if (!value.contains(name) || value[name].empty()) value[name] = make(path);
  if (!list) return change(value[name], path, left.substr(dot + 1));
  Json& items = value[name];
  if (random_.below(4) == 0) items.push_back(make(path)[0]);
  if (items.size() > 1 && random_.below(4) == 0) items.erase(random_.below(items.size()));
  change(items[random_.below(items.size())], path + "[]", left.substr(dot + 1));
}

Json SpecEditor::edited(const Json& spec) {
  Json next = spec;
  change(next, "", leaves_[random_.below(leaves_.size())]);
  return next;
}

EditCoverage::EditCoverage(api::Kind kind) {
  std::map<std::string, Json> schemas;
  std::vector<std::string> leaves;
  collect_fields(spec_schema(kind), "", false, schemas, leaves);
  left_ = {leaves.begin(), leaves.end()};
  leaves_ = left_;
}

void EditCoverage::note(const Json& before, const Json& after) {
  std::map<std::string, std::string> old_texts;
  std::map<std::string, std::string> new_texts;
  flatten(before, "", false, leaves_, old_texts);
  flatten(after, "", false, leaves_, new_texts);
  for (const auto& [path, text] : new_texts) {
    const auto old = old_texts.find(path);
    if (old == old_texts.end() || old->second != text) left_.erase(path);
  }
  for (const auto& [path, text] : old_texts) {
    if (!new_texts.contains(path)) left_.erase(path);
  }
}

std::vector<std::string> EditCoverage::never_edited() const { return {left_.begin(), left_.end()}; }

}  // namespace paddle::walks
