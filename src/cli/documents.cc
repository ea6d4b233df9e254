// SPDX-License-Identifier: Apache-2.0
#include "cli/documents.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include "api/json/look.h"
#include "api/json/yaml_reader.h"
#include "base/unique_fd.h"
#include "os/read_file.h"

namespace paddle::cli {
namespace {

namespace fs = std::filesystem;
using api::Json;

constexpr size_t kLargestFile = size_t{16} << 20;

bool is_separator(std::string_view line) {
  return line.starts_with("---") && (line.size() == 3 || line[3] == ' ' || line[3] == '\r');
}

// Splits the text at lines of three dashes. A document may begin on such a line ("--- {a: b}").
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts(1);
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (is_separator(line)) {
      const bool only_comments = parts.size() == 1 && std::ranges::all_of(parts[0], [](char c) {
                                   return c == '\n' || c == ' ' || c == '\r';
                                 });
      if (!only_comments) parts.emplace_back();
      line.remove_prefix(3);
    }
    parts.back().append(line).append("\n");
  }
  return parts;
}

// JSON is not quite YAML (tabs, sizes), so JSON is parsed as JSON.
Result<Json> parse_one(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '{') {
    if (auto object = api::parse_json(text)) return object;
  }
  return api::parse_yaml(text);
}

Result<std::vector<Document>> read_one(const std::string& name) {
  if (name == "-") {
    TRY(const std::string text, os::read_to_end(STDIN_FILENO, "standard input", kLargestFile));
    return split_documents("standard input", text);
  }
  const UniqueFd file(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    return Error{Code::kNotFound, "cannot read " + name + ": " + std::strerror(errno)};
  }
  TRY(const std::string text, os::read_to_end(file.get(), name, kLargestFile));
  return split_documents(name, text);
}

}  // namespace

Result<std::vector<Document>> split_documents(const std::string& file, std::string_view text) {
  std::vector<Document> found;
  const auto parts = parts_of(text);
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string where =
        parts.size() > 1 ? file + ", document " + std::to_string(i + 1) : file;
    auto object = parse_one(parts[i]);
    if (!object) return std::move(object).error().in(where);
    if (object->is_null()) continue;
    if (!object->is_object()) {
      return Error{Code::kInvalid, where + " is not an object: it has no apiVersion and kind"};
    }
    if (api::look_text(*object, "kind") != "List") {
      found.push_back({where, *std::move(object)});
      continue;
    }
    const Json& items = api::look_list(*object, "items");
    for (size_t k = 0; k < items.size(); ++k) {
      found.push_back({where + ", item " + std::to_string(k + 1), items[k]});
    }
  }
  return found;
}

Result<std::vector<Document>> read_documents(const std::string& name) {
  std::error_code ignored;
  if (name == "-" || !fs::is_directory(name, ignored)) return read_one(name);
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(name, ignored)) {
    const auto kind = entry.path().extension();
    if (kind == ".yaml" || kind == ".yml" || kind == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  if (files.empty()) {
    return Error{Code::kNotFound, name + " has no file named *.yaml, *.yml or *.json"};
  }
  std::vector<Document> all;
  for (const std::string& file : files) {
    TRY(auto some, read_one(file));
    std::ranges::move(some, std::back_inserter(all));
  }
  return all;
}

}  // namespace paddle::cli
