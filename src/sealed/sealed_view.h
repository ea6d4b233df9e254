// SPDX-License-Identifier: Apache-2.0
//
// One generation of a set as a kernel's own file system on this node, from its build to its end.
//
//   TRY(auto view, SealedView::seal(request, "<ours>/views/<set>", holds, random, stop));
//   CHECK_DONE(make_own_peer_group(target));  // when the target was published
//   CHECK_DONE(view->show(target));           // pods read the view from their next open on
//   CHECK_DONE(view->hide(target));           // when the pod has ended
//   CHECK_DONE(view->end());
//
// seal() returns when the view was built, mounted aside and read back; until then nothing is
// visible anywhere, and after a failure nothing is left. `<point>.view` records which segments it
// uses, so that a later process can adopt() the view of one that died. end() unmounts the place
// aside and lifts the segments' flag; it is refused while the view is shown anywhere, because a
// reader would lose it, and while the kernel still has it: a container that was started on the view
// has a mount of its own. The destructor ends what can be ended: a process that goes leaves its
// views mounted, and their segments immutable, so that readers go on. Thread-safe.

#pragma once

#include <memory>
#include <set>
#include <span>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "base/sync.h"
#include "sealed/view_builder.h"

namespace paddle::sealed {

class SealedView {
 public:
  // `point` is a directory of ours, made if it is missing, with nothing mounted on it.
  static Result<std::unique_ptr<SealedView>> seal(const ViewRequest& request, std::string point,
                                                  ImmutableSegments& holds, Random& random,
                                                  std::stop_token stop);
  // The view that an earlier process left at `point`, with the targets where it is shown; `tiers`
  // are the directories of its segments. kNotFound when there is none; kInvalid when it was left
  // before it was complete: then it is shown nowhere, and can be unmounted.
  static Result<std::unique_ptr<SealedView>> adopt(std::string point, std::span<const int> tiers,
                                                   ImmutableSegments& holds);
  ~SealedView();
  SealedView(const SealedView&) = delete;
  SealedView& operator=(const SealedView&) = delete;

  // Over what is at `target`, which stays beneath.
  Result<> show(const std::string& target) EXCLUDES(mutex_);
  // Takes all views from `target`; kConflict while a process uses one there, to be tried again.
  Result<> hide(const std::string& target) EXCLUDES(mutex_);
  // The target was unmounted by its owner: the view is not shown there any more.
  void forget(const std::string& target) EXCLUDES(mutex_);
  // kConflict while it is shown or in use; then it is shown nowhere else, and to be tried again.
  Result<> end() EXCLUDES(mutex_);

  const std::string& point() const { return point_; }
  std::uint64_t generation() const { return built_.generation; }
  const std::string& digest() const { return built_.digest; }
  std::uint64_t files() const { return built_.files; }
  std::uint64_t bytes() const { return built_.bytes; }
  std::uint64_t image_bytes() const { return built_.image_bytes; }
  std::set<std::string> shown() const EXCLUDES(mutex_);
  const std::string& bdi() const { return bdi_; }

 private:
  SealedView(BuiltView built, std::string point, ImmutableSegments& holds)
      : built_(std::move(built)), point_(std::move(point)), holds_(holds) {}

  BuiltView built_;  // constant once it was sealed or adopted
  const std::string point_;
  ImmutableSegments& holds_;
  std::string bdi_{};

  mutable Mutex mutex_;
  bool attached_ GUARDED_BY(mutex_) = false;
  bool ended_ GUARDED_BY(mutex_) = false;
  std::set<std::string> shown_ GUARDED_BY(mutex_);
};

// Ends the views that an earlier process left at places in `directory`: unmounts them here, and
// removes their records. kConflict while the kernel still has one of them: their segments have to
// stay immutable. REQUIRES: no view of this process is at a place in it.
Result<> end_leftovers(const std::string& directory);

}  // namespace paddle::sealed
