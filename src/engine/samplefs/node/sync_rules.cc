// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/sync_rules.h"

#include <algorithm>
#include <variant>

#include "source/path_rules.h"
#include "source/source_uri.h"

namespace paddle::engine::samplefs {
namespace {

using ::paddle::samplefs::Origin;

// Directories of the runtime's own container. A job may name any directory, but must not expose the
// runtime's token or the keys of other sources.
bool is_system_directory(const std::string& path) {
  static constexpr const char* kSystemDirectories[] = {"/bin",  "/boot",  "/cache", "/dev",  "/etc",
                                                       "/lib",  "/lib64", "/proc",  "/root", "/run",
                                                       "/sbin", "/sys",   "/usr",   "/var"};
  return path.empty() || path == "/" ||
         std::any_of(
             std::begin(kSystemDirectories), std::end(kSystemDirectories),
             [&](const std::string& each) { return path == each || path.starts_with(each + "/"); });
}

Error refuse(const char* option, const char* why) {
  return {Code::kInvalid, std::string("syncOptions.") + option + " is not supported by samplefs, " +
                              why + "; leave it out"};
}

std::string value_of(const SourceKeys& keys, const char* name) {
  const auto found = keys.values.find(name);
  return found == keys.values.end() ? "" : found->second;
}

Result<Origin> origin_of(const SyncTask& task, const OwnSource& own) {
  Origin origin;
  if (!task.destination.empty()) {
    TRY(origin.destination, path_in_set(task.destination));
  }
  const std::string text = task.source.empty() ? own.uri : task.source;
  TRY(const source::SourceUri uri, source::parse_source_uri(text));
  const std::string endpoint = value_of(task.keys, "endpoint");
  if (endpoint.find('@') != endpoint.npos) {
    return Error{Code::kInvalid,
                 "the endpoint of the job's Secret has a name or a password in it; put them under "
                 "access-key and secret-key"};
  }
  const bool elsewhere = !task.keys.values.empty() && endpoint != own.endpoint;
  const auto ours = source::parse_source_uri(own.uri);
  if (ours && *ours == uri && !elsewhere) return origin;
  if (const auto* directory = std::get_if<source::DirectoryUri>(&uri)) {
    if (is_system_directory(directory->path)) {
      return Error{Code::kInvalid, "'" + directory->path.substr(0, 100) +
                                       "' is a directory of the system; samples must be in a "
                                       "directory of their own"};
    }
  }
  origin.uri = source::to_string(uri);
  if (elsewhere) origin.server = endpoint;
  return origin;
}

}  // namespace

Result<std::string> path_in_set(const std::string& path) {
  std::string clean = path;
  while (clean.starts_with('/')) clean.erase(0, 1);
  while (clean.ends_with('/')) clean.pop_back();
  if (source::is_path(clean)) return clean;
  return Error{Code::kInvalid,
               "'" + path.substr(0, 100) + "' is not a path beneath the root of the set"};
}

Result<::paddle::samplefs::SyncRules> sync_rules(const SyncTask& task, const OwnSource& own) {
  if (task.delete_source) {
    return refuse("delete-src", "which reads samples from their source and would lose them");
  }
  if (task.perms) return refuse("perms", "where every file may be read and none written");
  if (task.dirs) return refuse("dirs", "where a directory exists while it has files");
  TRY(Origin origin, origin_of(task, own));
  return ::paddle::samplefs::SyncRules{.origin = std::move(origin),
                                       .keys = {.start = task.start,
                                                .end = task.end,
                                                .include = inclusions_of(task),
                                                .exclude = task.exclude},
                                       .newer_only = task.update && !task.force_update,
                                       .delete_unlisted = task.delete_destination};
}

}  // namespace paddle::engine::samplefs
