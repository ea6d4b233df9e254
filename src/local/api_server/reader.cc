// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/reader.h"

#include <charconv>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "kube/rules/object_rules.h"
#include "kube/rules/selector.h"
#include "local/api_server/admission.h"

namespace paddle::local {
namespace {

using api::Json;
using api::ObjectKey;

struct Page {
  Range range{};
  std::uint64_t limit = 0;  // 0: everything
};

// {"rev":7,"ns":"a","name":"b"} in base64: opaque to clients, validated when it is used.
std::string continue_token(std::uint64_t revision, const ObjectKey& last) {
  return base64_encode(api::dump_json({{"rev", revision}, {"ns", last.ns}, {"name", last.name}}));
}

bool read_token(const std::string& token, Range& range) {
  const auto text = base64_decode(token);
  if (!text) return false;
  const auto json = api::parse_json(*text);
  if (!json || !json->is_object()) return false;
  const auto rev = json->find("rev"), ns = json->find("ns"), name = json->find("name");
  if (rev == json->end() || ns == json->end() || name == json->end()) return false;
  if (!rev->is_number_unsigned() || !ns->is_string() || !name->is_string()) return false;
  range.revision = rev->get<std::uint64_t>();
  range.after = {ns->get<std::string>(), name->get<std::string>()};
  return range.revision != 0;
}

Reply too_large(std::uint64_t asked, std::uint64_t latest) {
  return failure(504, "Timeout",
                 "Too large resource version: " + std::to_string(asked) +
                     ", current: " + std::to_string(latest),
                 {}, {{"ResourceVersionTooLarge", "Too large resource version", ""}});
}

// Collects objects of the storage into the text of one reply.
class Listing {
 public:
  Listing(const Kind& kind, const Representation& representation, WallTime now)
      : kind_(kind), representation_(representation), now_(now) {}

  void add(std::string_view body, const Json* parsed) {
    if (count_++ > 0) items_ += ",";
    if (representation_.shape == Representation::Shape::kWhole) {
      items_ += body;
      return;
    }
    const Json& object = *parsed;
    items_ += api::dump_json(representation_.shape == Representation::Shape::kTable
                                 ? table_row(kind_, object, representation_.rows, now_)
                                 : partial(object));
  }
  bool needs_json() const { return representation_.shape != Representation::Shape::kWhole; }
  std::uint64_t count() const { return count_; }

  std::string text(const Json& meta) const {
    Json head{{"kind", kind_.resource.kind + "List"},
              {"apiVersion", kind_.resource.api_version()},
              {"metadata", meta}};
    const char* field = "items";
    if (representation_.shape == Representation::Shape::kMetadata) {
      head["kind"] = "PartialObjectMetadataList";
      head["apiVersion"] = "meta.k8s.io/v1";
    }
    if (representation_.shape == Representation::Shape::kTable) {
      head = empty_table(kind_, "");
      head["metadata"] = meta;
      head.erase("rows");
      field = "rows";
    }
    std::string out = api::dump_json(head);
    out.pop_back();  // the closing brace follows the items, which are text already
    return out + ",\"" + field + "\":[" + items_ + "]}\n";
  }

 private:
  const Kind& kind_;
  const Representation& representation_;
  const WallTime now_;
  std::string items_{};
  std::uint64_t count_ = 0;
};

}  // namespace

std::optional<std::uint64_t> parse_revision(const std::string& text) {
  std::uint64_t value = 0;
  if (text.empty()) return value;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good = failed == std::errc{} && end == text.data() + text.size() &&
                    value <= static_cast<std::uint64_t>(INT64_MAX);
  return good ? std::optional(value) : std::nullopt;
}

Reply Reader::get(const Kind& kind, const ObjectKey& key, const std::string& subresource,
                  const Representation& representation) {
  const StatusDetails details = status_details(kind.resource, key.name);
  auto body = storage_.get(collection_of(kind.resource), key);
  if (!body) return failure(body.error(), details);
  if (!*body) {
    return failure({Code::kNotFound, qualified(kind.resource) + " \"" + key.name + "\" not found"},
                   details);
  }
  if (subresource == "scale") {
    auto object = api::parse_json(**body);
    if (!object) return failure(object.error(), details);
    return json_reply(200, kube::scale_of(*object));
  }
  return {.body = represent_text(kind, **body, representation, clock_.wall()) + "\n"};
}

Reply Reader::list(const Kind& kind, const std::string& ns, const Target& target,
                   const Representation& representation) {
  const auto selector = kube::Selector::parse(target["labelSelector"], target["fieldSelector"]);
  if (!selector) return bad_request(selector.error().message);
  Page page{.range = {.collection = collection_of(kind.resource), .ns = ns}};
  const auto limit = parse_revision(target["limit"]);
  const auto revision = parse_revision(target["resourceVersion"]);
  if (!limit) return bad_request("limit: Invalid value: \"" + target["limit"] + "\"");
  if (!revision) {
    return bad_request("resourceVersion: Invalid value: \"" + target["resourceVersion"] + "\"");
  }
  page.limit = *limit;
  if (const std::string token = target["continue"]; !token.empty()) {
    if (!read_token(token, page.range)) return bad_request("continue key is not valid");
  } else if (target["resourceVersionMatch"] == "Exact") {
    page.range.revision = *revision;
  }
  auto latest = storage_.revision();
  if (!latest) return failure(latest.error());
  const std::uint64_t asked = std::max(*revision, page.range.revision);
  if (asked > *latest) return too_large(asked, *latest);

  Listing listing(kind, representation, clock_.wall());
  const bool selects = !target["labelSelector"].empty() || !target["fieldSelector"].empty();
  ObjectKey last;
  bool more = false;
  const auto take = [&](const ObjectKey& key, std::string_view body) {
    Json parsed;
    if (selects || listing.needs_json()) {
      auto object = api::parse_json(body);
      if (!object) return true;
      parsed = *std::move(object);
      if (selects && !selector->matches(parsed)) return true;
    }
    if (page.limit != 0 && listing.count() == page.limit) {
      more = true;
      return false;
    }
    listing.add(body, &parsed);
    last = key;
    return true;
  };
  auto seen = storage_.list(page.range, take);
  if (!seen) return failure(seen.error());
  Json meta{{"resourceVersion", std::to_string(*seen)}};
  if (more) meta["continue"] = continue_token(*seen, last);
  return {.body = listing.text(meta)};
}

}  // namespace paddle::local
