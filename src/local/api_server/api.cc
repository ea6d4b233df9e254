// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/api.h"

#include <nlohmann/json.hpp>

#include "kube/rules/object_rules.h"
#include "local/api_server/discovery.h"
#include "local/api_server/parameters.h"

namespace paddle::local {
namespace {

using api::Json;

Reply not_served() {
  return failure(404, "NotFound", "the server could not find the requested resource");
}

Reply wrong_method() {
  return failure(405, "MethodNotAllowed",
                 "the server does not allow this method on the requested resource");
}

bool is_health(const std::vector<std::string>& path) {
  return !path.empty() && (path[0] == "healthz" || path[0] == "readyz" || path[0] == "livez");
}

Reply outcome(const Kind& kind, const api::ObjectKey& key, Result<Json> done, Notes notes,
              const Form& form, WallTime now) {
  Reply reply;
  if (done) {
    reply = json_reply(notes.created ? 201 : 200, shaped(kind, *std::move(done), form, now));
  } else if (notes.bad_request) {
    reply = bad_request(done.error().message);
  } else {
    reply = failure(done.error(), about(kind.resource, key.name), notes.causes);
  }
  reply.warnings = std::move(notes.warnings);
  return reply;
}

}  // namespace

std::optional<Api::Place> Api::find_place(const std::vector<std::string>& path) {
  if (path.empty()) return std::nullopt;
  const bool core = path[0] == "api";
  const size_t head = core ? 2 : 3;  // api/v1 or apis/group/version
  if ((!core && path[0] != "apis") || path.size() <= head) return std::nullopt;
  const std::string group = core ? "" : path[1];
  const std::string& version = path[head - 1];
  std::vector<std::string> rest(path.begin() + static_cast<std::ptrdiff_t>(head), path.end());

  Place place;
  // namespaces/x/pods/y against namespaces/x and namespaces/x/status
  if (rest[0] == "namespaces" && rest.size() >= 3) {
    if (const Kind* kind = find_kind(group, version, rest[2]); kind && kind->resource.namespaced) {
      place.key.ns = rest[1];
      rest.erase(rest.begin(), rest.begin() + 2);
    }
  }
  place.kind = find_kind(group, version, rest[0]);
  if (!place.kind || rest.size() > 3) return std::nullopt;
  if (rest.size() > 1) place.key.name = rest[1];
  if (rest.size() > 2) place.sub = rest[2];
  if (!place.sub.empty() && !place.kind->has(place.sub)) return std::nullopt;
  const bool named_without_namespace =
      place.kind->resource.namespaced && place.key.ns.empty() && !place.key.name.empty();
  if (named_without_namespace) return std::nullopt;
  return place;
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
  const auto place = find_place(target->path);
  if (!place) return not_served();
  return serve(*place, *target, request);
}

Reply Api::serve(const Place& place, const Target& target, const Request& request) {
  if (request.method == "GET" || request.method == "HEAD") return read(place, target, request);
  if (request.method == "DELETE") return remove(place, target, request);
  if (request.method == "POST" || request.method == "PUT" || request.method == "PATCH") {
    return write(place, target, request);
  }
  return wrong_method();
}

Reply Api::read(const Place& place, const Target& target, const Request& request) {
  if (place.sub == "log") return logs(place, target);
  if (place.sub == "binding" || place.sub == "finalize") return wrong_method();
  const auto form = read_accept(request.accept, target["includeObject"]);
  if (!form) {
    return failure(406, "NotAcceptable",
                   "only the following media types are accepted: application/json");
  }
  if (!place.key.name.empty()) return reader_.get(*place.kind, place.key, place.sub, *form);
  if (!target.is_true("watch")) return reader_.list(*place.kind, place.key.ns, target, *form);
  return start_watch(storage_, clock_, *place.kind, place.key.ns, target, *form, options_.watch);
}

Reply Api::write(const Place& place, const Target& target, const Request& request) {
  const auto options = read_write_options(target);
  if (!options) return bad_request(options.error().message);
  if (place.sub == "log") return wrong_method();
  if (place.sub == "binding") {
    return request.method == "POST" ? bind(place, request, *options) : wrong_method();
  }
  if (request.method == "PATCH") return patch(place, target, request, *options);
  if (!is_json(request.content_type)) {
    return failure(415, "UnsupportedMediaType",
                   "this server takes objects as application/json only: give them to kubectl in a "
                   "file, with `kubectl apply -f`");
  }
  auto body = api::parse_json(request.body);
  if (!body) return bad_request("the body is not JSON: " + body.error().message);
  const auto form = read_accept(request.accept, target["includeObject"]).value_or(Form{});
  Notes notes;
  api::ObjectKey key = place.key;
  if (request.method == "POST") {
    const bool here = key.name.empty() && (!place.kind->resource.namespaced || !key.ns.empty());
    if (!here) return wrong_method();
    key.name = kube::key_of(body->is_object() ? *body : Json::object()).name;
    auto done = writer_.create(*place.kind, key.ns, *std::move(body), *options, notes);
    return outcome(*place.kind, key, std::move(done), std::move(notes), form, clock_.wall());
  }
  if (key.name.empty()) return wrong_method();
  const std::string sub = place.sub == "finalize" ? "" : place.sub;
  auto done = writer_.update(*place.kind, key, *std::move(body), sub, *options, notes);
  return outcome(*place.kind, key, std::move(done), std::move(notes),
                 sub == "scale" ? Form{} : form, clock_.wall());
}

Reply Api::patch(const Place& place, const Target& target, const Request& request,
                 const WriteOptions& options) {
  if (place.key.name.empty() || place.sub == "finalize") return wrong_method();
  const auto style = read_patch_style(request.content_type);
  // As on a real server, strategic merge is for kinds that are built in.
  if (!style || (*style == PatchStyle::kStrategic && place.kind->ours)) {
    return failure(415, "UnsupportedMediaType",
                   "the body of the request was in an unknown format - accepted media types "
                   "include: application/json-patch+json, application/merge-patch+json, "
                   "application/apply-patch+yaml");
  }
  auto body = api::parse_json(request.body);
  if (!body) return bad_request("the body is not JSON: " + body.error().message);
  const auto form = read_accept(request.accept, target["includeObject"]).value_or(Form{});
  Notes notes;
  auto done = writer_.patch(*place.kind, place.key, *style, *body, place.sub, options, notes);
  return outcome(*place.kind, place.key, std::move(done), std::move(notes),
                 place.sub == "scale" ? Form{} : form, clock_.wall());
}

Reply Api::remove(const Place& place, const Target& target, const Request& request) {
  if (!place.sub.empty()) return wrong_method();
  auto options = read_delete_options(target, request.body);
  if (!options) return bad_request(options.error().message);
  const About who = about(place.kind->resource, place.key.name);
  if (place.key.name.empty()) {
    const auto selector = kube::Selector::parse(target["labelSelector"], target["fieldSelector"]);
    if (!selector) return bad_request(selector.error().message);
    auto removed =
        writer_.remove_all(*place.kind, place.key.ns, *selector, options->options, options->dry);
    if (!removed) return failure(removed.error(), who);
    return json_reply(200, {{"kind", place.kind->resource.kind + "List"},
                            {"apiVersion", place.kind->resource.api_version()},
                            {"metadata", Json::object()},
                            {"items", *removed}});
  }
  auto removed = writer_.remove(*place.kind, place.key, options->options, options->dry);
  if (!removed) return failure(removed.error(), who);
  if (!removed->gone) return json_reply(200, removed->last);
  return json_reply(200, success(who, kube::meta_text(removed->last, "uid")));
}

Reply Api::bind(const Place& place, const Request& request, const WriteOptions& options) {
  auto body = api::parse_json(request.body);
  if (!body) return bad_request("the body is not JSON: " + body.error().message);
  auto done = writer_.bind(place.key, *body, options);
  if (!done) return failure(done.error(), about(place.kind->resource, place.key.name));
  return json_reply(201, success(about(place.kind->resource, place.key.name), ""));
}

Reply Api::logs(const Place& place, const Target& target) {
  const About who = about(place.kind->resource, place.key.name);
  auto pod = storage_.get(collection_of(place.kind->resource), place.key);
  if (!pod) return failure(pod.error(), who);
  if (!*pod) {
    return failure({Code::kNotFound, "pods \"" + place.key.name + "\" not found"}, who);
  }
  if (!options_.logs) return bad_request("this server has no node that keeps logs");
  auto wanted = read_log_request(place.key, target);
  if (!wanted) return bad_request(wanted.error().message);
  auto stream = options_.logs(*wanted);
  if (!stream) return failure(stream.error(), who);
  return {.content_type = "text/plain", .stream = *std::move(stream)};
}

}  // namespace paddle::local
