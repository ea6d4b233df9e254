// SPDX-License-Identifier: Apache-2.0
#include "kube/wire/status.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::kube {
namespace {

using namespace std::chrono_literals;

std::string status(const std::string& fields) { return R"({"kind":"Status",)" + fields + "}"; }

TEST(Status, EveryHttpStatusHasItsCode) {
  const std::pair<int, Code> table[] = {
      {400, Code::kInvalid},     {401, Code::kUnauthorized}, {403, Code::kForbidden},
      {404, Code::kNotFound},    {405, Code::kInvalid},      {409, Code::kConflict},
      {410, Code::kExpired},     {412, Code::kConflict},     {413, Code::kInvalid},
      {422, Code::kInvalid},     {429, Code::kThrottled},    {500, Code::kInternal},
      {502, Code::kUnavailable}, {503, Code::kUnavailable},  {504, Code::kUnavailable},
      {302, Code::kInvalid},     {0, Code::kInternal}};
  for (const auto& [http, code] : table) EXPECT_EQ(error_of_answer(http, "").code, code) << http;
}

TEST(Status, TheReasonDistinguishesTwoKindsOf409And500) {
  EXPECT_EQ(error_of_answer(409, status(R"("reason":"AlreadyExists")")).code, Code::kAlreadyExists);
  EXPECT_EQ(error_of_answer(409, status(R"("reason":"Conflict")")).code, Code::kConflict);
  EXPECT_EQ(error_of_answer(500, status(R"("reason":"ServerTimeout")")).code, Code::kUnavailable);
  EXPECT_EQ(error_of_answer(500, "", 1s).code, Code::kUnavailable);
}

TEST(Status, AVersionThatTheServersCacheHasNotReachedIsExpired) {
  const std::string fields = R"("reason":"Timeout","message":"Too large resource version: 9",)";
  const std::string details =
      R"("details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"x"}]})";
  EXPECT_EQ(error_of_answer(504, status(fields + details)).code, Code::kExpired);
  EXPECT_EQ(error_of_answer(504, status(fields + R"("details":{"causes":[7]})")).code,
            Code::kUnavailable);
}

TEST(Status, CarriesTheServersMessageAndPause) {
  const auto error =
      error_of_answer(429, status(R"("message":"slow down","details":{"retryAfterSeconds":3})"));
  EXPECT_EQ(error.message, "slow down");
  EXPECT_EQ(error.retry_after, 3s);
  EXPECT_EQ(error_of_answer(429, status(R"("details":{"retryAfterSeconds":3})"), 9s).retry_after,
            9s);
}

TEST(Status, AForeignBodyIsQuotedShortAndPrintable) {
  EXPECT_EQ(error_of_answer(502, "<html>\r\n\x01 bad\ngateway</html>").message,
            "the server answered 502: <html> bad gateway</html>");
  EXPECT_EQ(error_of_answer(502, std::string(5000, 'x')).message.size(), 25u + 200 + 3);
}

TEST(Status, AnInvalidStatusDoesNoHarm) {
  const auto error = error_of_answer(
      500, status(R"("message":7,"reason":[],"code":1e99,"details":{"retryAfterSeconds":-5})"));
  EXPECT_EQ(error.code, Code::kInternal);
  EXPECT_EQ(error.retry_after, std::nullopt);
  EXPECT_EQ(error_of_status(api::Json::parse("[1]")).code, Code::kInternal);
}

}  // namespace
}  // namespace paddle::kube
