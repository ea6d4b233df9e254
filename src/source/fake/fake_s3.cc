// SPDX-License-Identifier: Apache-2.0
#include "source/fake/fake_s3.h"

#include <algorithm>
#include <cstdio>

namespace paddle::source {
namespace {

std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 2 >= text.size()) {
      plain += text[i];
      continue;
    }
    plain += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
    i += 2;
  }
  return plain;
}

Query parse_query(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const auto pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    query.emplace_back(decoded(pair.substr(0, equals)),
                       decoded(pair.substr(std::min(pair.size(), equals + 1))));
  }
  return query;
}

std::string value(const Query& query, const std::string& name) {
  for (const auto& [key, text] : query) {
    if (key == name) return text;
  }
  return {};
}

void refuse(net::ScriptedConnection& wire, int status, const std::string& code) {
  wire.reply(status, "<Error><Code>" + code + "</Code></Error>");
}

}  // namespace

FakeS3::FakeS3(S3Credentials credentials, Script script, net::ScriptedServer::On where)
    : credentials_(std::move(credentials)),
      script_(std::move(script)),
      server_(
          [this](const net::ReceivedRequest& request, net::ScriptedConnection& wire) {
            if (!script_ || !script_(request, wire)) answer(request, wire);
          },
          {}, where) {}

void FakeS3::put(const std::string& key, std::string bytes) {
  Lock lock(mutex_);
  objects_[key] = {.bytes = std::move(bytes), .etag = "etag" + std::to_string(++versions_)};
}

void FakeS3::put_as_if(const std::string& key, std::uint64_t listed_size) {
  put(key, "x");
  Lock lock(mutex_);
  objects_[key].listed_size = listed_size;
}

void FakeS3::remove(const std::string& key) {
  Lock lock(mutex_);
  objects_.erase(key);
}

void FakeS3::answer(const net::ReceivedRequest& request, net::ScriptedConnection& wire) {
  const std::size_t mark = std::min(request.target.find('?'), request.target.size());
  const std::string path = request.target.substr(0, mark);
  const Query query = parse_query(
      std::string_view(request.target).substr(std::min(request.target.size(), mark + 1)));
  if (!authentic(request, path, query)) return refuse(wire, 403, "SignatureDoesNotMatch");
  const std::string root = std::string("/") + kBucket;
  if (path == root) return list(query, wire);
  if (path.starts_with(root + "/")) {
    return get(decoded(path.substr(root.size() + 1)), request, wire);
  }
  refuse(wire, 404, "NoSuchBucket");
}

bool FakeS3::authentic(const net::ReceivedRequest& request, const std::string& path,
                       const Query& query) const {
  const auto given = request.headers.find("authorization");
  if (credentials_.anonymous()) return given == request.headers.end();
  if (given == request.headers.end()) return false;
  Headers headers;
  const std::string& text = given->second;
  const std::size_t begin = text.find("SignedHeaders=") + 14;
  std::string names = text.substr(begin, text.find(',', begin) - begin) + ";";
  for (std::size_t end = names.find(';'); end != std::string::npos; end = names.find(';')) {
    const auto header = request.headers.find(names.substr(0, end));
    if (header == request.headers.end()) return false;
    headers.emplace_back(header->first, header->second);
    names.erase(0, end + 1);
  }
  std::string time = request.headers.at("x-amz-date");
  for (const std::size_t at : {13U, 11U}) time.insert(at, ":");
  for (const std::size_t at : {6U, 4U}) time.insert(at, "-");
  return text ==
         authorization({.method = request.method,
                        .path = path,
                        .query = query,
                        .headers = headers,
                        .payload_hash = std::string(kEmptyPayloadHash)},
                       credentials_,
                       {.region = "us-east-1", .service = "s3", .now = *parse_rfc3339(time)});
}

void FakeS3::list(const Query& query, net::ScriptedConnection& wire) {
  const std::string prefix = value(query, "prefix");
  const auto limit = static_cast<std::size_t>(std::stoul(value(query, "max-keys")));
  const std::string after = decoded(value(query, "continuation-token"));
  std::string body;
  std::size_t count = 0;
  std::string next;
  Lock lock(mutex_);
  for (const auto& [key, version] : objects_) {
    if (!key.starts_with(prefix) || (!after.empty() && key <= after)) continue;
    if (count++ == limit) break;
    next = key;
    std::string encoded = uri_encode(key, true);
    for (std::size_t at; (at = encoded.find("%20")) != std::string::npos;) {
      encoded.replace(at, 3, "+");
    }
    body += "<Contents><Key>" + encoded +
            "</Key><LastModified>2024-01-02T03:04:05.000Z</LastModified><ETag>&quot;" +
            version.etag + "&quot;</ETag><Size>" +
            std::to_string(version.listed_size.value_or(version.bytes.size())) +
            "</Size></Contents>";
  }
  const bool more = count > limit;
  body += std::string("<IsTruncated>") + (more ? "true" : "false") + "</IsTruncated>";
  if (more) body += "<NextContinuationToken>" + uri_encode(next, true) + "</NextContinuationToken>";
  wire.reply(200, "<?xml version=\"1.0\"?><ListBucketResult><EncodingType>url</EncodingType>" +
                      body + "</ListBucketResult>");
}

void FakeS3::get(const std::string& key, const net::ReceivedRequest& request,
                 net::ScriptedConnection& wire) {
  Version version;
  {
    Lock lock(mutex_);
    const auto found = objects_.find(key);
    if (found == objects_.end()) return refuse(wire, 404, "NoSuchKey");
    version = found->second;
  }
  if (request.headers.at("if-match") != "\"" + version.etag + "\"") {
    return refuse(wire, 412, "PreconditionFailed");
  }
  unsigned long long first = 0;
  unsigned long long last = 0;
  if (std::sscanf(request.headers.at("range").c_str(), "bytes=%llu-%llu", &first, &last) != 2 ||
      first >= version.bytes.size()) {
    return refuse(wire, 416, "InvalidRange");
  }
  last = std::min<unsigned long long>(last, version.bytes.size() - 1);
  wire.reply(206, version.bytes.substr(first, last - first + 1),
             {{"ETag", "\"" + version.etag + "\""},
              {"Content-Range", "bytes " + std::to_string(first) + "-" + std::to_string(last) +
                                    "/" + std::to_string(version.bytes.size())}});
}

}  // namespace paddle::source
