// SPDX-License-Identifier: Apache-2.0
#include "kube/rules/selector.h"

#include <algorithm>
#include <array>
#include <optional>

#include <nlohmann/json.hpp>

namespace paddle::kube {
namespace {

using api::Json;

constexpr std::array<std::string_view, 11> kFields{"metadata.name",
                                                   "metadata.namespace",
                                                   "spec.nodeName",
                                                   "status.phase",
                                                   "involvedObject.kind",
                                                   "involvedObject.name",
                                                   "involvedObject.namespace",
                                                   "involvedObject.uid",
                                                   "involvedObject.apiVersion",
                                                   "involvedObject.resourceVersion",
                                                   "involvedObject.fieldPath"};

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Splits at commas outside of parentheses.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      parts.push_back(trim(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  return parts;
}

Error bad(std::string_view part) {
  return Error{Code::kInvalid, "unable to parse requirement: '" + std::string(part) + "'"};
}

bool is_key(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '/';
  });
}

std::optional<Requirement> equality(std::string_view part) {
  for (const std::string_view sign : {"!=", "==", "="}) {
    const auto at = part.find(sign);
    if (at == std::string_view::npos) continue;
    return Requirement{.key = std::string(trim(part.substr(0, at))),
                       .op = sign == "!=" ? Requirement::Op::kNotIn : Requirement::Op::kIn,
                       .values = {std::string(trim(part.substr(at + sign.size())))}};
  }
  return std::nullopt;
}

// "key in (a, b)" or "key notin (a, b)".
std::optional<Requirement> membership(std::string_view part) {
  const auto open = part.find('(');
  if (open == std::string_view::npos || part.back() != ')') return std::nullopt;
  const std::string_view head = trim(part.substr(0, open));
  const auto space = head.find_first_of(" \t");
  if (space == std::string_view::npos) return std::nullopt;
  const std::string_view word = trim(head.substr(space));
  if (word != "in" && word != "notin") return std::nullopt;

  Requirement made{.key = std::string(head.substr(0, space)),
                   .op = word == "in" ? Requirement::Op::kIn : Requirement::Op::kNotIn};
  for (const auto value : split(part.substr(open + 1, part.size() - open - 2))) {
    made.values.emplace_back(value);
  }
  return made;
}

Result<Requirement> label_requirement(std::string_view part) {
  Requirement made;
  if (auto set = membership(part)) {
    made = *std::move(set);
  } else if (auto equal = equality(part)) {
    made = *std::move(equal);
  } else if (part.starts_with('!')) {
    made = {.key = std::string(trim(part.substr(1))), .op = Requirement::Op::kAbsent};
  } else {
    made = {.key = std::string(part), .op = Requirement::Op::kExists};
  }
  if (!is_key(made.key)) return bad(part);
  for (const auto& value : made.values) {
    if (!value.empty() && !is_key(value)) return bad(part);
  }
  return made;
}

Result<Requirement> field_requirement(std::string_view part) {
  auto made = equality(part);
  if (!made) return bad(part);
  if (std::ranges::find(kFields, made->key) == kFields.end()) {
    return Error{Code::kInvalid, "field label not supported: " + made->key};
  }
  return *std::move(made);
}

bool meets(const Requirement& wanted, const std::string* value) {
  const bool listed = value && std::ranges::find(wanted.values, *value) != wanted.values.end();
  switch (wanted.op) {
    case Requirement::Op::kIn:
      return listed;
    case Requirement::Op::kNotIn:
      return !listed;
    case Requirement::Op::kExists:
      return value != nullptr;
    case Requirement::Op::kAbsent:
      return value == nullptr;
  }
  return false;
}

const std::string* text_at(const Json& object, std::string_view outer, std::string_view inner) {
  const auto part = object.find(outer);
  if (part == object.end() || !part->is_object()) return nullptr;
  const auto value = part->find(inner);
  if (value == part->end() || !value->is_string()) return nullptr;
  return &value->get_ref<const std::string&>();
}

}  // namespace

Result<Selector> Selector::parse(std::string_view labels, std::string_view fields) {
  Selector made;
  if (!trim(labels).empty()) {
    for (const auto part : split(labels)) {
      TRY(made.labels_.emplace_back(), label_requirement(part));
    }
  }
  if (!trim(fields).empty()) {
    for (const auto part : split(fields)) {
      TRY(made.fields_.emplace_back(), field_requirement(part));
    }
  }
  return made;
}

bool Selector::matches(const Json& object) const {
  if (!object.is_object()) return false;
  const auto meta = object.find("metadata");
  for (const auto& wanted : labels_) {
    const std::string* value =
        meta == object.end() ? nullptr : text_at(*meta, "labels", wanted.key);
    if (!meets(wanted, value)) return false;
  }
  static const std::string kNothing;  // for a field selector an absent field is empty
  for (const auto& wanted : fields_) {
    const std::string_view path = wanted.key;
    const auto dot = path.find('.');
    const std::string* value = text_at(object, path.substr(0, dot), path.substr(dot + 1));
    if (!meets(wanted, value ? value : &kNothing)) return false;
  }
  return true;
}

}  // namespace paddle::kube
