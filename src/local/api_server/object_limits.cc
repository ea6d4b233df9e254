// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/object_limits.h"

#include <algorithm>
#include <cctype>
#include <string>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "base/base64.h"

namespace paddle::local {
namespace {

using api::Json;

constexpr std::size_t kMostNameCharacters = 63;
constexpr std::size_t kMostPrefixCharacters = 253;
constexpr std::size_t kMostAnnotationBytes = std::size_t{256} << 10;
constexpr std::size_t kMostDataBytes = std::size_t{1} << 20;

bool is_letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// Letters, digits and the others, beginning and ending with a letter or digit.
bool is_word(std::string_view text, std::string_view others) {
  return !text.empty() && is_letter_or_digit(text.front()) && is_letter_or_digit(text.back()) &&
         std::ranges::all_of(
             text, [&](char c) { return is_letter_or_digit(c) || others.find(c) != others.npos; });
}

bool is_prefix(std::string_view text) {
  if (text.size() > kMostPrefixCharacters || !is_word(text, "-.")) return false;
  const bool lower = std::ranges::none_of(text, [](unsigned char c) { return std::isupper(c); });
  return lower && text.find("..") == text.npos && text.find(".-") == text.npos &&
         text.find("-.") == text.npos;
}

// [prefix/]name
bool is_qualified_name(std::string_view key) {
  const auto slash = key.find('/');
  if (slash != key.npos && !is_prefix(key.substr(0, slash))) return false;
  const std::string_view name = slash == key.npos ? key : key.substr(slash + 1);
  return name.size() <= kMostNameCharacters && is_word(name, "-_.");
}

Error invalid_field(const std::string& field, const std::string& value, const char* valid) {
  return {Code::kInvalid, field + ": Invalid value: \"" + value.substr(0, 100) + "\": " + valid};
}

constexpr const char* kValidKey =
    "name part must consist of alphanumeric characters, '-', '_' or '.', must start and end with "
    "an alphanumeric character and have at most 63 of them, with an optional DNS subdomain prefix "
    "and '/', such as 'example.com/my-name'";
constexpr const char* kValidLabel =
    "a valid label must be an empty string or consist of at most 63 alphanumeric characters, '-', "
    "'_' or '.', and must start and end with an alphanumeric character";

// The entry's size in bytes after decoding; an error when it is not what the field holds.
Result<std::size_t> data_size(const std::string& field, const Json& value, bool encoded) {
  if (!value.is_string()) return Error{Code::kInvalid, field + ": Invalid value: must be a string"};
  const auto& text = value.get_ref<const std::string&>();
  if (!encoded) return text.size();
  const auto decoded = base64_decode(text);
  if (!decoded) {
    return Error{Code::kInvalid,
                 field + ": Invalid value: illegal base64 data; use stringData for plain text"};
  }
  return decoded->size();
}

}  // namespace

Result<> check_labels_and_annotations(const Json& object) {
  const Json& meta = api::look(object, "metadata");
  if (const Json& labels = api::look(meta, "labels"); labels.is_object()) {
    for (const auto& [key, value] : labels.items()) {
      if (!is_qualified_name(key)) return invalid_field("metadata.labels", key, kValidKey);
      const std::string text = value.is_string() ? value.get<std::string>() : "";
      const bool good =
          text.size() <= kMostNameCharacters && (text.empty() || is_word(text, "-_."));
      if (!good) return invalid_field("metadata.labels", text, kValidLabel);
    }
  }
  const Json& annotations = api::look(meta, "annotations");
  if (!annotations.is_object()) return Done{};
  std::size_t size = 0;
  for (const auto& [key, value] : annotations.items()) {
    if (!is_qualified_name(key)) return invalid_field("metadata.annotations", key, kValidKey);
    size += key.size() + (value.is_string() ? value.get_ref<const std::string&>().size() : 0);
  }
  if (size <= kMostAnnotationBytes) return Done{};
  return Error{Code::kInvalid, "metadata.annotations: Too long: may not be more than " +
                                   std::to_string(kMostAnnotationBytes) + " bytes"};
}

Result<> check_data(const kube::Resource& resource, const Json& object) {
  const bool secret = resource == kube::resources::kSecrets;
  if (!secret && resource != kube::resources::kConfigMaps) return Done{};
  std::size_t size = 0;
  for (const char* field : {"data", "binaryData"}) {
    const bool encoded = secret || std::string_view(field) == "binaryData";
    const Json& data = api::look(object, field);
    if (data.is_null()) continue;
    if (!data.is_object()) {
      return Error{Code::kInvalid, std::string(field) + ": Invalid value: must be an object"};
    }
    for (const auto& [key, value] : data.items()) {
      TRY(const std::size_t bytes,
          data_size(std::string(field) + "[" + key.substr(0, 100) + "]", value, encoded));
      size += bytes;
    }
  }
  if (size <= kMostDataBytes) return Done{};
  return Error{Code::kInvalid,
               "data: Too long: may not be more than " + std::to_string(kMostDataBytes) + " bytes"};
}

}  // namespace paddle::local
