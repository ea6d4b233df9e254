// SPDX-License-Identifier: Apache-2.0
#include "local/node/set_caches.h"

#include <filesystem>
#include <map>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "local/node/os_error.h"
#include "samplefs/store/format.h"
#include "samplefs/store/store_reader.h"
#include "sealed/probe.h"
#include "sealed/safe_open.h"

namespace paddle::local {
namespace {

std::string by_descriptor(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

Result<sealed::DirectoryId> id_of(int fd) {
  struct stat seen {};
  if (::fstat(fd, &seen) != 0) return os_error("stat a cache directory");
  return sealed::DirectoryId{.device = seen.st_dev, .inode = seen.st_ino};
}

// The runtime makes this directory: no link is followed.
UniqueFd open_store(int directory) {
  return UniqueFd(::openat(directory, "store", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

using Directories = std::map<sealed::DirectoryId, UniqueFd>;

// What an offer may name: the directories of caches, and the stores in them.
Result<Directories> open_all(const std::vector<std::string>& paths) {
  Directories all;
  for (const std::string& path : paths) {
    auto directory = sealed::open_directory(path);
    if (!directory) continue;  // recorded, but not made or used
    if (UniqueFd store = open_store(directory->get())) {
      TRY(const auto id, id_of(store.get()));
      all[id] = std::move(store);
    }
    TRY(const auto id, id_of(directory->get()));
    all[id] = *std::move(directory);
  }
  return all;
}

Result<int> find(const Directories& known, const sealed::DirectoryId& id) {
  const auto at = known.find(id);
  if (at != known.end()) return at->second.get();
  return Error{Code::kInvalid, "the runtime offers a directory that is not a cache of this set"};
}

// On the file system of each store that is not in memory. Its user is that of the runtime.
Result<uid_t> probe(const std::vector<int>& tiers, const std::string& views) {
  sealed::ProbeResult result{.reason = "the cache has no directory"};
  uid_t owner = 0;
  for (const int tier : tiers) {
    struct stat seen {};
    if (::fstat(tier, &seen) != 0) return os_error("stat a store");
    owner = seen.st_uid;
    TRY(const bool in_memory, sealed::lies_in_memory(tier));
    if (in_memory && tiers.size() > 1) continue;  // of use if no sample is in it
    result = sealed::probe(by_descriptor(tier), views);
    if (!result.sealed) break;
  }
  if (!result.sealed) return Error{Code::kInvalid, result.reason};
  return owner;
}

}  // namespace

Result<> SetCaches::lift_leftovers() const {
  CHECK_DONE(sealed::end_leftovers(views));
  sealed::ImmutableSegments none;
  int lifted = 0;
  for (const std::string& path : directories) {
    const auto directory = sealed::open_directory(path);
    const UniqueFd store = directory ? open_store(directory->get()) : UniqueFd();
    if (!store) continue;
    TRY(const int count, none.lift_leftovers(store.get()));
    lifted += count;
  }
  if (lifted > 0) log::info("segments can be changed again", {{"views", views}, {"count", lifted}});
  return Done{};
}

Result<std::unique_ptr<sealed::SealedView>> SetCaches::seal(const sealed::Offer& offer,
                                                            const std::string& name,
                                                            sealed::ImmutableSegments& holds,
                                                            std::stop_token stop) const {
  std::error_code error;
  std::filesystem::create_directories(views, error);
  if (error) return Error{Code::kInternal, "create " + views + ": " + error.message()};
  TRY(const Directories known, open_all(directories));
  sealed::ViewRequest request;
  TRY(request.index.directory, find(known, offer.state));
  request.index.path = offer.index;
  std::vector<std::string> stores;
  for (const sealed::DirectoryId& each : offer.tiers) {
    TRY(const int tier, find(known, each));
    request.tiers.push_back(tier);
    stores.push_back(by_descriptor(tier));
  }
  TRY(request.owner, probe(request.tiers, views));
  samplefs::StoreReader reader(stores);
  request.locate = [&](const samplefs::Block& block) { return reader.locate(block); };
  request.checksum = [](std::span<const std::byte> data) { return samplefs::block_checksum(data); };
  request.image_directory = views;
  TRY(auto view,
      sealed::SealedView::seal(request, views + "/" + name, holds, system_random(), stop));
  if (view->generation() != offer.generation || view->digest() != offer.digest) {
    return Error{Code::kInvalid, "the index is not the one that the runtime offers"};
  }
  if (view->bdi().empty()) {
    return Error{Code::kUnavailable,
                 "the kernel does not show when a view has ended (/sys/class/bdi)"};
  }
  return view;
}

Result<> write_view_state(const std::string& session, const sealed::ViewState& state) {
  TRY(const UniqueFd directory, sealed::open_directory(session));
  const std::string early = std::string(sealed::kViewFile) + ".tmp";
  ::unlinkat(directory.get(), early.c_str(), 0);
  const UniqueFd file(::openat(directory.get(), early.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  const std::string text = to_text(state);
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::renameat(directory.get(), early.c_str(), directory.get(), sealed::kViewFile) != 0) {
    return os_error("write the view of " + session);
  }
  return Done{};
}

}  // namespace paddle::local
