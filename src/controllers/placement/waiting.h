// SPDX-License-Identifier: Apache-2.0
//
// Why something does not go on: a reason for the condition and a sentence for people.

#pragma once

#include <string>

namespace paddle::controllers {

struct Waiting {
  std::string reason{};   // CamelCase
  std::string message{};  // one sentence with the next step or what is waited for
  bool operator==(const Waiting&) const = default;
};

}  // namespace paddle::controllers
