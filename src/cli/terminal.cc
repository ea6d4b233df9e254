// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

namespace paddle::cli {

void Terminal::print(std::string_view text) {
  clear_progress();
  out_(text);
}

void Terminal::line(const std::string& text) { print(text + "\n"); }

void Terminal::message(const std::string& text) {
  clear_progress();
  err_(text + "\n");
}

void Terminal::progress(const std::string& text) {
  if (text == shown_) return;
  // A wrapped line could not be overwritten.
  err_(live() ? "\r\x1b[K" + text.substr(0, columns_ - 1) : text + "\n");
  shown_ = text;
}

void Terminal::clear_progress() {
  if (live() && !shown_.empty()) {
    err_("\r\x1b[K");
    shown_.clear();
  }
}

}  // namespace paddle::cli
