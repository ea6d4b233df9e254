// SPDX-License-Identifier: Apache-2.0
//
// One `juicefs sync` from beginning to end: secrets read, command line made, progress told, the
// outcome put into one sentence.

#pragma once

#include <stop_token>
#include <string>

#include "base/result.h"
#include "engine/engine.h"

namespace paddle::engine::juicefs {

struct SyncPlace {
  std::string program{};
  std::string home{};  // a directory that the program may call its home
  std::string source{};
  std::string source_secret{};  // directories
  std::string volume_secret{};
  std::string sub_dir{};  // of the volume, which the set is
};

Result<> run_sync(const SyncPlace& place, const SyncTask& task, const ProgressSink& tell,
                  std::stop_token stop);

}  // namespace paddle::engine::juicefs
