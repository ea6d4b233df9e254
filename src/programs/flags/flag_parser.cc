// SPDX-License-Identifier: Apache-2.0
#include "programs/flags/flag_parser.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "base/version.h"

namespace paddle::programs {
namespace {

// Go's flag package accepts one dash or two for the same flag, and nothing after '=' as an empty
// value, where CLI11 would take the next argument.
std::vector<std::string> for_cli11(const std::vector<std::string>& args) {
  std::vector<std::string> all;
  for (const auto& arg : args) {
    const bool single = arg.size() > 2 && arg[0] == '-' && arg[1] != '-';
    std::string word = single ? "-" + arg : arg;
    const bool empty_value = word.rfind("--", 0) == 0 && word.find('=') == word.size() - 1;
    if (empty_value) word.pop_back();
    all.push_back(std::move(word));
    if (empty_value) all.emplace_back();
  }
  return all;
}

std::string one_sentence(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text;
}

}  // namespace

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  size_t at = 0;
  while (at <= text.size()) {
    const size_t comma = std::min(text.find(',', at), text.size());
    if (comma > at) parts.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

Error bad_flag(const std::string& flag, const std::string& value, const std::string& wants) {
  return {Code::kInvalid, "--" + flag + "=" + value.substr(0, 100) + " is not " + wants};
}

Result<std::string> run_parser(CLI::App& app, const std::string& program,
                               const std::vector<std::string>& args) {
  app.set_version_flag("--version", program + " " + kVersion);
  try {
    auto reversed = for_cli11(args);
    std::reverse(reversed.begin(), reversed.end());  // CLI11 expects them in reverse order
    app.parse(std::move(reversed));
    return std::string{};
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::CallForVersion&) {
    return program + " " + kVersion + "\n";
  } catch (const CLI::Error& error) {
    return Error{Code::kInvalid, one_sentence(error.what())};
  } catch (const std::exception& error) {
    return Error{Code::kInvalid, one_sentence(error.what())};
  }
}

Result<std::string> parse_bare(const std::string& program, const std::string& about,
                               const std::vector<std::string>& args) {
  CLI::App app(about, program);
  app.footer("Examples:\n  " + program + " --version");
  return run_parser(app, program, args);
}

std::string usage_error(const std::string& program, const Error& error) {
  return program + ": " + error.message + ". Run '" + program + " --help' for what it takes.\n";
}

}  // namespace paddle::programs
