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

void FakeS3::put(const std::string& key, std::string bytes, std::string etag, HeaderList headers) {
  Lock lock(mutex_);
  const std::string number = std::to_string(++versions_);
  objects_[key].push_back({.bytes = std::move(bytes),
                           .etag = etag.empty() ? "etag" + number : std::move(etag),
                           .id = "id" + number,
                           .headers = std::move(headers)});
}

void FakeS3::put_as_if(const std::string& key, std::uint64_t listed_size) {
  put(key, "x");
  Lock lock(mutex_);
  objects_[key].back().listed_size = listed_size;
}

void FakeS3::remove(const std::string& key) {
  Lock lock(mutex_);
  objects_[key].push_back({.id = "id" + std::to_string(++versions_), .deleted = true});
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
    return get(decoded(path.substr(root.size() + 1)), query, request, wire);
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

std::vector<FakeS3::Entry> FakeS3::entries(bool versions) {
  std::vector<Entry> all;
  Lock lock(mutex_);
  for (const auto& [key, history] : objects_) {
    if (!versions) {
      if (!history.back().deleted) all.push_back({.key = key, .version = history.back()});
      continue;
    }
    for (auto version = history.rbegin(); version != history.rend(); ++version) {
      all.push_back({.key = key, .version = *version, .latest = version == history.rbegin()});
    }
  }
  return all;
}

void FakeS3::list(const Query& query, net::ScriptedConnection& wire) {
  const bool versions =
      std::ranges::any_of(query, [](const auto& q) { return q.first == "versions"; });
  const std::string prefix = value(query, "prefix");
  const auto limit = static_cast<std::size_t>(std::stoul(value(query, "max-keys")));
  const std::string after = versions ? value(query, "key-marker") : value(query, "start-after");
  const std::string id_after = value(query, "version-id-marker");
  const std::string token = value(query, "continuation-token");
  std::size_t from = token.empty() ? 0 : std::stoul(token);
  const std::vector<Entry> all = entries(versions);
  bool behind = id_after.empty();
  std::string body;
  std::size_t count = 0;
  std::size_t next = 0;
  Entry last;
  for (std::size_t i = from; i < all.size(); ++i) {
    const auto& [key, version, latest] = all[i];
    if (!key.starts_with(prefix) || (token.empty() && key < after)) continue;
    if (token.empty() && !after.empty() && key == after) {
      const bool skip = !behind || id_after.empty();
      behind = behind || version.id == id_after;
      if (skip) continue;
    }
    if (count++ == limit) break;
    next = i + 1;
    last = all[i];
    std::string encoded = uri_encode(key, true);
    for (std::size_t at; (at = encoded.find("%20")) != std::string::npos;) {
      encoded.replace(at, 3, "+");
    }
    const std::string element =
        !versions ? "Contents" : (version.deleted ? "DeleteMarker" : "Version");
    body += "<" + element + "><Key>" + encoded + "</Key>";
    if (versions) {
      body += "<VersionId>" + version.id + "</VersionId><IsLatest>" + (latest ? "true" : "false") +
              "</IsLatest>";
    }
    body += "<LastModified>2024-01-02T03:04:05.000Z</LastModified>";
    if (!version.deleted) {
      body += "<ETag>&quot;" + version.etag + "&quot;</ETag><Size>" +
              std::to_string(version.listed_size.value_or(version.bytes.size())) + "</Size>";
    }
    body += "</" + element + ">";
  }
  const bool more = count > limit;
  body += std::string("<IsTruncated>") + (more ? "true" : "false") + "</IsTruncated>";
  if (more && versions) {
    body += "<NextKeyMarker>" + uri_encode(last.key, true) +
            "</NextKeyMarker><NextVersionIdMarker>" + last.version.id + "</NextVersionIdMarker>";
  } else if (more) {
    body += "<NextContinuationToken>" + std::to_string(next) + "</NextContinuationToken>";
  }
  const std::string root = versions ? "ListVersionsResult" : "ListBucketResult";
  wire.reply(200, "<?xml version=\"1.0\"?><" + root + "><EncodingType>url</EncodingType>" + body +
                      "</" + root + ">");
}

std::optional<FakeS3::Version> FakeS3::find(const std::string& key, const std::string& id) {
  Lock lock(mutex_);
  const auto found = objects_.find(key);
  if (found == objects_.end()) return {};
  if (id.empty()) return found->second.back();
  for (const Version& version : found->second) {
    if (version.id == id) return version;
  }
  return {};
}

void FakeS3::get(const std::string& key, const Query& query, const net::ReceivedRequest& request,
                 net::ScriptedConnection& wire) {
  const std::optional<Version> found = find(key, value(query, "versionId"));
  if (!found || found->deleted) return refuse(wire, 404, "NoSuchKey");
  const Version& version = *found;
  if (request.headers.at("if-match") != "\"" + version.etag + "\"") {
    return refuse(wire, 412, "PreconditionFailed");
  }
  const std::string etag = "\"" + version.etag + "\"";
  if (!request.headers.contains("range")) {
    HeaderList headers = version.headers;
    headers.emplace_back("ETag", etag);
    return wire.reply(200, version.bytes, headers);
  }
  unsigned long long first = 0;
  unsigned long long last = 0;
  if (std::sscanf(request.headers.at("range").c_str(), "bytes=%llu-%llu", &first, &last) != 2 ||
      first >= version.bytes.size()) {
    return refuse(wire, 416, "InvalidRange");
  }
  last = std::min<unsigned long long>(last, version.bytes.size() - 1);
  wire.reply(206, version.bytes.substr(first, last - first + 1),
             {{"ETag", etag},
              {"Content-Range", "bytes " + std::to_string(first) + "-" + std::to_string(last) +
                                    "/" + std::to_string(version.bytes.size())}});
}

}  // namespace paddle::source
