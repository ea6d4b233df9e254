// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/command/sync_command.h"

#include "engine/juicefs/node/command/set_path.h"

namespace paddle::engine::juicefs {
namespace {

void add_option(std::vector<std::string>& argv, const char* name, const std::string& value) {
  if (!value.empty()) argv.push_back(std::string("--") + name + "=" + value);
}

void add_flag(std::vector<std::string>& argv, const char* name, bool enabled) {
  if (enabled) argv.push_back(std::string("--") + name);
}

}  // namespace

Result<std::vector<std::string>> sync_arguments(const SourceAccess& source, const SyncTask& task,
                                                const std::string& sub_dir, SyncAction action) {
  TRY(const std::string beneath, path_in_set(task.destination));
  TRY(std::string destination, path_in_set(sub_dir));
  if (!destination.empty() && !beneath.empty()) destination += '/';
  destination += beneath;
  const bool copies = action == SyncAction::kCopy;
  const bool lists = action == SyncAction::kList;
  const bool deletes = action == SyncAction::kDelete;
  std::vector<std::string> argv{"--no-agent", "--no-color"};
  add_flag(argv, "verbose", lists);  // prints what it would copy
  argv.emplace_back("sync");
  add_option(argv, "start", task.start);
  add_option(argv, "end", task.end);
  // JuiceFS applies its rules in the order of the command line: includes first, then excludes. Each
  // is two words: in one word JuiceFS does not parse a pattern with '='.
  const auto add_rules = [&](const char* name, const std::vector<std::string>& patterns) {
    for (const auto& each : patterns) {
      argv.emplace_back(name);
      argv.push_back(each);
    }
  };
  add_rules("--include", inclusions_of(task));
  add_rules("--exclude", task.exclude);
  if (lists) {
    add_option(argv, "threads", "1");  // prints keys in order
  } else if (task.threads > 0) {
    add_option(argv, "threads", std::to_string(task.threads));
  }
  if (task.megabits > 0) add_option(argv, "bwlimit", std::to_string(task.megabits));
  add_flag(argv, "update", task.update && !deletes);
  add_flag(argv, "force-update", task.force_update && !deletes);
  add_flag(argv, "existing", deletes);
  add_flag(argv, "ignore-existing", deletes);
  add_flag(argv, "perms", task.perms && !deletes);
  add_flag(argv, "dirs", task.dirs);
  add_flag(argv, "dry", (task.dry && copies) || lists);
  add_flag(argv, "delete-src", task.delete_source && copies);
  add_flag(argv, "delete-dst", task.delete_destination && !lists);
  add_flag(argv, "no-https", source.no_https || task.no_https);
  // Both URIs or neither must end with a slash; with it, names are relative to them.
  argv.push_back(source.uri + (source.uri.ends_with('/') ? "" : "/"));
  argv.push_back(std::string("jfs://") + kVolumeVariable + "/" + destination +
                 (destination.empty() ? "" : "/"));
  return argv;
}

}  // namespace paddle::engine::juicefs
