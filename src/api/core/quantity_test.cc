// SPDX-License-Identifier: Apache-2.0
#include "api/core/quantity.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::api {
namespace {

Quantity of(std::string_view text) {
  const auto parsed = Quantity::parse(text);
  EXPECT_TRUE(parsed) << text << ": " << parsed.error().message;
  return parsed ? *parsed : Quantity();
}

TEST(Quantity, IsWrittenAsTheApiServerWritesIt) {
  const std::pair<const char*, const char*> cases[] = {
      {"0", "0"},           {"1", "1"},           {"500m", "500m"},     {"0.5", "500m"},
      {"1500m", "1500m"},   {"1000m", "1"},       {"1000", "1k"},       {"1500", "1500"},
      {"1024Ki", "1Mi"},    {"1025Ki", "1025Ki"}, {"1.5Gi", "1536Mi"},  {"0.5Ki", "512"},
      {"0.1Ki", "102400m"}, {"100M", "100M"},     {"1e3", "1e3"},       {"12e2", "1200"},
      {"1E3", "1e3"},       {"1E", "1E"},         {"2.5e-1", "250e-3"}, {".5", "500m"},
      {"5.", "5"},          {"+2", "2"},          {"-2Gi", "-2Gi"},     {"7Ei", "7Ei"},
      {"100n", "100n"},     {"3u", "3u"},         {"00012", "12"},      {"1e0", "1"}};
  for (const auto& [text, canonical] : cases) {
    EXPECT_EQ(of(text).text(), canonical) << text;
  }
}

TEST(Quantity, FinerThanABillionthRoundsUp) {
  EXPECT_EQ(of("0.0000000001").text(), "1n");
  EXPECT_EQ(of("1.0000000000000000000000001").text(), "1000000001n");
  EXPECT_EQ(of("1e-100"), of("1n"));
  EXPECT_EQ(of("0e-100"), of("0"));
}

TEST(Quantity, RefusesInvalidText) {
  for (const char* text :
       {"",    " ",   "1 ", " 1", "m",   "-",     ".",    "1KI",   "1ki", "1K",
        "1mi", "one", "1e", "e3", "1e+", "1.2.3", "0x10", "1e3Ki", "1,5", "--1"}) {
    EXPECT_FALSE(Quantity::parse(text)) << text;
  }
  EXPECT_FALSE(Quantity::parse(std::string(1000, '1')));
}

TEST(Quantity, JsonNumbersAreQuantitiesToo) {
  EXPECT_EQ(Quantity::from_json(Json(2))->text(), "2");
  EXPECT_EQ(Quantity::from_json(Json(0.25))->text(), "250m");
  EXPECT_EQ(Quantity::from_json(Json("1Gi"))->text(), "1Gi");
  EXPECT_FALSE(Quantity::from_json(Json(true)));
}

TEST(Quantity, AddsAndMultipliesExactly) {
  Quantity sum;
  for (int i = 0; i < 3; ++i) sum += of("100m");
  EXPECT_EQ(sum, of("0.3"));
  EXPECT_EQ(of("300m").times(2).text(), "600m");
  EXPECT_EQ(of("1500Mi").times(2).text(), "3000Mi");
  Quantity memory = of("1Gi");
  memory += of("1M");
  EXPECT_EQ(memory.text(), "1074741824");
  Quantity kept;
  kept += of("512Mi");
  kept += of("512Mi");
  EXPECT_EQ(kept.text(), "1Gi");
}

TEST(Quantity, ComparesByValueNotBySpelling) {
  EXPECT_EQ(of("1"), of("1000m"));
  EXPECT_LT(of("1023Mi"), of("1Gi"));
  EXPECT_GT(of("1Gi"), of("1G"));
  EXPECT_LT(of("-1"), of("0"));
}

TEST(Quantity, StaysWithinItsBounds) {
  const Quantity most = of("9223372036854775807");
  EXPECT_EQ(of("8Ei"), most);
  EXPECT_EQ(of("9e99"), most);
  EXPECT_LT(of("9223372036854775806"), most);
  Quantity sum = most;
  sum += most;
  EXPECT_EQ(sum, most);
  EXPECT_EQ(most.times(1000), most);
  EXPECT_LT(most.times(-1000), of("-9223372036854775806"));
  EXPECT_EQ(most.times(0), of("0"));
}

std::string requests(const char* spec) {
  const auto sum = requests_of_pod(Json::parse(spec));
  return sum ? encode(*sum).dump() : sum.error().message;
}

TEST(PodRequests, ALimitWithoutARequestIsARequest) {
  EXPECT_EQ(requests(R"({"containers":[
      {"resources":{"requests":{"cpu":"200m"},"limits":{"cpu":1,"nvidia.com/gpu":"2"}}},
      {"resources":{"limits":{"cpu":"300m","memory":"1Gi"}}}, {}]})"),
            R"({"cpu":"500m","memory":"1Gi","nvidia.com/gpu":"2"})");
}

TEST(PodRequests, TheGreatestInitContainerCountsAndSidecarsAddToAll) {
  EXPECT_EQ(requests(R"({"overhead":{"cpu":"10m"},"initContainers":[
      {"resources":{"requests":{"cpu":"2"}}},
      {"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},
      {"resources":{"requests":{"cpu":"2500m","memory":"1Gi"}}}],
      "containers":[{"resources":{"requests":{"cpu":"1","memory":"2Gi"}}}]})"),
            R"({"cpu":"3510m","memory":"2Gi"})");
}

TEST(PodRequests, InvalidTemplatesNeverThrow) {
  EXPECT_EQ(requests("{}"), "{}");
  EXPECT_EQ(requests(R"({"containers":{"a":1},"initContainers":"no"})"), "{}");
  EXPECT_EQ(requests(R"({"containers":["x",{"resources":[1]}]})"), "{}");
  EXPECT_NE(requests(R"({"containers":[{"resources":{"requests":{"cpu":"much"}}}]})").find("cpu"),
            std::string::npos);
}

}  // namespace
}  // namespace paddle::api
