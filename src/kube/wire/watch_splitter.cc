// SPDX-License-Identifier: Apache-2.0
#include "kube/wire/watch_splitter.h"

#include <nlohmann/json.hpp>

#include "kube/wire/status.h"

namespace paddle::kube {
namespace {

Error malformed_event(const char* why) {
  return {Code::kInternal, std::string("malformed watch event: ") + why};
}

// A cursor over one complete event.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool take(char wanted) {
    skip();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  Result<std::string_view> value() {
    skip();
    ValueScanner scanner;
    TRY(const size_t size, scanner.feed(rest_));
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }

 private:
  void skip() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

struct RawEvent {
  std::string_view type{};
  std::string_view object{};
};

Result<RawEvent> open(std::string_view text) {
  Reader reader(text);
  RawEvent event;
  if (!reader.take('{')) return malformed_event("not an object");
  if (reader.take('}')) return event;
  do {
    TRY(const std::string_view key, reader.value());
    if (!reader.take(':')) return malformed_event("a key without a value");
    TRY(const std::string_view value, reader.value());
    if (key == "\"type\"") event.type = value;
    if (key == "\"object\"") event.object = value;
  } while (reader.take(','));
  if (!reader.take('}')) return malformed_event("fields are not separated");
  return event;
}

Result<> deliver(std::string_view text, const EventSink& sink) {
  TRY(const RawEvent event, open(text));
  if (!event.object.starts_with('{')) return malformed_event("it has no object");
  if (event.type == "\"ADDED\"") return sink({EventType::kAdded, event.object});
  if (event.type == "\"MODIFIED\"") return sink({EventType::kModified, event.object});
  if (event.type == "\"DELETED\"") return sink({EventType::kDeleted, event.object});
  if (event.type == "\"BOOKMARK\"") return sink({EventType::kBookmark, event.object});
  if (event.type != "\"ERROR\"") return malformed_event("its type is not known");
  TRY(const Json status, api::parse_json(event.object));
  return error_of_status(status).in("watch");
}

}  // namespace

Result<> WatchSplitter::feed(std::string_view bytes, const EventSink& sink) {
  while (!bytes.empty()) {
    if (!inside_) {
      if (is_space(bytes.front())) {
        bytes.remove_prefix(1);
        continue;
      }
      if (bytes.front() != '{') return malformed_event("not an object");
      inside_ = true;
      scanner_.reset();
    }
    TRY(const size_t size, scanner_.feed(bytes));
    if (partial_.size() + size > max_event_) {
      return Error{Code::kInvalid,
                   "an event of the watch is larger than " + std::to_string(max_event_) + " bytes"};
    }
    const std::string_view piece = bytes.substr(0, size);
    bytes.remove_prefix(size);
    if (!scanner_.done()) {
      partial_ += piece;
      continue;
    }
    inside_ = false;
    if (partial_.empty()) {  // this chunk contains all of it
      CHECK_DONE(deliver(piece, sink));
      continue;
    }
    partial_ += piece;
    CHECK_DONE(deliver(partial_, sink));
    constexpr size_t kKeep = size_t{64} << 10;  // a rare large object does not stay in memory
    if (partial_.capacity() > kKeep) partial_ = {};
    partial_.clear();
  }
  return Done{};
}

Result<> WatchSplitter::finish() const {
  if (inside_) return Error{Code::kUnavailable, "the watch was cut in the middle of an event"};
  return Done{};
}

}  // namespace paddle::kube
