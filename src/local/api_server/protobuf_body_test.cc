// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/protobuf_body.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::local {
namespace {

using api::Json;

std::string bytes(int number, const std::string& value) {
  return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(value.size()) +
         value;
}
std::string number(int field, char value) { return {static_cast<char>(field << 3), value}; }
std::string envelope(const std::string& version, const std::string& kind, const std::string& raw) {
  return std::string("k8s\0", 4) + bytes(1, bytes(1, version) + bytes(2, kind)) + bytes(2, raw) +
         bytes(3, "") + bytes(4, "");
}

const std::string kOptions =
    number(1, 30) + bytes(2, bytes(1, "uid-1")) + bytes(4, "Background") + bytes(5, "All");
const Json kDecoded = {{"apiVersion", "v1"},
                       {"kind", "DeleteOptions"},
                       {"gracePeriodSeconds", 30},
                       {"preconditions", {{"uid", "uid-1"}}},
                       {"propagationPolicy", "Background"},
                       {"dryRun", {"All"}}};

TEST(ProtobufBody, DeleteOptionsBecomeJson) {
  const auto options = decode_protobuf_body(envelope("v1", "DeleteOptions", kOptions));
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(*options, kDecoded);
}

TEST(ProtobufBody, AnEvictionHasItsPodAndOptions) {
  const auto body = decode_protobuf_body(
      envelope("policy/v1", "Eviction",
               bytes(1, bytes(1, "worker-0") + bytes(3, "default")) + bytes(2, kOptions)));
  ASSERT_TRUE(body) << body.error().message;
  EXPECT_EQ((*body)["metadata"], (Json{{"name", "worker-0"}, {"namespace", "default"}}));
  EXPECT_EQ((*body)["deleteOptions"], kDecoded);
}

TEST(ProtobufBody, OtherKindsAndDamagedBodiesAreRefused) {
  EXPECT_TRUE(decode_protobuf_body(envelope("v1", "ConfigMap", "")).is(Code::kInvalid));
  EXPECT_TRUE(decode_protobuf_body("{}").is(Code::kInvalid));
  EXPECT_TRUE(decode_protobuf_body(envelope("v1", "DeleteOptions", bytes(4, "\xff\xfe")))
                  .is(Code::kInvalid));
  const std::string whole = envelope("v1", "DeleteOptions", kOptions);
  for (std::size_t size = 4; size < whole.size(); ++size) {
    [[maybe_unused]] const auto cut = decode_protobuf_body(whole.substr(0, size));
  }
  EXPECT_TRUE(
      decode_protobuf_body(std::string("k8s\0", 4) + std::string(11, '\xff')).is(Code::kInvalid));
}

}  // namespace
}  // namespace paddle::local
