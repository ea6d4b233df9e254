// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/plan/path_list.h"

#include <algorithm>

#include "sampler/strategy.h"

namespace paddle::engine::juicefs {

std::vector<std::string> part_of_list(const std::vector<std::string>& files, const Selection& which,
                                      std::int32_t partition) {
  std::vector<std::string> part;
  const auto count = static_cast<std::uint32_t>(files.size());
  for (const auto i : sampler::part_of(count, partition, which.partitions, which.strategy)) {
    part.push_back(files[i]);
  }
  return part;
}

std::string to_text(const std::vector<std::string>& paths) {
  std::string text;
  for (const auto& path : paths) text += path + "\n";
  return text;
}

std::vector<std::string> from_text(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) lines.push_back(std::move(line));
    at = end + 1;
  }
  return lines;
}

}  // namespace paddle::engine::juicefs
