// SPDX-License-Identifier: Apache-2.0
// Our own validation of every object of the corpus; api_corpus_test compares it with the server.

#include <algorithm>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/crd/validate.h"
#include "api/paddle_job.h"
#include "api/sample_job.h"
#include "api/sample_set.h"
#include "test/integration/api_corpus.h"

namespace paddle::test {
namespace {

using api::dump_json;
using api::Json;
using api::Kind;

TEST(ApiCorpus, HasEnoughCases) {
  const auto corpus = read_corpus();
  const auto good = std::count_if(corpus.begin(), corpus.end(), [](auto& c) { return c.good; });
  EXPECT_GE(corpus.size(), 150u);
  EXPECT_GE(good, 50);
  EXPECT_GE(static_cast<std::ptrdiff_t>(corpus.size()) - good, 50);
}

TEST(ApiCorpus, OurValidationAcceptsAndRefusesAsExpectedAndNamesThePath) {
  for (const CorpusCase& one : read_corpus()) {
    const auto problems =
        api::validate(one.kind, *one.object, {.old = one.old.get(), .status = one.status});
    const auto first = api::first_of(problems);
    const std::string said = first ? "nothing" : first.error().message;
    EXPECT_EQ(problems.empty(), one.good) << one.name << ": " << said;
    EXPECT_EQ(problems.empty() ? "" : problems[0].path, one.at) << one.name << ": " << said;
  }
}

Result<Json> round_trip(Kind kind, const Json& object) {
  switch (kind) {
    case Kind::kPaddleJob: {
      TRY(const auto job, api::decode_paddle_job(object));
      return encode(job);
    }
    case Kind::kSampleSet: {
      TRY(const auto set, api::decode_sample_set(object));
      return encode(set);
    }
    case Kind::kSampleJob:
      break;
  }
  TRY(const auto job, api::decode_sample_job(object));
  return encode(job);
}

// Valid objects must decode; invalid ones need not; what decodes survives a round trip byte for
// byte.
TEST(ApiCorpus, WhatDecodesEncodesToTheSameText) {
  for (const CorpusCase& one : read_corpus()) {
    const auto again = round_trip(one.kind, *one.object);
    if (again) {
      EXPECT_EQ(dump_json(*again), dump_json(*one.object)) << one.name;
    } else {
      EXPECT_FALSE(one.good) << one.name << ": " << again.error().message;
      EXPECT_TRUE(again.is(Code::kInvalid)) << one.name;
    }
  }
}

// An unknown key at every level of every valid object survives a round trip.
void sprinkle(Json& value) {
  if (value.is_object()) {
    for (auto& part : value) sprinkle(part);
    value["x-unknown"] = {{"deep", {1, "two", nullptr}}};
  } else if (value.is_array()) {
    for (auto& part : value) sprinkle(part);
  }
}

TEST(ApiCorpus, UnknownFieldsAtEveryLevelSurviveARoundTrip) {
  for (const CorpusCase& one : read_corpus()) {
    if (!one.good) continue;
    Json object = *one.object;
    sprinkle(object["spec"]);
    if (object.contains("status")) sprinkle(object["status"]);
    object["metadata"]["managedFields"] = {{{"manager", "kubectl"}}};
    const auto again = round_trip(one.kind, object);
    ASSERT_TRUE(again) << one.name << ": " << again.error().message;
    EXPECT_EQ(dump_json(*again), dump_json(object)) << one.name;
  }
}

// Any value in any place of a full object survives a round trip or is refused.
TEST(ApiCorpus, AnyValueInAnyPlaceSurvivesARoundTripOrIsRefused) {
  const Json odd[] = {Json(),        Json(false),   Json(0),
                      Json(2.0),     Json(1e308),   Json(""),
                      Json("x"),     Json::array(), Json::array({Json()}),
                      Json::object()};
  int tried = 0;
  for (const CorpusCase& one : read_corpus()) {
    if (!one.good || (one.name.find("in full") == std::string::npos && one.name != "every field"))
      continue;
    const Json flat = one.object->flatten();
    std::set<std::string> places;
    for (const auto& [pointer, ignored] : flat.items()) {
      for (Json::json_pointer at(pointer); !at.empty(); at.pop_back()) {
        if (!places.insert(at.to_string()).second) break;
        for (const Json& value : odd) {
          Json object = *one.object;
          object[at] = value;
          const auto again = round_trip(one.kind, object);
          ++tried;
          if (!again) continue;
          EXPECT_EQ(dump_json(*again), dump_json(object)) << one.name << at << value;
        }
      }
    }
  }
  EXPECT_GT(tried, 1000);
}

TEST(ApiCorpus, UnknownFieldsAreDroppedWhenNotStrict) {
  for (const CorpusCase& one : read_corpus()) {
    if (!one.good) continue;
    Json object = *one.object;
    object["spec"]["stranger"] = 1;
    const api::Write lenient{.old = one.old.get(), .status = one.status, .strict = false};
    EXPECT_TRUE(api::validate(one.kind, object, lenient).empty()) << one.name;
    EXPECT_FALSE(api::validate(one.kind, object, {.old = one.old.get()}).empty()) << one.name;
    EXPECT_FALSE(api::normalized(one.kind, object)["spec"].contains("stranger"));
  }
}

}  // namespace
}  // namespace paddle::test
