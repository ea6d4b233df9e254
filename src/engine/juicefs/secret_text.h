// SPDX-License-Identifier: Apache-2.0
//
// How values of Secrets and URLs are spelled. Pure.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace paddle::engine::juicefs {

// Without white space and control characters at its ends: `echo x | base64` leaves a newline.
std::string trimmed(const std::string& text);

// Whether it has no control characters, line ends among them.
bool is_one_line(std::string_view text);

// As a part of a URL spells it: everything but letters, digits and "-._~" as %XX.
std::string percent_encoded(const std::string& text);
// Nothing when a '%' is not followed by two hexadecimal digits.
std::optional<std::string> percent_decoded(const std::string& text);

// "user:word@host/path", without "name://": whether there is a word before the host. Words with a
// '/' are seen too; a port before an '@' of a path is no word.
bool holds_password(std::string_view address);

}  // namespace paddle::engine::juicefs
