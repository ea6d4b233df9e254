// SPDX-License-Identifier: Apache-2.0
#include "api/json/yaml_writer.h"

#include <cctype>
#include <cstring>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

namespace paddle::api {
namespace {

constexpr size_t kFlowAbove = 600;  // a longer subtree without any description is flow style
constexpr size_t kWidth = 600;      // of flow style: narrower lines would be a third indentation

bool is_plain(const std::string& text) {
  static const std::set<std::string> kWords{"true", "false", "null", "yes", "no",
                                            "on",   "off",   "y",    "n"};
  std::string lower = text;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (text.empty() || text.back() == ' ' || kWords.contains(lower)) return false;
  if (!std::isalpha(static_cast<unsigned char>(text[0])) && text[0] != '.') return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool colon = c == ':' && i + 1 < text.size() && text[i + 1] != ' ';
    if (!std::isalnum(c) && !std::strchr(" ._-/(),;'", c) && !colon) return false;
  }
  return text != "." && lower != ".inf" && lower != ".nan";
}

std::string scalar(const Json& value) {
  if (value.is_string() && is_plain(value.get_ref<const std::string&>()))
    return value.get<std::string>();
  return dump_json(value);
}

bool has_description(const Json& value) {
  if (value.is_object() && value.contains("description")) return true;
  for (const Json& part : value) {
    if (part.is_structured() && has_description(part)) return true;
  }
  return false;
}

// Flow style in one stream of text, broken after commas.
class Flow {
 public:
  explicit Flow(size_t indent) : indent_(indent) {}

  std::string of(const Json& value) {
    write(value);
    return std::move(out_);
  }

 private:
  void write(const Json& value) {
    if (!value.is_structured()) {
      out_ += value.is_string() ? text(value.get_ref<const std::string&>()) : dump_json(value);
      return;
    }
    out_ += value.is_object() ? "{" : "[";
    bool first = true;
    for (const auto& [key, part] : value.items()) {
      if (!std::exchange(first, false)) out_ += next();
      if (value.is_object()) out_ += text(key) + ": ";
      write(part);
    }
    out_ += value.is_object() ? "}" : "]";
  }

  std::string next() {
    if (out_.size() - line_ < kWidth) return ", ";
    line_ = out_.size();
    return ",\n" + std::string(indent_, ' ');
  }

  // Quotes only where flow style needs them.
  static std::string text(const std::string& text) {
    const bool bare = is_plain(text) && text.find_first_of(" ,;()':") == std::string::npos;
    return bare ? text : dump_json(Json(text));
  }

  const size_t indent_;
  size_t line_ = 0;
  std::string out_{};
};

enum class Style { kSchema, kBlock };

void write(std::string& out, const Json& value, size_t indent, Style style);

// What follows "key:" or "-": on the same line when it is a scalar, empty or flow.
void write_value(std::string& out, const Json& value, size_t indent, bool in_list, Style style) {
  if (!value.is_structured() || value.empty()) {
    out += " " + scalar(value) + "\n";
    return;
  }
  const bool flow = style == Style::kSchema && value.is_object() && !has_description(value) &&
                    dump_json(value).size() > kFlowAbove;
  if (flow) {
    out += " " + Flow(indent).of(value) + "\n";
    return;
  }
  if (in_list && value.is_object()) {
    std::string block;
    write(block, value, indent, style);
    out += " " + block.substr(indent);
    return;
  }
  out += "\n";
  write(out, value, value.is_array() && !in_list ? indent - 2 : indent, style);
}

void write(std::string& out, const Json& value, size_t indent, Style style) {
  const std::string margin(indent, ' ');
  if (value.is_array()) {
    for (const Json& item : value) {
      out += margin + "-";
      write_value(out, item, indent + 2, true, style);
    }
    return;
  }
  for (const auto& [key, item] : value.items()) {
    out += margin + scalar(Json(key)) + ":";
    write_value(out, item, indent + 2, false, style);
  }
}

}  // namespace

std::string to_yaml(const Json& value) {
  std::string out;
  write(out, value, 0, Style::kSchema);
  return out;
}

std::string to_block_yaml(const Json& value) {
  if (!value.is_structured() || value.empty()) return scalar(value) + "\n";
  std::string out;
  write(out, value, 0, Style::kBlock);
  return out;
}

}  // namespace paddle::api
