// SPDX-License-Identifier: Apache-2.0
//
// Every function that can fail returns a Result<T>: a value, or an Error with the reason, the kind
// of failure, and whether a retry can help.
//
// The class is [[nodiscard]]: dropping a failure is a compile error under -Werror. Exceptions are
// not used across our own functions; exceptions of third-party calls are converted where they are
// made. Foreign error codes (HTTP status, errno, curl) are translated into Code once, where they
// enter; no code decides on the text of a message.

#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace paddle {

enum class Code {
  kNotFound,       // it does not exist (any more)
  kAlreadyExists,  // a create found an object of the same name
  kConflict,       // a precondition failed: read again, decide again
  kInvalid,        // the input is wrong; the same input will fail again
  kUnauthorized,   // credentials are missing, wrong or expired
  kForbidden,      // not permitted
  kExpired,        // the requested version is too old (410): list again
  kThrottled,      // the other side requests a pause (429)
  kUnavailable,    // not reachable, or temporarily unable
  kUntrusted,      // reached, but its certificate is not trusted: our CA may have to be read again
  kDeadline,       // no response in time; it may or may not have been executed
  kCancelled,      // we stopped it ourselves
  kInternal,       // a defect, of ours or of the other side
};

std::string_view name(Code code);

struct Error {
  Code code = Code::kInternal;
  std::string message{};
  std::optional<std::chrono::milliseconds> retry_after{};  // when the other side requests it

  // Worth another attempt with the same input, after a pause.
  bool retryable() const {
    return code == Code::kConflict || code == Code::kThrottled || code == Code::kUnavailable ||
           code == Code::kUntrusted || code == Code::kDeadline;
  }

  // The same error with its context: "create pod a/b: connection refused".
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

// The project's only control-flow macros: TRY binds a value, CHECK_DONE ignores it.
#define TRY(declaration, expression) TRY_AT_(__COUNTER__, declaration, expression)
#define TRY_AT_(n, declaration, expression) TRY_AS_(n, declaration, expression)
#define TRY_AS_(n, declaration, expression)                \
  auto attempt_##n = (expression);                         \
  if (!attempt_##n) return std::move(attempt_##n).error(); \
  declaration = *std::move(attempt_##n) /* NOLINT(bugprone-macro-parentheses) */

#define CHECK_DONE(expression)                                              \
  do {                                                                      \
    if (auto done_ = (expression); !done_) return std::move(done_).error(); \
  } while (false)

}  // namespace paddle
