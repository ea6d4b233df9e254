// SPDX-License-Identifier: Apache-2.0
#include "kube/wire/value_scanner.h"

#include <string>

namespace paddle::kube {
namespace {

bool scalar_byte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '+' || c == '.';
}

}  // namespace

Result<> ValueScanner::open(char bracket) {
  if (depth_ == braces_.size()) {
    return Error{Code::kInvalid, "JSON is nested deeper than " + std::to_string(braces_.size())};
  }
  braces_[depth_++] = bracket == '{';
  state_ = State::kInside;
  return Done{};
}

Result<> ValueScanner::close(char bracket) {
  if (depth_ == 0 || braces_[depth_ - 1] != (bracket == '}')) {
    return Error{Code::kInternal, "malformed JSON: brackets do not match"};
  }
  if (--depth_ == 0) state_ = State::kDone;
  return Done{};
}

Result<size_t> ValueScanner::feed(std::string_view bytes) {
  size_t at = 0;
  while (at < bytes.size() && state_ != State::kDone) {
    const char c = bytes[at];
    switch (state_) {
      case State::kString:
        while (at < bytes.size() && bytes[at] != '"' && bytes[at] != '\\') ++at;
        if (at == bytes.size()) return at;
        if (bytes[at] == '\\') {
          state_ = State::kEscape;
        } else {
          state_ = depth_ == 0 ? State::kDone : State::kInside;
        }
        break;
      case State::kEscape:
        state_ = State::kString;
        break;
      case State::kScalar:
        if (scalar_byte(c)) break;
        state_ = State::kDone;
        return at;
      case State::kStart:
        if (scalar_byte(c)) {
          state_ = State::kScalar;
          break;
        }
        if (c != '"' && c != '{' && c != '[') {
          return Error{Code::kInternal, "malformed JSON: a value is missing"};
        }
        [[fallthrough]];
      case State::kInside:
        if (c == '"') {
          state_ = State::kString;
        } else if (c == '{' || c == '[') {
          CHECK_DONE(open(c));
        } else if (c == '}' || c == ']') {
          CHECK_DONE(close(c));
        }
        break;
      case State::kDone:
        break;
    }
    ++at;
  }
  return at;
}

}  // namespace paddle::kube
