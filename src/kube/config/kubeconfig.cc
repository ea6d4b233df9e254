// SPDX-License-Identifier: Apache-2.0
#include "kube/config/kubeconfig.h"

#include <nlohmann/json.hpp>

#include "api/json/yaml_reader.h"
#include "base/base64.h"
#include "net/values/url.h"

namespace paddle::kube {
namespace {

using api::Json;

Error wrong(const std::string& what) { return {Code::kInvalid, what}; }

// Reads fields of one mapping; `where` names it in errors. Missing and null fields are empty.
class Fields {
 public:
  static Result<Fields> of(const Json* value, std::string where) {
    static const Json kNone = Json::object();
    if (!value || value->is_null()) return Fields(kNone, std::move(where));
    if (!value->is_object()) return wrong(where + " is not a mapping");
    return Fields(*value, std::move(where));
  }

  const Json* find(const char* key) const {
    const auto found = object_->find(key);
    return found == object_->end() || found->is_null() ? nullptr : &*found;
  }

  Result<std::string> text(const char* key) const {
    const Json* value = find(key);
    if (!value) return std::string{};
    if (value->is_structured()) return wrong(where_ + "." + key + " is not a string");
    return value->is_string() ? value->get<std::string>()
                              : value->dump();  // as kubectl reads 12 or true
  }

  Result<bool> flag(const char* key) const {
    TRY(const std::string value, text(key));
    if (value.empty() || value == "false") return false;
    if (value == "true") return true;
    return wrong(where_ + "." + key + " is not true or false");
  }

  Result<std::string> data(const char* key) const {
    TRY(const std::string value, text(key));
    auto bytes = base64_decode(value);
    if (!bytes) return std::move(bytes).error().in(where_ + "." + key);
    return bytes;
  }

  Result<std::vector<std::string>> texts(const char* key) const {
    std::vector<std::string> out;
    TRY(const auto items, list(key));
    for (const Json* item : items) {
      if (item->is_structured()) return wrong(where_ + "." + key + " is not a list of strings");
      out.push_back(item->is_string() ? item->get<std::string>() : item->dump());
    }
    return out;
  }

  Result<std::vector<const Json*>> list(const char* key) const {
    std::vector<const Json*> out;
    const Json* value = find(key);
    if (!value) return out;
    if (!value->is_array()) return wrong(where_ + "." + key + " is not a list");
    for (const Json& item : *value) out.push_back(&item);
    return out;
  }

  Result<Fields> inner(const char* key) const { return of(find(key), where_ + "." + key); }
  const std::string& where() const { return where_; }
  const Json& object() const { return *object_; }

 private:
  Fields(const Json& object, std::string where) : object_(&object), where_(std::move(where)) {}
  const Json* object_;
  std::string where_;
};

std::string beside(const std::string& dir, const std::string& path) {
  return path.empty() || path.front() == '/' || dir.empty() ? path : dir + "/" + path;
}

Result<NamedCluster> read_cluster(const Fields& fields, const std::string& dir) {
  NamedCluster cluster;
  TRY(cluster.server, fields.text("server"));
  TRY(const std::string ca_file, fields.text("certificate-authority"));
  cluster.tls.ca_file = beside(dir, ca_file);
  TRY(cluster.tls.ca_pem, fields.data("certificate-authority-data"));
  TRY(cluster.tls.server_name, fields.text("tls-server-name"));
  TRY(cluster.tls.insecure, fields.flag("insecure-skip-tls-verify"));
  TRY(std::string proxy, fields.text("proxy-url"));
  if (!proxy.empty()) cluster.proxy = std::move(proxy);
  TRY(const auto extensions, fields.list("extensions"));
  for (const Json* item : extensions) {
    TRY(const Fields extension, Fields::of(item, fields.where() + ".extensions"));
    TRY(const std::string name, extension.text("name"));
    const Json* config = extension.find("extension");
    if (name == "client.authentication.k8s.io/exec" && config)
      cluster.exec_config = api::dump_json(*config);
  }
  return cluster;
}

Result<ExecPlugin> read_exec(const Fields& fields, const std::string& dir) {
  ExecPlugin plugin;
  TRY(plugin.command, fields.text("command"));
  if (plugin.command.empty()) return wrong(fields.where() + " has no command");
  if (plugin.command.find('/') != std::string::npos) plugin.command = beside(dir, plugin.command);
  TRY(plugin.args, fields.texts("args"));
  TRY(plugin.api_version, fields.text("apiVersion"));
  TRY(plugin.install_hint, fields.text("installHint"));
  TRY(plugin.provide_cluster_info, fields.flag("provideClusterInfo"));
  TRY(const auto variables, fields.list("env"));
  for (const Json* item : variables) {
    TRY(const Fields variable, Fields::of(item, fields.where() + ".env"));
    TRY(std::string name, variable.text("name"));
    TRY(std::string value, variable.text("value"));
    plugin.env.emplace_back(std::move(name), std::move(value));
  }
  return plugin;
}

Result<NamedUser> read_user(const Fields& fields, const std::string& dir) {
  NamedUser user;
  TRY(const std::string cert_file, fields.text("client-certificate"));
  TRY(const std::string key_file, fields.text("client-key"));
  TRY(const std::string token_file, fields.text("tokenFile"));
  user.cert_file = beside(dir, cert_file);
  user.key_file = beside(dir, key_file);
  user.token_file = beside(dir, token_file);
  TRY(user.cert_pem, fields.data("client-certificate-data"));
  TRY(user.key_pem, fields.data("client-key-data"));
  TRY(user.token, fields.text("token"));
  TRY(user.username, fields.text("username"));
  TRY(user.password, fields.text("password"));
  TRY(user.impersonate.user, fields.text("as"));
  TRY(user.impersonate.uid, fields.text("as-uid"));
  TRY(user.impersonate.groups, fields.texts("as-groups"));
  TRY(const Fields extra, fields.inner("as-user-extra"));
  for (const auto& [key, unused] : extra.object().items()) {
    TRY(user.impersonate.extra[key], extra.texts(key.c_str()));
  }
  if (const Json* exec = fields.find("exec")) {
    TRY(const Fields plugin, Fields::of(exec, fields.where() + ".exec"));
    TRY(user.exec, read_exec(plugin, dir));
    TRY(user.interactive_mode, plugin.text("interactiveMode"));
  }
  TRY(const Fields provider, fields.inner("auth-provider"));
  if (fields.find("auth-provider")) {
    TRY(user.auth_provider, provider.text("name"));
    if (user.auth_provider.empty()) user.auth_provider = "unnamed";
  }
  return user;
}

// [{name: n, <inner>: {...}}] -> read(fields of inner, n)
template <typename Read>
Result<> each_named(const Fields& root, const char* key, const char* inner, const Read& read) {
  TRY(const auto entries, root.list(key));
  for (const Json* entry : entries) {
    TRY(const Fields outer, Fields::of(entry, key));
    TRY(const std::string name, outer.text("name"));
    TRY(const Fields fields, Fields::of(outer.find(inner), std::string(inner) + " '" + name + "'"));
    CHECK_DONE(read(name, fields));
  }
  return Done{};
}

Result<> check_user(const std::string& name, const NamedUser& user) {
  const std::string who = "user '" + name + "'";
  if (!user.auth_provider.empty()) {
    return wrong(who + " uses auth-provider '" + user.auth_provider +
                 "', which Kubernetes has removed; use an exec plugin");
  }
  const bool bearer = !user.token.empty() || !user.token_file.empty();
  if (bearer && !user.username.empty()) return wrong(who + " has both a token and a user name");
  const bool cert = !user.cert_file.empty() || !user.cert_pem.empty();
  const bool key = !user.key_file.empty() || !user.key_pem.empty();
  if (cert != key) return wrong(who + " needs a client certificate and its key, and has only one");
  if (user.impersonate.user.empty() &&
      (!user.impersonate.uid.empty() || !user.impersonate.groups.empty() ||
       !user.impersonate.extra.empty())) {
    return wrong(who + " impersonates groups or a uid without a user (as)");
  }
  if (!user.exec) return Done{};
  if (user.interactive_mode == "Always") {
    return wrong(who + ": exec plugin '" + user.exec->command +
                 "' requires a terminal (interactiveMode: Always)");
  }
  if (user.exec->api_version != "client.authentication.k8s.io/v1" &&
      user.exec->api_version != "client.authentication.k8s.io/v1beta1") {
    return wrong(who + ": exec plugin with apiVersion '" + user.exec->api_version +
                 "'; v1 and v1beta1 of client.authentication.k8s.io are supported");
  }
  return Done{};
}

Result<std::string> full_url(const std::string& name, const NamedCluster& cluster) {
  const std::string who = "cluster '" + name + "'";
  if (cluster.server.empty()) return wrong(who + " has no server");
  const bool has_ca = !cluster.tls.ca_file.empty() || !cluster.tls.ca_pem.empty();
  if (cluster.tls.insecure && has_ca) {
    return wrong(who + " has a certificate authority and insecure-skip-tls-verify; choose one");
  }
  std::string url = cluster.server;
  if (url.find("://") == std::string::npos) url = (has_ca ? "https://" : "http://") + url;
  while (url.ends_with('/')) url.pop_back();
  auto origin = net::origin_of(url);
  if (!origin) return std::move(origin).error().in(who);
  return url;
}

}  // namespace

Result<Kubeconfig> parse_kubeconfig(std::string_view text, const std::string& dir) {
  TRY(const Json document, api::parse_yaml(text));
  TRY(const Fields root, Fields::of(&document, "kubeconfig"));
  TRY(const std::string kind, root.text("kind"));
  if (!kind.empty() && kind != "Config")
    return wrong("kind is '" + kind.substr(0, 64) + "', not Config");

  Kubeconfig out;
  TRY(out.current_context, root.text("current-context"));
  CHECK_DONE(each_named(root, "clusters", "cluster",
                        [&](const std::string& name, const Fields& f) -> Result<> {
                          TRY(NamedCluster cluster, read_cluster(f, dir));
                          out.clusters.emplace(name, std::move(cluster));
                          return Done{};
                        }));
  CHECK_DONE(
      each_named(root, "users", "user", [&](const std::string& name, const Fields& f) -> Result<> {
        TRY(NamedUser user, read_user(f, dir));
        out.users.emplace(name, std::move(user));
        return Done{};
      }));
  CHECK_DONE(each_named(root, "contexts", "context",
                        [&](const std::string& name, const Fields& f) -> Result<> {
                          NamedContext context;
                          TRY(context.cluster, f.text("cluster"));
                          TRY(context.user, f.text("user"));
                          TRY(context.ns, f.text("namespace"));
                          out.contexts.emplace(name, std::move(context));
                          return Done{};
                        }));
  return out;
}

void merge(Kubeconfig& first, Kubeconfig next) {
  if (first.current_context.empty()) first.current_context = std::move(next.current_context);
  first.clusters.merge(next.clusters);
  first.users.merge(next.users);
  first.contexts.merge(next.contexts);
}

Result<Config> resolve(const Kubeconfig& kubeconfig, const std::string& context_name) {
  const std::string& name = context_name.empty() ? kubeconfig.current_context : context_name;
  if (name.empty()) return wrong("no current-context is set");
  const auto context = kubeconfig.contexts.find(name);
  if (context == kubeconfig.contexts.end()) return wrong("there is no context '" + name + "'");
  const auto cluster = kubeconfig.clusters.find(context->second.cluster);
  if (cluster == kubeconfig.clusters.end()) {
    return wrong("context '" + name + "' names cluster '" + context->second.cluster +
                 "', which does not exist");
  }

  Config config;
  TRY(config.server, full_url(cluster->first, cluster->second));
  config.tls = cluster->second.tls;
  config.proxy = cluster->second.proxy;
  if (!context->second.ns.empty()) config.ns = context->second.ns;
  config.origin = "context '" + name + "'";
  if (context->second.user.empty()) return config;  // anonymous

  const auto found = kubeconfig.users.find(context->second.user);
  if (found == kubeconfig.users.end()) {
    return wrong("context '" + name + "' names user '" + context->second.user +
                 "', which does not exist");
  }
  const NamedUser& user = found->second;
  CHECK_DONE(check_user(found->first, user));
  config.tls.cert_file = user.cert_file;
  config.tls.cert_pem = user.cert_pem;
  config.tls.key_file = user.key_file;
  config.tls.key_pem = user.key_pem;
  config.token = user.token;
  config.token_file = user.token_file;
  config.username = user.username;
  config.password = user.password;
  config.impersonate = user.impersonate;
  const bool has_own = !user.token.empty() || !user.token_file.empty() || !user.username.empty();
  if (!has_own) config.exec = user.exec;
  if (config.exec) config.exec->cluster_config = cluster->second.exec_config;
  return config;
}

}  // namespace paddle::kube
