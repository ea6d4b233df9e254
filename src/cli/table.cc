// SPDX-License-Identifier: Apache-2.0
#include "cli/table.h"

#include <algorithm>
#include <cctype>

#include <nlohmann/json.hpp>

#include "api/json/look.h"

namespace paddle::cli {
namespace {

using api::Json;

std::string cell_text(const Json& cell) {
  if (cell.is_null()) return "<none>";
  std::string text = cell.is_string() ? cell.get<std::string>() : api::dump_json(cell);
  // One object is one line: control characters become spaces.
  std::ranges::replace_if(
      text, [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  return text;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// Terminal columns are counted by characters, not by bytes.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string align(const std::vector<std::vector<std::string>>& lines) {
  std::vector<size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width_of(line[i]));
  }
  std::string text;
  for (const auto& line : lines) {
    std::string made;
    for (size_t i = 0; i < line.size(); ++i) {
      made += line[i] + std::string(widths[i] - width_of(line[i]) + 3, ' ');
    }
    made.erase(made.find_last_not_of(' ') + 1);
    text += made + "\n";
  }
  return text;
}

std::string print_table(const Json& table, const TableStyle& style) {
  const Json& rows = api::look_list(table, "rows");
  if (rows.empty()) return {};
  const Json& columns = api::look_list(table, "columnDefinitions");
  std::vector<size_t> chosen;
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> heading;
  if (style.with_namespace) heading.emplace_back("NAMESPACE");
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!style.wide && api::look_integer(columns[i], "priority") > 0) continue;
    chosen.push_back(i);
    heading.push_back(upper(api::look_text(columns[i], "name")));
  }
  if (style.heading) lines.push_back(std::move(heading));
  for (const Json& row : rows) {
    std::vector<std::string> line;
    if (style.with_namespace) line.push_back(api::look_text(row, "/object/metadata/namespace"));
    const Json& cells = api::look_list(row, "cells");
    for (const size_t i : chosen) {
      line.push_back(i < cells.size() ? cell_text(cells[i]) : std::string{});
    }
    lines.push_back(std::move(line));
  }
  return align(lines);
}

}  // namespace paddle::cli
