// SPDX-License-Identifier: Apache-2.0
//
// Splits the byte stream of a watch into events. Boundaries come from the JSON itself: newlines
// between events, or none, and the chunking of the bytes make no difference. An event is delivered
// only when its last byte has arrived. Pure but for the sink; memory is bounded by one event. After
// an error the splitter must not be used again.

#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/options.h"
#include "kube/wire/value_scanner.h"

namespace paddle::kube {

class WatchSplitter {
 public:
  explicit WatchSplitter(size_t max_event) : max_event_(max_event) {}

  // Returns the sink's error; the error of an ERROR event; kInvalid for an event larger than
  // max_event; kInternal when the bytes are not events.
  Result<> feed(std::string_view bytes, const EventSink& sink);

  // At the end of the stream: kUnavailable when it stopped in the middle of an event.
  Result<> finish() const;

 private:
  const size_t max_event_;
  ValueScanner scanner_{};
  bool inside_ = false;
  std::string partial_{};
};

}  // namespace paddle::kube
