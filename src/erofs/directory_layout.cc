// SPDX-License-Identifier: Apache-2.0
#include "erofs/directory_layout.h"

#include <cstring>
#include <utility>

#include "erofs/format.h"

namespace paddle::erofs {

void DirectorySize::add(std::size_t name_size) {
  const std::uint64_t needs = sizeof(Dirent) + name_size;
  if (used_ + needs > kBlock) {
    whole_ += kBlock;
    used_ = 0;
  }
  used_ += needs;
}

void DirectoryEncoder::add(std::string_view name, std::uint64_t nid, std::uint8_t type) {
  const std::uint64_t needs = sizeof(Dirent) + name.size();
  if (used_ + needs > kBlock) {
    flush();
    done_.resize((done_.size() + kBlock - 1) / kBlock * kBlock);
  }
  used_ += needs;
  entries_.push_back({name, nid, type});
}

void DirectoryEncoder::flush() {
  std::size_t offset = entries_.size() * sizeof(Dirent);
  for (const Entry& each : entries_) {
    const Dirent dirent{
        .nid = each.nid, .name_offset = static_cast<std::uint16_t>(offset), .type = each.type};
    char bytes[sizeof dirent];
    std::memcpy(bytes, &dirent, sizeof dirent);
    done_.append(bytes, sizeof bytes);
    offset += each.name.size();
  }
  for (const Entry& each : entries_) done_ += each.name;
  entries_.clear();
  used_ = 0;
}

std::string DirectoryEncoder::take() {
  flush();
  return std::exchange(done_, {});
}

}  // namespace paddle::erofs
