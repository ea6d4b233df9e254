// SPDX-License-Identifier: Apache-2.0
//
// Result<T> is what every fallible function returns: a value, or an Error that says
// what failed, what kind of failure it is, and whether trying again can help.
//
// The class is [[nodiscard]], so dropping a failure is a compile error under -Werror.
// Exceptions are not used across our own functions; throwing third-party calls are
// converted where they are made. Foreign error languages (HTTP status, errno, curl) are
// translated into Code once, at the rim; nobody decides on the text of a message.

#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace paddle {

enum class Code {
  kNotFound,       // it is not there (any more)
  kAlreadyExists,  // a create met a namesake
  kConflict,       // a precondition failed: read again, decide again
  kInvalid,        // the input is wrong; the same input will fail again
  kUnauthorized,   // who are you: credentials missing, wrong or expired
  kForbidden,      // you may not
  kExpired,        // the version asked for is gone (410): list again
  kThrottled,      // the other side asks for a pause (429)
  kUnavailable,    // not reachable or not able right now
  kUntrusted,      // reached, but its certificate is not one that we trust: whom we trust may have
                   // to be read again
  kDeadline,       // no answer in time; the effect may or may not have happened
  kCancelled,      // we stopped it ourselves
  kInternal,       // a defect, here or there
};

std::string_view name(Code code);

struct Error {
  Code code = Code::kInternal;
  std::string message{};
  std::optional<std::chrono::milliseconds> retry_after{};  // set when the other side asked for it

  // Worth another attempt with the same input, after a pause.
  bool retryable() const {
    return code == Code::kConflict || code == Code::kThrottled || code == Code::kUnavailable ||
           code == Code::kUntrusted || code == Code::kDeadline;
  }

  // The same error, seen from one level up: "create pod a/b: connection refused".
  Error in(std::string_view doing) && {
    message.insert(0, std::string(doing) + ": ");
    return std::move(*this);
  }
};

struct Done {
  bool operator==(const Done&) const = default;
};

template <typename T = Done>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  bool is(Code code) const { return !*this && error().code == code; }

  const T& operator*() const& { return std::get<0>(state_); }
  T& operator*() & { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  const T* operator->() const { return &std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }

  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

// The project's only control-flow macros: TRY binds a value, CHECK_DONE wants none.
#define TRY(declaration, expression) TRY_AT_(__COUNTER__, declaration, expression)
#define TRY_AT_(n, declaration, expression) TRY_AS_(n, declaration, expression)
#define TRY_AS_(n, declaration, expression)                \
  auto attempt_##n = (expression);                         \
  if (!attempt_##n) return std::move(attempt_##n).error(); \
  declaration = *std::move(attempt_##n)

#define CHECK_DONE(expression)                                              \
  do {                                                                      \
    if (auto done_ = (expression); !done_) return std::move(done_).error(); \
  } while (false)

}  // namespace paddle
