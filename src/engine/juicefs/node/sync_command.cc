// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/sync_command.h"

#include <algorithm>

namespace paddle::engine::juicefs {
namespace {

void add_option(std::vector<std::string>& argv, const char* name, const std::string& value) {
  if (!value.empty()) argv.push_back(std::string("--") + name + "=" + value);
}

void add_flag(std::vector<std::string>& argv, const char* name, bool wanted) {
  if (wanted) argv.push_back(std::string("--") + name);
}

}  // namespace

Result<std::string> path_in_set(const std::string& path) {
  std::string clean;
  std::size_t at = 0;
  while (at < path.size()) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == ".." || part.find('\n') != part.npos || part.find('\0') != part.npos) {
      return Error{Code::kInvalid,
                   "the path '" + path.substr(0, 100) + "' is not one beneath the root of the set"};
    }
    clean += (clean.empty() ? "" : "/") + part;
  }
  return clean;
}

Result<std::vector<std::string>> sync_arguments(const SourceAccess& source, const SyncTask& task,
                                                const std::string& sub_dir) {
  TRY(const std::string beneath, path_in_set(task.destination));
  TRY(std::string destination, path_in_set(sub_dir));
  if (!destination.empty() && !beneath.empty()) destination += '/';
  destination += beneath;
  std::vector<std::string> argv{"--no-agent", "--no-color", "sync"};
  add_option(argv, "start", task.start);
  add_option(argv, "end", task.end);
  // JuiceFS gives its rules the order of the command line; "include this, then leave out that".
  for (const auto& each : task.include) add_option(argv, "include", each);
  for (const auto& each : task.exclude) add_option(argv, "exclude", each);
  if (task.threads > 0) add_option(argv, "threads", std::to_string(task.threads));
  if (task.megabits > 0) add_option(argv, "bwlimit", std::to_string(task.megabits));
  add_flag(argv, "update", task.update);
  add_flag(argv, "force-update", task.force_update);
  add_flag(argv, "perms", task.perms);
  add_flag(argv, "dirs", task.dirs);
  add_flag(argv, "dry", task.dry);
  add_flag(argv, "delete-src", task.delete_source);
  add_flag(argv, "delete-dst", task.delete_destination);
  add_flag(argv, "no-https", source.no_https);
  // Both or neither of the two end with a slash; with one, names are taken beneath it.
  argv.push_back(source.uri + (source.uri.ends_with('/') ? "" : "/"));
  argv.push_back(std::string("jfs://") + kVolumeVariable + "/" + destination +
                 (destination.empty() ? "" : "/"));
  return argv;
}

}  // namespace paddle::engine::juicefs
