// SPDX-License-Identifier: Apache-2.0
#include "etcd/client.h"

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "base/base64.h"
#include "net/values/url.h"

namespace paddle::etcd {
namespace {

using api::Json;

net::HttpOptions http_options(const ClientOptions& options) {
  net::HttpOptions out;
  out.tls = options.tls;
  out.proxy = "";  // within the cluster
  out.user_agent = "paddle-operator";
  out.connect_timeout = options.timeout / 2;
  out.max_idle = 4;
  return out;
}

// The first key after all keys with this prefix; "\0" stands for the end of all keys.
std::string end_of(std::string prefix) {
  while (!prefix.empty()) {
    if (static_cast<unsigned char>(prefix.back()) != 0xff) {
      prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
      return prefix;
    }
    prefix.pop_back();
  }
  return std::string(1, '\0');
}

// The gateway writes 64-bit numbers as strings and leaves zeros out.
std::int64_t number_in(const Json& object, const char* key) {
  const Json& found = api::look(object, key);
  if (found.is_number_integer()) return found.get<std::int64_t>();
  if (!found.is_string()) return 0;
  const auto& text = found.get_ref<const std::string&>();
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Result<std::vector<Entry>> entries_in(const Json& answer) {
  std::vector<Entry> out;
  const Json& found = api::look(answer, "kvs");
  if (!found.is_array()) return out;
  for (const Json& one : found) {
    TRY(std::string key, base64_decode(api::look_text(one, "key")));
    TRY(std::string value, base64_decode(api::look_text(one, "value")));
    out.push_back({std::move(key), std::move(value), number_in(one, "mod_revision")});
  }
  return out;
}

Json put_body(const std::string& key, const std::string& value) {
  return {{"key", base64_encode(key)}, {"value", base64_encode(value)}};
}

// The gateway derives the status from gRPC's code: 404, 409 and 412 are about the request.
Code code_of(int status) {
  if (status == 408) return Code::kUnavailable;
  if (status == 404 || status == 409 || status == 410 || status == 412) return Code::kInvalid;
  return net::code_of(status);
}

Error refusal(const net::HttpReply& reply) {
  std::string said;
  if (const auto json = api::parse_json(reply.body)) said = api::look_text(*json, "error");
  if (said.empty()) said = "it responded with status " + std::to_string(reply.status);
  return {code_of(reply.status), said.substr(0, 300), reply.retry_after};
}

bool another_may_answer(const Error& error) {
  return error.code == Code::kUnavailable || error.code == Code::kUntrusted ||
         error.code == Code::kDeadline;
}

}  // namespace

Result<std::vector<std::string>> parse_endpoints(const std::string& text) {
  std::vector<std::string> out;
  size_t from = 0;
  while (from <= text.size()) {
    const size_t to = std::min(text.find(',', from), text.size());
    std::string part = text.substr(from, to - from);
    from = to + 1;
    const auto blank = [](char c) { return c == ' ' || c == '\t'; };
    while (!part.empty() && blank(part.front())) part.erase(0, 1);
    while (!part.empty() && blank(part.back())) part.pop_back();
    if (part.ends_with('/') && !part.ends_with("//")) part.pop_back();
    if (part.empty()) continue;
    if (part.find("://") == std::string::npos) part.insert(0, "http://");
    const auto origin = net::origin_of(part);
    const size_t host = part.find("://") + 3;
    if (!origin || part.find_first_of("/?#@", host) != std::string::npos) {
      return Error{Code::kInvalid, "\"" + net::without_secrets(part) +
                                       "\" is not the address of an etcd; write host:port"};
    }
    out.push_back(std::move(part));
  }
  return out;
}

Client::Client(ClientOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock), http_(http_options(options_), clock) {}

Result<Json> Client::call_endpoint(const std::string& endpoint, const std::string& path,
                                   const std::string& body, std::chrono::milliseconds limit,
                                   std::stop_token stop) {
  const net::HttpRequest request{.method = "POST",
                                 .url = endpoint + path,
                                 .headers = {{"Content-Type", "application/json"}},
                                 .body = body};
  net::HttpCall call;
  call.timeout = limit;
  call.stop = std::move(stop);
  auto reply = http_.send(request, call);
  const std::string doing = "etcd at " + endpoint;
  if (!reply) return std::move(reply).error().in(doing);
  if (reply->status != 200) return refusal(*reply).in(doing);
  auto json = api::parse_json(reply->body);
  if (!json || !json->is_object())
    return Error{Code::kUnavailable, doing + ": its response is not JSON"};
  return json;
}

Result<Json> Client::call(const std::string& path, const Json& body, std::stop_token stop) {
  const auto& endpoints = options_.endpoints;
  if (endpoints.empty()) return Error{Code::kInvalid, "no etcd endpoint is given"};
  const std::string text = api::dump_json(body);
  const BootTime end = clock_.boot() + options_.timeout;
  const size_t first = first_.load(std::memory_order_relaxed) % endpoints.size();
  Result<Json> answer = Error{Code::kDeadline, "etcd: no response in time"};
  for (size_t i = 0; i < endpoints.size(); ++i) {
    using std::chrono::milliseconds;
    const auto left = std::chrono::duration_cast<milliseconds>(end - clock_.boot());
    if (left <= milliseconds{0}) break;
    // A silent endpoint must not use up the time of the others.
    const auto share = left / static_cast<milliseconds::rep>(endpoints.size() - i);
    const size_t at = (first + i) % endpoints.size();
    answer = call_endpoint(endpoints[at], path, text, std::max(share, milliseconds{1}), stop);
    if (answer) first_.store(at, std::memory_order_relaxed);
    if (answer || !another_may_answer(answer.error())) return answer;
  }
  return answer;
}

Result<std::optional<Entry>> Client::get(const std::string& key, std::stop_token stop) {
  if (key.empty()) return no_key();
  TRY(const Json answer, call("/v3/kv/range", {{"key", base64_encode(key)}}, std::move(stop)));
  TRY(std::vector<Entry> found, entries_in(answer));
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

Result<std::vector<Entry>> Client::list(const std::string& prefix, std::stop_token stop) {
  if (prefix.empty()) return no_prefix();
  TRY(const Json answer,
      call("/v3/kv/range",
           {{"key", base64_encode(prefix)}, {"range_end", base64_encode(end_of(prefix))}},
           std::move(stop)));
  TRY(std::vector<Entry> found, entries_in(answer));
  std::ranges::sort(found, {}, &Entry::key);
  return found;
}

Result<> Client::put(const std::string& key, const std::string& value, std::stop_token stop) {
  if (key.empty()) return no_key();
  TRY([[maybe_unused]] const Json answer,
      call("/v3/kv/put", put_body(key, value), std::move(stop)));
  return Done{};
}

Result<> Client::put_if(const std::string& key, const std::string& value, std::int64_t revision,
                        std::stop_token stop) {
  if (key.empty()) return no_key();
  const Json unchanged = {{"key", base64_encode(key)},
                          {"target", "MOD"},
                          {"result", "EQUAL"},
                          {"mod_revision", std::to_string(revision)}};
  const Json body = {{"compare", Json::array({unchanged})},
                     {"success", Json::array({Json{{"request_put", put_body(key, value)}}})}};
  TRY(const Json answer, call("/v3/kv/txn", body, std::move(stop)));
  if (!api::look_flag(answer, "succeeded")) return changed(key);
  return Done{};
}

Result<> Client::remove(const std::string& key, std::stop_token stop) {
  if (key.empty()) return no_key();
  TRY([[maybe_unused]] const Json answer,
      call("/v3/kv/deleterange", {{"key", base64_encode(key)}}, std::move(stop)));
  return Done{};
}

Result<> Client::remove_all(const std::string& prefix, std::stop_token stop) {
  if (prefix.empty()) return no_prefix();
  TRY([[maybe_unused]] const Json answer,
      call("/v3/kv/deleterange",
           {{"key", base64_encode(prefix)}, {"range_end", base64_encode(end_of(prefix))}},
           std::move(stop)));
  return Done{};
}

}  // namespace paddle::etcd
