// SPDX-License-Identifier: Apache-2.0
#include "sealed/sealed_view.h"

#include <cerrno>
#include <filesystem>
#include <sstream>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "fuse/device_error.h"
#include "fuse/mountinfo.h"
#include "os/read_file.h"
#include "sealed/safe_open.h"
#include "sealed/view_check.h"
#include "sealed/view_mount.h"

namespace paddle::sealed {
namespace {

using fuse::device_error;

constexpr std::chrono::milliseconds kBusyGrace{200};
constexpr std::chrono::milliseconds kEndPause{5};
constexpr const char* kRecordSuffix = ".view";

Error mount_error(const ImageMount& mounted) {
  Error error = device_error("mount a view", mounted.error);
  if (!mounted.message.empty()) error.message += " (" + mounted.message + ")";
  return error;
}

std::string record_of(const std::string& point) { return point + kRecordSuffix; }

// Names of bdis are unique from one boot to the next.
std::string boot_id() {
  const auto text = os::read_file("/proc/sys/kernel/random/boot_id", 64);
  return text ? text->substr(0, text->find('\n')) : "-";
}

// The kernel gives a file system up a moment after its last mount.
Result<> await_end(const std::string& bdi, const std::string& point) {
  const Clock& clock = system_clock();
  const BootTime deadline = clock.boot() + kBusyGrace;
  while (is_in_use(bdi)) {
    if (clock.boot() >= deadline) {
      return Error{Code::kConflict,
                   "a container or an open file still uses the view of '" + point + "'"};
    }
    clock.sleep(kEndPause, {});
  }
  return Done{};
}

Result<std::vector<ImmutableSegments::Identity>> identities_of(const BuiltView& view) {
  std::vector<ImmutableSegments::Identity> all;
  for (const UniqueFd& file : view.segments) {
    TRY(const auto identity, ImmutableSegments::identity_of(file.get()));
    all.push_back(identity);
  }
  return all;
}

Result<> write_record(const BuiltView& view, const std::string& bdi, const std::string& point) {
  TRY(const auto segments, identities_of(view));
  std::ostringstream text;
  text << view.generation << ' ' << view.digest << ' ' << view.entries << ' ' << view.files << ' '
       << view.bytes << ' ' << view.image_bytes << ' ' << (bdi.empty() ? "-" : bdi) << ' '
       << boot_id() << ' ' << segments.size() << '\n';
  for (const auto& [device, inode] : segments) text << device << ' ' << inode << '\n';
  const std::string path = record_of(point);
  const std::string fresh = path + ".new";
  const UniqueFd fd(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const std::string bytes = text.str();
  if (!fd || ::write(fd.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) ||
      ::rename(fresh.c_str(), path.c_str()) != 0) {
    return device_error("write '" + path + "'", errno);
  }
  return Done{};
}

struct Record {
  BuiltView view{};
  std::string bdi{};  // empty: not known, or of an earlier boot
  std::set<ImmutableSegments::Identity> segments{};
};

Result<Record> read_record(const std::string& point) {
  TRY(const std::string text, os::read_file(record_of(point), std::size_t{1} << 20));
  std::istringstream in(text);
  Record record;
  std::string boot;
  std::size_t count = 0;
  in >> record.view.generation >> record.view.digest >> record.view.entries >> record.view.files >>
      record.view.bytes >> record.view.image_bytes >> record.bdi >> boot >> count;
  for (std::size_t i = 0; i < count && in; ++i) {
    ImmutableSegments::Identity identity;
    in >> identity.first >> identity.second;
    record.segments.insert(identity);
  }
  if (!in) return Error{Code::kInvalid, "'" + record_of(point) + "' is not complete"};
  if (record.bdi == "-" || boot != boot_id()) record.bdi.clear();
  return record;
}

// Opens the segments of a record, which are immutable and therefore still what they were.
Result<> find_segments(Record& record, std::span<const int> tiers) {
  for (const int tier : tiers) {
    if (tier < 0) continue;
    TRY(UniqueFd again, open_again(tier, O_RDONLY | O_DIRECTORY));
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(again.get()), &::closedir);
    if (!entries) return device_error("list a cache", errno);
    again.release();
    while (const dirent* entry = ::readdir(entries.get())) {
      auto file = open_beneath(tier, entry->d_name);
      if (!file) continue;  // no regular file
      TRY(const auto identity, ImmutableSegments::identity_of(file->get()));
      if (record.segments.erase(identity) > 0) record.view.segments.push_back(*std::move(file));
    }
  }
  if (!record.segments.empty()) {
    return Error{Code::kInvalid, "a segment of a mounted view is not in its cache any more"};
  }
  return Done{};
}

}  // namespace

Result<std::unique_ptr<SealedView>> SealedView::adopt(std::string point, std::span<const int> tiers,
                                                      ImmutableSegments& holds) {
  TRY(const std::string canonical, fuse::canonical_mount_point(point));
  TRY(const auto mounts, fuse::read_mountinfo());
  const auto mounted = fuse::top_of(mounts, canonical);
  if (!mounted || mounted->type != "erofs") {
    ::unlink(record_of(point).c_str());
    return Error{Code::kNotFound, "no view is mounted at '" + point + "'"};
  }
  auto record = read_record(point);
  if (!record) return Error{Code::kInvalid, std::move(record).error().message};
  CHECK_DONE(find_segments(*record, tiers));
  std::vector<UniqueFd> segments = std::exchange(record->view.segments, {});
  std::unique_ptr<SealedView> view(
      new SealedView(std::move(record->view), std::move(point), holds));
  view->bdi_ = std::move(record->bdi);
  for (UniqueFd& file : segments) {
    CHECK_DONE(holds.hold(file.get()));
    view->built_.segments.push_back(std::move(file));
  }
  Lock lock(view->mutex_);
  view->attached_ = true;
  for (const fuse::MountEntry& each : mounts) {
    if (each.device == mounted->device && each.point != canonical) view->shown_.insert(each.point);
  }
  return view;
}

Result<std::unique_ptr<SealedView>> SealedView::seal(const ViewRequest& request, std::string point,
                                                     ImmutableSegments& holds, Random& random,
                                                     std::stop_token stop) {
  TRY(BuiltView built, build_view(request, holds, random, stop));
  // From here on the destructor lifts the flags.
  std::unique_ptr<SealedView> view(new SealedView(std::move(built), std::move(point), holds));
  std::vector<int> segments;
  for (const UniqueFd& file : view->built_.segments) segments.push_back(file.get());
  const ImageMount mounted = mount_image(view->built_.image.get(), segments);
  if (!mounted.tree) return mount_error(mounted);
  view->bdi_ = mounted.bdi;
  CHECK_DONE(check_view(mounted.tree.get(), view->built_, request.checksum));
  if (::mkdir(view->point_.c_str(), 0700) != 0 && errno != EEXIST) {
    return device_error("create '" + view->point_ + "'", errno);
  }
  CHECK_DONE(write_record(view->built_, view->bdi_, view->point_));
  CHECK_DONE(attach(mounted.tree.get(), view->point_));
  {
    Lock lock(view->mutex_);
    view->attached_ = true;
  }
  return view;
}

SealedView::~SealedView() {
  if (auto done = end(); !done) {
    log::warn("a sealed view stays mounted", {{"path", point_}, {"reason", done.error().message}});
  }
}

Result<> SealedView::show(const std::string& target) {
  Lock lock(mutex_);
  if (!attached_ || ended_) return Error{Code::kConflict, "the view has ended"};
  if (shown_.contains(target)) return Done{};
  CHECK_DONE(bind_view(point_, target));
  shown_.insert(target);
  return Done{};
}

std::set<std::string> SealedView::shown() const {
  Lock lock(mutex_);
  return shown_;
}

Result<> SealedView::hide(const std::string& target) {
  Lock lock(mutex_);
  if (!shown_.contains(target)) return Done{};
  TRY(const int count, unmount_views(target, kBusyGrace));
  shown_.erase(target);
  if (count == 0) log::info("a view was already unmounted", {{"path", target}});
  return Done{};
}

void SealedView::forget(const std::string& target) {
  Lock lock(mutex_);
  shown_.erase(target);
}

Result<> SealedView::end() {
  Lock lock(mutex_);
  if (ended_) return Done{};
  if (!shown_.empty()) {
    return Error{Code::kConflict, "the view is still shown at " + *shown_.begin()};
  }
  if (attached_) {
    TRY(const int count, unmount_all(point_, kBusyGrace));
    if (count > 0) ::rmdir(point_.c_str());
    attached_ = false;
  }
  CHECK_DONE(await_end(bdi_, point_));
  ::unlink(record_of(point_).c_str());
  ended_ = true;
  for (const UniqueFd& file : built_.segments) holds_.release(file.get());
  return Done{};
}

Result<> end_leftovers(const std::string& directory) {
  std::vector<std::string> points;
  std::error_code none;
  for (const auto& each : std::filesystem::directory_iterator(directory, none)) {
    std::string name = each.path().filename();
    if (!name.ends_with(kRecordSuffix)) continue;
    name.resize(name.size() - std::string_view(kRecordSuffix).size());
    points.push_back(directory + "/" + name);
  }
  for (const std::string& point : points) {
    TRY(const int count, unmount_all(point, kBusyGrace));
    const auto record = read_record(point);
    if (record) CHECK_DONE(await_end(record->bdi, point));
    log::info("ended a sealed view that an earlier process left",
              {{"path", point}, {"mounts", count}});
    ::unlink(record_of(point).c_str());
    ::rmdir(point.c_str());
  }
  return Done{};
}

}  // namespace paddle::sealed
