// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/api.h"

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "kube/rules/object_rules.h"
#include "local/api_server/discovery.h"
#include "local/api_server/parameters.h"

namespace paddle::local {
namespace {

using api::Json;

Reply not_served() {
  return failure(404, "NotFound", "the server could not find the requested resource");
}

// Subresources of pods that a machine without a kubelet's streaming server does not have.
std::optional<Reply> not_on_one_machine(const std::vector<std::string>& path) {
  const bool of_pod = path.size() >= 7 && path[0] == "api" && path[4] == "pods";
  if (!of_pod) return std::nullopt;
  const std::string& part = path[6];
  const bool streams =
      part == "exec" || part == "attach" || part == "portforward" || part == "proxy";
  if (!streams && part != "ephemeralcontainers") return std::nullopt;
  const std::string verb = part == "portforward" ? "port-forward" : part;
  return failure(501, "NotImplemented",
                 verb +
                     " (and cp) is not supported on one machine: containers are processes of "
                     "this machine; use `kubectl logs`, the pod's address (status.podIP), or "
                     "nsenter");
}

Reply wrong_method() {
  return failure(405, "MethodNotAllowed",
                 "the server does not allow this method on the requested resource");
}

// The kinds for which a real server returns the deleted object, which typed clients decode.
bool returns_deleted(const kube::Resource& resource) {
  return resource == kube::resources::kPods || resource == kube::resources::kServices ||
         resource == resources::kClaims || resource == resources::kPersistentVolumes ||
         resource == resources::kServiceAccounts;
}

// The container of a request that names none. kInvalid: the client has to choose.
Result<std::string> default_container(const Json& pod) {
  static const Json::json_pointer kNamed{
      "/metadata/annotations/kubectl.kubernetes.io~1default-container"};
  if (pod.contains(kNamed) && pod.at(kNamed).is_string()) return pod.at(kNamed).get<std::string>();
  const Json& containers = api::look_list(pod, "/spec/containers");
  if (containers.size() == 1) return api::look_text(containers[0], "name");
  std::string names;
  for (const Json& each : containers) {
    names += (names.empty() ? "" : " ") + api::look_text(each, "name");
  }
  return Error{Code::kInvalid, "a container name must be specified for pod " +
                                   kube::meta_text(pod, "name") + ", choose one of: [" + names +
                                   "]"};
}

bool is_health(const std::vector<std::string>& path) {
  return !path.empty() && (path[0] == "healthz" || path[0] == "readyz" || path[0] == "livez");
}

Reply outcome(const Kind& kind, const api::ObjectKey& key, Result<Json> done, ResponseNotes notes,
              const Representation& representation, WallTime now) {
  Reply reply;
  if (done) {
    reply = json_reply(notes.created ? 201 : 200,
                       represent(kind, *std::move(done), representation, now));
  } else if (notes.bad_request) {
    reply = bad_request(done.error().message);
  } else {
    reply = failure(done.error(), status_details(kind.resource, key.name), notes.causes);
  }
  reply.warnings = std::move(notes.warnings);
  return reply;
}

}  // namespace

std::optional<Api::RequestInfo> Api::parse_request_path(const std::vector<std::string>& path) {
  if (path.empty()) return std::nullopt;
  const bool core = path[0] == "api";
  const size_t head = core ? 2 : 3;  // api/v1 or apis/group/version
  if ((!core && path[0] != "apis") || path.size() <= head) return std::nullopt;
  const std::string group = core ? "" : path[1];
  const std::string& version = path[head - 1];
  std::vector<std::string> rest(path.begin() + static_cast<std::ptrdiff_t>(head), path.end());

  RequestInfo info;
  // namespaces/x/pods/y against namespaces/x and namespaces/x/status
  if (rest[0] == "namespaces" && rest.size() >= 3) {
    if (const Kind* kind = find_kind(group, version, rest[2]); kind && kind->resource.namespaced) {
      info.key.ns = rest[1];
      rest.erase(rest.begin(), rest.begin() + 2);
    }
  }
  info.kind = find_kind(group, version, rest[0]);
  if (!info.kind || rest.size() > 3) return std::nullopt;
  if (rest.size() > 1) info.key.name = rest[1];
  if (rest.size() > 2) info.subresource = rest[2];
  if (!info.subresource.empty() && !info.kind->has(info.subresource)) return std::nullopt;
  const bool named_without_namespace =
      info.kind->resource.namespaced && info.key.ns.empty() && !info.key.name.empty();
  if (named_without_namespace) return std::nullopt;
  return info;
}

Reply Api::handle(const Request& request) {
  const auto target = parse_target(request.target);
  if (!target) return bad_request(target.error().message);
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (is_health(target->path)) {
    auto alive = storage_.revision();
    if (!alive) return failure(alive.error());
    return {.content_type = "text/plain; charset=utf-8", .body = "ok"};
  }
  if (auto found = discover(target->path, request.accept)) {
    return reads ? *std::move(found) : wrong_method();
  }
  const auto info = parse_request_path(target->path);
  if (!info) {
    if (auto refused = not_on_one_machine(target->path)) return *std::move(refused);
    return not_served();
  }
  return serve(*info, *target, request);
}

Reply Api::serve(const RequestInfo& info, const Target& target, const Request& request) {
  if (request.method == "GET" || request.method == "HEAD") return read(info, target, request);
  if (request.method == "DELETE") return remove(info, target, request);
  if (request.method == "POST" || request.method == "PUT" || request.method == "PATCH") {
    return write(info, target, request);
  }
  return wrong_method();
}

Reply Api::read(const RequestInfo& info, const Target& target, const Request& request) {
  if (info.subresource == "log") return logs(info, target);
  if (info.subresource == "binding" || info.subresource == "finalize") return wrong_method();
  const auto representation = parse_accept(request.accept, target["includeObject"]);
  if (!representation) {
    return failure(406, "NotAcceptable",
                   "only the following media types are accepted: application/json");
  }
  if (!info.key.name.empty())
    return reader_.get(*info.kind, info.key, info.subresource, *representation);
  if (!target.is_true("watch"))
    return reader_.list(*info.kind, info.key.ns, target, *representation);
  return start_watch(storage_, clock_, *info.kind, info.key.ns, target, *representation,
                     options_.watch);
}

Reply Api::write(const RequestInfo& info, const Target& target, const Request& request) {
  const auto options = read_write_options(target);
  if (!options) return bad_request(options.error().message);
  if (info.subresource == "log") return wrong_method();
  if (info.subresource == "binding") {
    return request.method == "POST" ? bind(info, request, *options) : wrong_method();
  }
  if (request.method == "PATCH") return patch(info, target, request, *options);
  if (!is_json(request.content_type)) {
    return failure(
        415, "UnsupportedMediaType",
        "this server accepts objects as application/json only: pass them to kubectl in a "
        "file, with `kubectl apply -f`");
  }
  auto body = api::parse_json(request.body);
  if (!body) return bad_request("the body is not JSON: " + body.error().message);
  const auto representation =
      parse_accept(request.accept, target["includeObject"]).value_or(Representation{});
  ResponseNotes notes;
  api::ObjectKey key = info.key;
  if (request.method == "POST") {
    const bool here = key.name.empty() && (!info.kind->resource.namespaced || !key.ns.empty());
    if (!here) return wrong_method();
    key.name = kube::key_of(body->is_object() ? *body : Json::object()).name;
    auto done = writer_.create(*info.kind, key.ns, *std::move(body), *options, notes);
    return outcome(*info.kind, key, std::move(done), std::move(notes), representation,
                   clock_.wall());
  }
  if (key.name.empty()) return wrong_method();
  const std::string subresource = info.subresource == "finalize" ? "" : info.subresource;
  auto done = writer_.update(*info.kind, key, *std::move(body), subresource, *options, notes);
  return outcome(*info.kind, key, std::move(done), std::move(notes),
                 subresource == "scale" ? Representation{} : representation, clock_.wall());
}

Reply Api::patch(const RequestInfo& info, const Target& target, const Request& request,
                 const WriteOptions& options) {
  if (info.key.name.empty() || info.subresource == "finalize") return wrong_method();
  const auto style = read_patch_style(request.content_type);
  // As on a real server, strategic merge is for built-in kinds only.
  if (!style || (*style == PatchStyle::kStrategic && info.kind->ours)) {
    return failure(415, "UnsupportedMediaType",
                   "the body of the request was in an unknown format - accepted media types "
                   "include: application/json-patch+json, application/merge-patch+json, "
                   "application/apply-patch+yaml");
  }
  auto body = api::parse_json(request.body);
  if (!body) return bad_request("the body is not JSON: " + body.error().message);
  const auto representation =
      parse_accept(request.accept, target["includeObject"]).value_or(Representation{});
  ResponseNotes notes;
  auto done = writer_.patch(*info.kind, info.key, *style, *body, info.subresource, options, notes);
  return outcome(*info.kind, info.key, std::move(done), std::move(notes),
                 info.subresource == "scale" ? Representation{} : representation, clock_.wall());
}

Reply Api::remove(const RequestInfo& info, const Target& target, const Request& request) {
  if (!info.subresource.empty()) return wrong_method();
  auto options = read_delete_options(target, request.body);
  if (!options) return bad_request(options.error().message);
  const StatusDetails details = status_details(info.kind->resource, info.key.name);
  if (info.key.name.empty()) {
    const auto selector = kube::Selector::parse(target["labelSelector"], target["fieldSelector"]);
    if (!selector) return bad_request(selector.error().message);
    auto removed =
        writer_.remove_all(*info.kind, info.key.ns, *selector, options->options, options->dry_run);
    if (!removed) return failure(removed.error(), details);
    return json_reply(200, {{"kind", info.kind->resource.kind + "List"},
                            {"apiVersion", info.kind->resource.api_version()},
                            {"metadata", Json::object()},
                            {"items", *removed}});
  }
  auto removed = writer_.remove(*info.kind, info.key, options->options, options->dry_run);
  if (!removed) return failure(removed.error(), details);
  if (!removed->gone || returns_deleted(info.kind->resource)) {
    return json_reply(200, removed->last);
  }
  return json_reply(200, success(details, kube::meta_text(removed->last, "uid")));
}

Reply Api::bind(const RequestInfo& info, const Request& request, const WriteOptions& options) {
  auto body = api::parse_json(request.body);
  if (!body) return bad_request("the body is not JSON: " + body.error().message);
  auto done = writer_.bind(info.key, *body, options);
  if (!done) return failure(done.error(), status_details(info.kind->resource, info.key.name));
  return json_reply(201, success(status_details(info.kind->resource, info.key.name), ""));
}

Reply Api::logs(const RequestInfo& info, const Target& target) {
  const StatusDetails details = status_details(info.kind->resource, info.key.name);
  auto pod = storage_.get(collection_of(info.kind->resource), info.key);
  if (!pod) return failure(pod.error(), details);
  if (!*pod) {
    return failure({Code::kNotFound, "pods \"" + info.key.name + "\" not found"}, details);
  }
  if (!options_.logs) return bad_request("this server has no node with logs");
  auto wanted = read_log_request(info.key, target);
  if (!wanted) return bad_request(wanted.error().message);
  if (wanted->container.empty()) {
    const auto object = api::parse_json(**pod);
    if (!object) return failure(object.error(), details);
    auto chosen = default_container(*object);
    if (!chosen) return bad_request(chosen.error().message);
    wanted->container = *std::move(chosen);
  }
  auto stream = options_.logs(*wanted);
  if (!stream) return failure(stream.error(), details);
  return {.content_type = "text/plain", .stream = *std::move(stream)};
}

}  // namespace paddle::local
