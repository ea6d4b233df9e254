// SPDX-License-Identifier: Apache-2.0
//
// Withholding and restarts; node_engine_test tests when a generation is offered.

#include "engine/samplefs/node/generation_offer.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/scratch.h"
#include "samplefs/index_builder.h"

namespace paddle::engine::samplefs {
namespace {

namespace data = ::paddle::samplefs;

class GenerationOfferTest : public testing::Test {
 protected:
  GenerationOfferTest() {
    for (const char* each : {"session", "state", "store"}) {
      std::filesystem::create_directory(directory_ + "/" + each);
    }
    data::IndexBuilder builder;
    EXPECT_TRUE(builder.add({.path = "a", .size = 1, .etag = "e", .modified = {}}));
    EXPECT_TRUE(builder.write(directory_ + "/state/index.4", 4));
    index_ = *data::Index::open(directory_ + "/state/index.4");
  }
  GenerationOffer make() const {
    return {directory_ + "/session", directory_ + "/state", {directory_ + "/store"}, clock_};
  }
  std::optional<sealed::Offer> found() const {
    std::ifstream file(directory_ + "/session/" + sealed::kOfferFile);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const auto read = sealed::offer_from_text(text);
    return read ? std::optional(*read) : std::nullopt;
  }
  void write_view(const sealed::ViewState& state) const {
    std::ofstream(directory_ + "/session/" + sealed::kViewFile) << to_text(state);
  }

  const Scratch scratch_{};
  const std::string directory_ = scratch_.path();
  ManualClock clock_{};
  std::shared_ptr<const data::Index> index_{};
};

TEST_F(GenerationOfferTest, NamesDirectoriesByTheirIdentity) {
  GenerationOffer offer = make();
  EXPECT_FALSE(offer.offers(*index_));
  offer.offer(*index_, "index.4", offer.round());
  EXPECT_TRUE(offer.offers(*index_));
  ASSERT_TRUE(found());
  EXPECT_EQ(found()->generation, 4u);
  EXPECT_EQ(found()->index, "index.4");
  ASSERT_EQ(found()->tiers.size(), 1u);
  EXPECT_NE(found()->tiers[0], found()->state);
  offer.withdraw();
  EXPECT_FALSE(found());
  EXPECT_FALSE(offer.offers(*index_));
}

TEST_F(GenerationOfferTest, NothingIsOfferedOnWhatWasKnownBeforeItWasWithheld) {
  GenerationOffer offer = make();
  const auto before = offer.round();
  {
    const GenerationOffer::Withheld withheld(offer);
    offer.offer(*index_, "index.4", offer.round());
    EXPECT_FALSE(found()) << "withheld";
    EXPECT_TRUE(withheld.await_node(std::chrono::milliseconds{0})) << "nothing was offered";
  }
  offer.offer(*index_, "index.4", before);
  EXPECT_FALSE(found()) << "it may be complete no more";
  offer.offer(*index_, "index.4", offer.round());
  EXPECT_TRUE(found());
}

TEST_F(GenerationOfferTest, WaitsWhileTheNodeShowsWhatWasWithdrawn) {
  GenerationOffer offer = make();
  offer.offer(*index_, "index.4", offer.round());
  const std::uint64_t number = found()->number;
  write_view({.sealed = true, .number = number});
  const GenerationOffer::Withheld withheld(offer);
  EXPECT_FALSE(withheld.await_node(std::chrono::milliseconds{20}));
  write_view({.number = number, .reason = "withdrawn"});
  EXPECT_TRUE(withheld.await_node(std::chrono::milliseconds{20}));
}

TEST_F(GenerationOfferTest, TheNextProcessKeepsTheOfferAndItsNumberGrows) {
  std::uint64_t first = 0;
  {
    GenerationOffer offer = make();
    offer.offer(*index_, "index.4", offer.round());
    first = found()->number;
  }
  clock_.step_wall(std::chrono::hours{-100});
  GenerationOffer next = make();
  EXPECT_TRUE(next.offers(*index_));
  next.offer(*index_, "index.4", next.round());
  EXPECT_EQ(found()->number, first);
  next.withdraw();
  next.offer(*index_, "index.4", next.round());
  EXPECT_GT(found()->number, first);
}

TEST_F(GenerationOfferTest, WhatIsNoOfferIsRemoved) {
  const std::string file = directory_ + "/session/" + sealed::kOfferFile;
  std::ofstream(file) << "offer1 1";
  const GenerationOffer offer = make();
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_FALSE(offer.view());
}

}  // namespace
}  // namespace paddle::engine::samplefs
