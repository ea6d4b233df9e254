// SPDX-License-Identifier: Apache-2.0
//
// A minimal S3 server for tests, over real sockets: ListObjectsV2 and ListObjectVersions in pages,
// GET with Range, If-Match and versionId, of a bucket that keeps all versions. Rejects requests
// whose signature does not match the credentials. A script may answer requests instead.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/sync.h"
#include "net/test_server/scripted_server.h"
#include "source/s3/sigv4.h"

namespace paddle::source {

class FakeS3 {
 public:
  // True: the script has answered.
  using Script =
      std::function<bool(const net::ReceivedRequest& request, net::ScriptedConnection& wire)>;

  // `where`: listens on loopback, or on every address of this machine, for pods with their own
  // network.
  explicit FakeS3(S3Credentials credentials = {}, Script script = {},
                  net::ScriptedServer::On where = net::ScriptedServer::On::kLoopback);

  std::string url(const std::string& host = "127.0.0.1") const { return server_.url(host); }
  // An empty etag: "etag1", "etag2" and so on. `headers` are added to the response of a GET of the
  // whole object.
  using HeaderList = std::vector<std::pair<std::string, std::string>>;
  void put(const std::string& key, std::string bytes, std::string etag = {},
           HeaderList headers = {}) EXCLUDES(mutex_);
  // Adds an object that is listed with that size, regardless of its content.
  void put_as_if(const std::string& key, std::uint64_t listed_size) EXCLUDES(mutex_);
  void remove(const std::string& key) EXCLUDES(mutex_);
  std::vector<net::ReceivedRequest> seen() { return server_.seen(); }

  static constexpr const char* kBucket = "bucket";

 private:
  struct Version {
    std::string bytes{};
    std::string etag{};
    std::string id{};
    HeaderList headers{};
    std::optional<std::uint64_t> listed_size{};
    bool deleted = false;
  };
  // One entry of a listing.
  struct Entry {
    std::string key{};
    Version version{};
    bool latest = true;
  };
  void answer(const net::ReceivedRequest& request, net::ScriptedConnection& wire) EXCLUDES(mutex_);
  void list(const Query& query, net::ScriptedConnection& wire) EXCLUDES(mutex_);
  std::vector<Entry> entries(bool versions) EXCLUDES(mutex_);
  std::optional<Version> find(const std::string& key, const std::string& id) EXCLUDES(mutex_);
  void get(const std::string& key, const Query& query, const net::ReceivedRequest& request,
           net::ScriptedConnection& wire) EXCLUDES(mutex_);
  bool authentic(const net::ReceivedRequest& request, const std::string& path,
                 const Query& query) const;

  const S3Credentials credentials_;
  const Script script_;
  Mutex mutex_;
  std::map<std::string, std::vector<Version>> objects_ GUARDED_BY(mutex_);  // the latest last
  int versions_ GUARDED_BY(mutex_) = 0;
  net::ScriptedServer server_;  // last: its threads use the rest
};

}  // namespace paddle::source
