// SPDX-License-Identifier: Apache-2.0
#include "net/values/http.h"

#include <gtest/gtest.h>

namespace paddle::net {
namespace {

TEST(HttpStatus, HasOneCodeInGeneral) {
  const std::pair<int, Code> table[] = {
      {302, Code::kInvalid},     {400, Code::kInvalid},    {401, Code::kUnauthorized},
      {403, Code::kForbidden},   {404, Code::kNotFound},   {408, Code::kInvalid},
      {409, Code::kConflict},    {410, Code::kExpired},    {412, Code::kConflict},
      {422, Code::kInvalid},     {429, Code::kThrottled},  {500, Code::kUnavailable},
      {503, Code::kUnavailable}, {504, Code::kUnavailable}};
  for (const auto& [status, code] : table) EXPECT_EQ(code_of(status), code) << status;
}

}  // namespace
}  // namespace paddle::net
