// SPDX-License-Identifier: Apache-2.0
//
// Helpers for the texts of Secrets and URLs: white space, percent-encoding, passwords. Pure.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace paddle::engine::juicefs {

// Without white space and control characters at both ends: `echo x | base64` leaves a newline.
std::string trimmed(const std::string& text);

// Whether it has no control characters, including line ends.
bool is_one_line(std::string_view text);

// For a part of a URL: everything but letters, digits and "-._~" becomes %XX.
std::string percent_encoded(const std::string& text);
// Nothing when a '%' is not followed by two hexadecimal digits.
std::optional<std::string> percent_decoded(const std::string& text);

// Whether "user:password@host/path", without "name://", has a password. A password may contain '/';
// a port before an '@' in the path is not one.
bool holds_password(std::string_view address);

}  // namespace paddle::engine::juicefs
