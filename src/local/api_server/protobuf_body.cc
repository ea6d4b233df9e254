// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/protobuf_body.h"

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace paddle::local {
namespace {

using api::Json;

constexpr std::string_view kMagic("k8s\0", 4);

Error damaged() { return {Code::kInvalid, "the protobuf body is damaged"}; }

// One field of a message: a number or bytes.
struct Field {
  std::uint64_t number = 0;
  std::uint64_t value = 0;   // wire type 0
  std::string_view bytes{};  // wire type 2
};

class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}

  bool at_end() const { return rest_.empty(); }

  Result<Field> next() {
    TRY(const std::uint64_t tag, varint());
    Field field{.number = tag >> 3};
    switch (tag & 7) {
      case 0: {
        TRY(field.value, varint());
        return field;
      }
      case 1: {
        TRY(field.bytes, take(8));
        return field;
      }
      case 2: {
        TRY(const std::uint64_t size, varint());
        TRY(field.bytes, take(size));
        return field;
      }
      case 5: {
        TRY(field.bytes, take(4));
        return field;
      }
      default:
        return damaged();
    }
  }

 private:
  Result<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return damaged();
      const auto byte = static_cast<std::uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return damaged();
  }

  Result<std::string_view> take(std::uint64_t size) {
    if (size > rest_.size()) return damaged();
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
};

Result<Json> text_fields(std::string_view bytes, const char* first, const char* second,
                         std::uint64_t second_number) {
  Json object = Json::object();
  for (Message message(bytes); !message.at_end();) {
    TRY(const Field field, message.next());
    if (field.number == 1) object[first] = std::string(field.bytes);
    if (field.number == second_number) object[second] = std::string(field.bytes);
  }
  return object;
}

// metav1.DeleteOptions
Result<Json> delete_options(std::string_view bytes) {
  Json options = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  for (Message message(bytes); !message.at_end();) {
    TRY(const Field field, message.next());
    switch (field.number) {
      case 1:
        options["gracePeriodSeconds"] = static_cast<std::int64_t>(field.value);
        break;
      case 2: {
        TRY(options["preconditions"], text_fields(field.bytes, "uid", "resourceVersion", 2));
        break;
      }
      case 3:
        options["orphanDependents"] = field.value != 0;
        break;
      case 4:
        options["propagationPolicy"] = std::string(field.bytes);
        break;
      case 5:
        options["dryRun"].push_back(std::string(field.bytes));
        break;
      default:
        break;
    }
  }
  return options;
}

// policy/v1 Eviction
Result<Json> eviction(std::string_view bytes) {
  Json object = {{"apiVersion", "policy/v1"}, {"kind", "Eviction"}};
  for (Message message(bytes); !message.at_end();) {
    TRY(const Field field, message.next());
    if (field.number == 1) {
      TRY(object["metadata"], text_fields(field.bytes, "name", "namespace", 3));
    } else if (field.number == 2) {
      TRY(object["deleteOptions"], delete_options(field.bytes));
    }
  }
  return object;
}

}  // namespace

bool is_protobuf(std::string_view body) { return body.starts_with(kMagic); }

Result<Json> decode_protobuf_body(std::string_view body) {
  if (!is_protobuf(body)) return damaged();
  std::string kind;
  std::string_view raw;
  // runtime.Unknown
  for (Message envelope(body.substr(kMagic.size())); !envelope.at_end();) {
    TRY(const Field field, envelope.next());
    if (field.number == 2) raw = field.bytes;
    if (field.number != 1) continue;
    TRY(const Json type, text_fields(field.bytes, "apiVersion", "kind", 2));
    kind = type.value("kind", "");
  }
  auto object = kind == "DeleteOptions" ? delete_options(raw)
                : kind == "Eviction"
                    ? eviction(raw)
                    : Result<Json>(Error{Code::kInvalid,
                                         "this server accepts objects as application/json only"});
  // Text that is not UTF-8 cannot be JSON.
  if (object && object->dump(-1, ' ', false, Json::error_handler_t::replace).find("\xEF\xBF\xBD") !=
                    std::string::npos) {
    return damaged();
  }
  return object;
}

}  // namespace paddle::local
