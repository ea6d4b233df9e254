// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "programs/command_line.h"

int main(int argc, char** argv) {
  const auto command = paddle::programs::parse_operator({argv + 1, argv + argc});
  if (!command) {
    std::cerr << paddle::programs::usage_error("paddle-operator", command.error());
    return 2;
  }
  if (!command->text.empty()) {
    std::cout << command->text;
    return 0;
  }
  std::cerr << "paddle-operator: this version has no controller yet, so there is nothing to run.\n";
  return 1;
}
