// SPDX-License-Identifier: Apache-2.0
//
// Finds the elements of `.items` in the byte stream of a list and passes on each one's text as soon
// as it is complete, and reads the metadata of the list. The order of the fields and the chunking
// of the bytes make no difference. Memory is bounded by one element. Pure but for the sink; after
// an error the splitter must not be used again.

#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/options.h"
#include "kube/wire/value_scanner.h"

namespace paddle::kube {

struct ListHead {
  std::string resource_version{};
  std::string continue_token{};  // empty on the last page
  bool operator==(const ListHead&) const = default;
};

class ListSplitter {
 public:
  explicit ListSplitter(size_t max_object) : max_object_(max_object) {}

  // Returns the sink's error; kInvalid for an element larger than max_object; kInternal when the
  // bytes are not a list.
  Result<> feed(std::string_view bytes, const ItemSink& sink);

  // At the end of the stream: kUnavailable when it stopped early; the error that a Status carries
  // when the server sent one instead of a list.
  Result<ListHead> finish() const;

 private:
  enum class State {
    kStart,
    kFirstKey,
    kKey,
    kColon,
    kValue,
    kFirstItem,
    kItem,
    kAfterItem,
    kAfterValue,
    kEnd
  };

  Result<> on_mark(char c);
  Result<> on_text(std::string_view text, const ItemSink& sink);
  bool reading() const;
  bool wanted() const;

  const size_t max_object_;
  State state_ = State::kStart;
  ValueScanner scanner_{};
  bool inside_ = false;  // a value that scanner_ is reading
  std::string partial_{};
  std::string key_{};
  bool has_items_ = false;
  std::map<std::string, std::string> kept_{};  // small fields of the list itself, as JSON text
};

}  // namespace paddle::kube
