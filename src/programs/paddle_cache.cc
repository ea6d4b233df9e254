// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "programs/command_line.h"

int main(int argc, char** argv) {
  const auto text = paddle::programs::parse_bare(
      "paddle-cache", "Serves the samples of one node (nothing of it is in this version yet).",
      {argv + 1, argv + argc});
  if (!text) {
    std::cerr << paddle::programs::usage_error("paddle-cache", text.error());
    return 2;
  }
  if (!text->empty()) {
    std::cout << *text;
    return 0;
  }
  std::cerr << "paddle-cache: this version has no sub-command yet, so there is nothing to run.\n";
  return 1;
}
