// SPDX-License-Identifier: Apache-2.0
#include "kube/wire/list_splitter.h"

#include <nlohmann/json.hpp>

#include "kube/wire/status.h"

namespace paddle::kube {
namespace {

constexpr size_t kMaxSmallField = size_t{256} << 10;  // a key, metadata, a Status' message

Error malformed_list(const char* why) {
  return {Code::kInternal, std::string("malformed list: ") + why};
}

// The fields of a list's head, and those of a Status.
bool small_field(const std::string& key) {
  return key == "metadata" || key == "kind" || key == "status" || key == "message" ||
         key == "reason" || key == "details" || key == "code";
}

}  // namespace

bool ListSplitter::reading() const {
  return state_ == State::kKey || state_ == State::kValue || state_ == State::kItem;
}

// Only values that are kept are gathered; others are skipped.
bool ListSplitter::wanted() const {
  return state_ != State::kValue || small_field(key_) || key_ == "items";
}

// One byte between values.
Result<> ListSplitter::on_mark(char c) {
  switch (state_) {
    case State::kStart:
      if (c != '{') return malformed_list("not an object");
      state_ = State::kFirstKey;
      return Done{};
    case State::kColon:
      if (c != ':') return malformed_list("a key without a value");
      state_ = State::kValue;
      return Done{};
    case State::kAfterItem:
      if (c != ',' && c != ']') return malformed_list("items are not separated");
      state_ = c == ',' ? State::kItem : State::kAfterValue;
      return Done{};
    case State::kAfterValue:
      if (c != ',' && c != '}') return malformed_list("fields are not separated");
      state_ = c == ',' ? State::kKey : State::kEnd;
      return Done{};
    default:
      return malformed_list("something follows its end");
  }
}

// One whole key, value or item.
Result<> ListSplitter::on_text(std::string_view text, const ItemSink& sink) {
  if (state_ == State::kItem) {
    if (!text.starts_with('{')) return malformed_list("an item is not an object");
    state_ = State::kAfterItem;
    return sink(text);
  }
  if (state_ == State::kValue) {
    if (key_ == "items" && text != "null") return malformed_list("items is not an array");
    if (key_ == "items") has_items_ = true;
    if (small_field(key_)) kept_[key_] = text;
    state_ = State::kAfterValue;
    return Done{};
  }
  TRY(const Json key, api::parse_json(text));
  if (!key.is_string()) return malformed_list("a key is not a string");
  key_ = key.get<std::string>();
  state_ = State::kColon;
  return Done{};
}

Result<> ListSplitter::feed(std::string_view bytes, const ItemSink& sink) {
  while (!bytes.empty()) {
    if (!inside_) {
      const char c = bytes.front();
      if (is_space(c)) {
        bytes.remove_prefix(1);
        continue;
      }
      if (state_ == State::kFirstKey) state_ = c == '}' ? State::kAfterValue : State::kKey;
      if (state_ == State::kFirstItem) state_ = c == ']' ? State::kAfterItem : State::kItem;
      if (state_ == State::kValue && key_ == "items" && c == '[') {
        if (has_items_) return malformed_list("items appears twice");
        has_items_ = true;
        state_ = State::kFirstItem;
        bytes.remove_prefix(1);
        continue;
      }
      if (!reading()) {
        CHECK_DONE(on_mark(c));
        bytes.remove_prefix(1);
        continue;
      }
      inside_ = true;
      scanner_.reset();
    }
    TRY(const size_t size, scanner_.feed(bytes));
    const std::string_view piece = bytes.substr(0, size);
    bytes.remove_prefix(size);
    const size_t limit = state_ == State::kItem ? max_object_ : kMaxSmallField;
    if (wanted() && partial_.size() + size > limit) {
      return Error{Code::kInvalid, std::string(state_ == State::kItem ? "an item" : "the head") +
                                       " of the list is larger than " + std::to_string(limit) +
                                       " bytes"};
    }
    const bool whole = scanner_.done() && partial_.empty();
    if (!whole && wanted()) partial_ += piece;
    if (!scanner_.done()) continue;
    inside_ = false;
    CHECK_DONE(on_text(whole ? piece : std::string_view(partial_), sink));
    constexpr size_t kKeep = size_t{64} << 10;  // a rare large object does not stay in memory
    if (partial_.capacity() > kKeep) partial_ = {};
    partial_.clear();
  }
  return Done{};
}

Result<ListHead> ListSplitter::finish() const {
  if (state_ != State::kEnd) return Error{Code::kUnavailable, "the list was cut before its end"};
  const auto kept = [this](const char* key) -> Json {
    const auto found = kept_.find(key);
    if (found == kept_.end()) return nullptr;
    auto value = api::parse_json(found->second);
    return value ? *std::move(value) : Json{};
  };
  if (kept("kind") == "Status") {
    Json status = Json::object();
    for (const auto& [key, text] : kept_) status[key] = kept(key.c_str());
    return error_of_status(status);
  }
  if (!has_items_) return malformed_list("it has no items");
  ListHead head;
  const Json metadata = kept("metadata");
  const auto text = [&](const char* key) {
    const bool has = metadata.is_object() && metadata.contains(key) && metadata[key].is_string();
    return has ? metadata[key].get<std::string>() : std::string{};
  };
  head.resource_version = text("resourceVersion");
  head.continue_token = text("continue");
  return head;
}

}  // namespace paddle::kube
