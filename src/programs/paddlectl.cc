// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "programs/command_line.h"

int main(int argc, char** argv) {
  const auto text =
      paddle::programs::parse_bare("paddlectl",
                                   "Shows and explains PaddleJobs, SampleSets and SampleJobs "
                                   "(nothing of it is in this version yet).",
                                   {argv + 1, argv + argc});
  if (!text) {
    std::cerr << paddle::programs::usage_error("paddlectl", text.error());
    return 2;
  }
  if (!text->empty()) {
    std::cout << *text;
    return 0;
  }
  std::cerr << "paddlectl: this version has no sub-command yet, so there is nothing to run.\n";
  return 1;
}
