// SPDX-License-Identifier: Apache-2.0
//
// The output of a command. Commands print whole lines; on a terminal a progress line may be shown,
// which the next line replaces. Not thread-safe. Tests collect the output in strings.

#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

namespace paddle::cli {

class Terminal {
 public:
  using Write = std::function<void(std::string_view)>;
  // `columns`: width of the terminal behind `err`, where a line can be overwritten; 0: no terminal.
  Terminal(Write out, Write err, size_t columns, std::stop_token stop = {})
      : out_(std::move(out)), err_(std::move(err)), columns_(columns), stop_(std::move(stop)) {}
  ~Terminal() { clear_progress(); }

  void print(std::string_view text);       // a result, unchanged, to standard output
  void line(const std::string& text);      // a result with a line break
  void message(const std::string& text);   // a message, to standard error
  void progress(const std::string& text);  // overwrites the last one; without a terminal: a line
  void clear_progress();

  bool live() const { return columns_ > 0; }
  const std::stop_token& stop() const { return stop_; }  // Ctrl-C

 private:
  const Write out_;
  const Write err_;
  const size_t columns_;
  const std::stop_token stop_;
  std::string shown_{};
};

}  // namespace paddle::cli
