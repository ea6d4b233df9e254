// SPDX-License-Identifier: Apache-2.0
#include "local/node/pod_env.h"

namespace paddle::local {
namespace {

// subscript("metadata.labels['key']", "metadata.labels") is "key".
std::optional<std::string> subscript(const std::string& path, const std::string& prefix) {
  const std::string open = prefix + "['";
  if (!path.starts_with(open) || !path.ends_with("']")) return std::nullopt;
  return path.substr(open.size(), path.size() - open.size() - 2);
}

// The kubelet's format: escaped lines of key="value".
std::string lines(const std::map<std::string, std::string>& map) {
  std::string out;
  for (const auto& [key, value] : map) {
    if (!out.empty()) out += '\n';
    out += key + "=\"";
    for (const char c : value) {
      if (c == '\n') {
        out += "\\n";
        continue;
      }
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    out += '"';
  }
  return out;
}

std::string value_in(const std::map<std::string, std::string>& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? std::string() : found->second;
}

Result<std::optional<std::string>> from_object(const EnvEntry& entry, const ObjectData& objects) {
  const bool secret = !entry.secret.empty();
  const std::string& name = secret ? entry.secret : entry.config_map;
  const char* kind = secret ? "secret" : "configmap";
  const auto data = secret ? objects.secret(name) : objects.config_map(name);
  if (!data) {
    if (entry.optional) return std::optional<std::string>{};
    return Error{Code::kNotFound, std::string(kind) + " \"" + name + "\" not found"};
  }
  const auto found = data->find(entry.key);
  if (found == data->end()) {
    if (entry.optional) return std::optional<std::string>{};
    return Error{Code::kNotFound,
                 std::string("couldn't find key ") + entry.key + " in " + kind + " " + name};
  }
  return std::optional(found->second);
}

}  // namespace

Result<std::string> field_value(const PodFacts& facts, const std::string& path) {
  const api::Meta& meta = facts.pod.meta;
  if (path == "metadata.name") return meta.key.name;
  if (path == "metadata.namespace") return meta.key.ns;
  if (path == "metadata.uid") return meta.uid;
  if (path == "metadata.labels") return lines(meta.labels);
  if (path == "metadata.annotations") return lines(meta.annotations);
  if (path == "status.podIP" || path == "status.podIPs") return facts.ip;
  if (path == "status.hostIP" || path == "status.hostIPs") return facts.host_ip;
  if (path == "spec.nodeName") return facts.pod.node_name;
  if (path == "spec.serviceAccountName") return std::string("default");
  if (auto key = subscript(path, "metadata.labels")) return value_in(meta.labels, *key);
  if (auto key = subscript(path, "metadata.annotations")) return value_in(meta.annotations, *key);
  return Error{Code::kInvalid, "unknown field path '" + path + "'"};
}

std::string expand(const std::string& text, const Data& known) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$' || i + 1 == text.size()) {
      out += text[i];
    } else if (text[i + 1] == '$') {
      out += '$';
      ++i;
    } else if (const size_t end = text.find(')', i);
               text[i + 1] == '(' && end != std::string::npos) {
      const auto found = known.find(text.substr(i + 2, end - i - 2));
      out += found == known.end() ? text.substr(i, end - i + 1) : found->second;
      i = end;
    } else {
      out += '$';
    }
  }
  return out;
}

Result<Data> environment(const Container& container, const PodFacts& facts,
                         const ObjectData& objects) {
  Data env;
  for (const EnvFrom& from : container.env_from) {
    const auto data = from.secret ? objects.secret(from.name) : objects.config_map(from.name);
    if (!data && !from.optional) {
      return Error{Code::kNotFound, std::string(from.secret ? "secret" : "configmap") + " \"" +
                                        from.name + "\" not found"};
    }
    if (!data) continue;
    for (const auto& [key, value] : *data) env[from.prefix + key] = value;
  }
  for (const EnvEntry& entry : container.env) {
    if (!entry.field_path.empty()) {
      TRY(env[entry.name], field_value(facts, entry.field_path));
    } else if (!entry.config_map.empty() || !entry.secret.empty()) {
      TRY(const auto value, from_object(entry, objects));
      if (value) env[entry.name] = *value;
    } else {
      env[entry.name] = expand(entry.value, env);
    }
  }
  return env;
}

}  // namespace paddle::local
