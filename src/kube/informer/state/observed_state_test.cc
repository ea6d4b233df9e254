// SPDX-License-Identifier: Apache-2.0
#include "kube/informer/state/observed_state.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace paddle::kube {
namespace {

const ObjectKey kKey{"ns", "a"};

ObjectState state(const std::string& uid, Version version, const ObjectKey& key = kKey) {
  return {.key = key,
          .uid = uid,
          .version = version,
          .value = std::make_shared<const std::string>(uid + "@" + std::to_string(version))};
}

std::string text(const Value& value) {
  return value ? *std::static_pointer_cast<const std::string>(value) : "-";
}

std::string text(const Changes& changes) {
  std::string all;
  for (const auto& change : changes) {
    all += (all.empty() ? "" : " ") + text(change.before) + ">" + text(change.after);
  }
  return all;
}

std::string shown(const ObservedState& view) { return text(view.find(kKey)); }

ObservedState listed(Version version, std::vector<ObjectState> items = {}) {
  ObservedState view;
  view.begin_list();
  for (auto& item : items) view.list_item(std::move(item));
  view.end_list(version);
  return view;
}

TEST(ObservedState, FollowsTheStream) {
  ObservedState view = listed(10);
  EXPECT_EQ(text(view.observe(state("u", 11))), "->u@11");
  EXPECT_EQ(text(view.observe(state("u", 12))), "u@11>u@12");
  EXPECT_EQ(text(view.observe_deleted(kKey, 13)), "u@12>-");
  EXPECT_EQ(view.size(), 0u);
}

TEST(ObservedState, AListReportsDeletionsThatTheStreamMissed) {
  ObservedState view = listed(10, {state("u", 5), state("v", 6, {"ns", "b"})});
  view.begin_list();
  EXPECT_TRUE(view.list_known(kKey, "u", 5));
  EXPECT_EQ(text(view.end_list(20)), "v@6>-");
  EXPECT_EQ(view.size(), 1u);
}

TEST(ObservedState, AnUnfinishedListHasNoEffect) {
  ObservedState view = listed(10, {state("u", 5)});
  view.begin_list();
  view.list_item(state("w", 15));
  view.begin_list();
  EXPECT_TRUE(view.list_known(kKey, "u", 5));
  EXPECT_EQ(text(view.end_list(20)), "");
  EXPECT_EQ(shown(view), "u@5");
}

TEST(ObservedState, AnObjectOfTheSameNameWithAnotherUidIsAnotherObject) {
  ObservedState view = listed(10, {state("u", 5)});
  view.begin_list();
  EXPECT_FALSE(view.list_known(kKey, "v", 15));
  view.list_item(state("v", 15));
  EXPECT_EQ(text(view.end_list(20)), "u@5>- ->v@15");
}

TEST(ObservedState, ShowsAnOwnWriteAtOnceAndReportsItOnce) {
  ObservedState view = listed(10, {state("u", 5)});
  EXPECT_EQ(text(view.acknowledge(state("u", 12))), "u@5>u@12");
  EXPECT_EQ(view.pending(), 1u);
  EXPECT_EQ(text(view.observe(state("u", 11))), "") << "an older event does not undo it";
  EXPECT_EQ(shown(view), "u@12");
  EXPECT_EQ(text(view.observe(state("u", 12))), "") << "the stream has caught up";
  EXPECT_EQ(view.pending(), 0u);
  EXPECT_EQ(text(view.observe(state("u", 13))), "u@12>u@13");
}

TEST(ObservedState, ALateAcknowledgementDoesNotBringBackARemovedObject) {
  ObservedState view = listed(10);
  view.observe(state("u", 11));
  view.observe_deleted(kKey, 12);
  EXPECT_EQ(text(view.acknowledge(state("u", 11))), "");
  EXPECT_EQ(shown(view), "-");
}

TEST(ObservedState, AnOwnCreateSurvivesAListTakenBeforeIt) {
  ObservedState view = listed(10);
  view.begin_list();
  view.acknowledge(state("u", 15));
  EXPECT_EQ(text(view.end_list(14)), "");
  EXPECT_EQ(shown(view), "u@15");
  view.begin_list();
  EXPECT_EQ(text(view.end_list(16)), "u@15>-") << "a list after it says that it is gone";
}

TEST(ObservedState, AnOwnWriteThatTheSelectorDoesNotCoverGoesWithTheNextProgress) {
  ObservedState view = listed(10);
  view.acknowledge(state("u", 12));
  EXPECT_EQ(text(view.advance(12)), "u@12>-");
  view.acknowledge(state("u", 14));
  EXPECT_EQ(text(view.observe_deleted(kKey, 14)), "u@14>-") << "it left the selection by our write";
}

TEST(ObservedState, AnOwnDeletionHidesUntilTheStreamShowsTheEnd) {
  ObservedState view = listed(10, {state("u", 5)});
  EXPECT_EQ(text(view.acknowledge_deleted(kKey, "u", 5)), "u@5>-");
  EXPECT_EQ(text(view.advance(20)), "") << "other news do not bring it back";
  EXPECT_EQ(text(view.observe_deleted(kKey, 21)), "");
  EXPECT_EQ(view.pending(), 0u);
  EXPECT_EQ(text(view.observe(state("v", 22))), "->v@22");
}

TEST(ObservedState, AnOwnDeletionOfSomethingTheStreamHasNotShownHidesItsCreation) {
  ObservedState view = listed(10);
  view.acknowledge(state("u", 12));
  EXPECT_EQ(text(view.acknowledge_deleted(kKey, "u", 12)), "u@12>-");
  EXPECT_EQ(text(view.observe(state("u", 12))), "");
  EXPECT_EQ(text(view.observe_deleted(kKey, 13)), "");
  EXPECT_EQ(view.pending(), 0u);
}

TEST(ObservedState, AnObjectHeldByFinalizersComesBackAsDeleting) {
  ObservedState view = listed(10, {state("u", 5)});
  view.acknowledge_deleted(kKey, "u", 5);
  auto ending = state("u", 11);
  ending.deleting = true;
  EXPECT_EQ(text(view.observe(ending)), "->u@11");
  EXPECT_EQ(text(view.acknowledge_deleted(kKey, "u", 11)), "") << "its end is still to come";
  EXPECT_EQ(shown(view), "u@11");
}

TEST(ObservedState, AnOwnDeletionDoesNotAffectALaterObjectOfTheSameName) {
  ObservedState view = listed(10, {state("v", 9)});
  EXPECT_EQ(text(view.acknowledge_deleted(kKey, "u", 5)), "");
  EXPECT_EQ(shown(view), "v@9");
}

TEST(ObservedState, AnOwnCreateAfterAnOwnDeletionIsShown) {
  ObservedState view = listed(10, {state("u", 5)});
  view.acknowledge_deleted(kKey, "u", 5);
  EXPECT_EQ(text(view.acknowledge(state("v", 13))), "->v@13");
  EXPECT_EQ(text(view.observe_deleted(kKey, 12)), "");
  EXPECT_EQ(text(view.observe(state("v", 13))), "");
  EXPECT_EQ(shown(view), "v@13");
}

TEST(ObservedState, AListBegunAfterAnOwnDeletionEndsTheHiding) {
  ObservedState view = listed(10, {state("u", 5)});
  view.begin_list();
  view.acknowledge_deleted(kKey, "u", 5);
  ASSERT_TRUE(view.list_known(kKey, "u", 5));
  EXPECT_EQ(text(view.end_list(11)), "") << "that list may be older than the deletion";
  view.begin_list();
  ASSERT_TRUE(view.list_known(kKey, "u", 5));
  EXPECT_EQ(text(view.end_list(12)), "->u@5") << "this one is not: it was not deleted after all";
}

TEST(ObservedState, DuplicatesChangeNothing) {
  ObservedState view = listed(10);
  view.observe(state("u", 11));
  EXPECT_EQ(text(view.observe(state("u", 11))), "");
  view.observe_deleted(kKey, 12);
  EXPECT_EQ(text(view.observe(state("u", 11))), "");
  EXPECT_EQ(text(view.observe_deleted(kKey, 12)), "");
}

TEST(ObservedState, AfterARestoreOfTheServerOnlyTheListCounts) {
  ObservedState view = listed(1000, {state("u", 900)});
  view.acknowledge(state("v", 1001, {"ns", "b"}));
  view.begin_list();
  view.list_item(state("u", 40));
  view.end_list(50);
  EXPECT_EQ(view.size(), 1u);
  EXPECT_EQ(shown(view), "u@40");
  EXPECT_EQ(text(view.observe(state("u", 51))), "u@40>u@51");
}

TEST(ObservedState, WithoutComparableVersionsTheStreamDecides) {
  ObservedState view = listed(kNotComparable);
  EXPECT_EQ(text(view.observe(state("u", kNotComparable))), "->u@0");
  EXPECT_EQ(text(view.acknowledge(state("u", kNotComparable))), "");
  EXPECT_EQ(text(view.acknowledge(state("u", 7))), "");
  EXPECT_EQ(text(view.acknowledge_deleted(kKey, "u", 7)), "");
  EXPECT_EQ(text(view.observe_deleted(kKey, kNotComparable)), "u@0>-");
}

TEST(ObservedState, AnUnreadableStateRemovesTheValueAndIsRemembered) {
  ObservedState view = listed(10, {state("u", 5)});
  EXPECT_EQ(text(view.observe({.key = kKey, .uid = "u", .version = 11})), "u@5>-");
  EXPECT_TRUE(view.is_unreadable(kKey));
  EXPECT_EQ(view.size(), 0u);
  EXPECT_EQ(text(view.observe(state("u", 12))), "->u@12");
  EXPECT_FALSE(view.is_unreadable(kKey));
}

// A server with a history, a stream that lags behind it, and a writer whose acknowledgements arrive
// at any later time. Held to:
//   - what is shown of a key is a state that the server had at or after both the stream's position
//     and the last acknowledged write to that key: nothing older is ever shown;
//   - replaying the reported changes gives the view;
//   - when the stream has caught up, the view is the server.
class Model {
 public:
  explicit Model(std::uint64_t seed) : engine_(seed) { relist(); }

  void step() {
    switch (draw(10)) {
      case 0:
      case 1:
      case 2:
        write(false);
        break;
      case 3:
      case 4:
      case 5:
        write(true);
        break;
      case 6:
      case 7:
        deliver();
        break;
      case 8:
        acknowledge();
        break;
      case 9:
        if (draw(8) == 0)
          relist();
        else if (draw(2) == 0)
          bookmark();
        else
          repeat();
        break;
    }
  }
  void catch_up() {
    while (position_ < version_) deliver();
  }
  void expect_nothing_old() {
    for (const auto& [key, past] : history_) {
      const Version since = std::max(position_, acknowledged_[key]);
      EXPECT_TRUE(was_at_or_after(past, text(state_.find(key)), since))
          << key.name << " shows " << text(state_.find(key)) << " at " << since;
    }
  }
  void expect_replay_is_view() {
    std::map<ObjectKey, std::string> now;
    state_.each([&](const ObjectKey& key, const Value& value) { now[key] = text(value); });
    EXPECT_EQ(replayed_, now);
  }
  void expect_view_is_server() {
    for (const auto& [key, past] : history_) EXPECT_EQ(text(state_.find(key)), past.back().second);
    EXPECT_EQ(state_.pending(), 0u);
  }

 private:
  using Past = std::vector<std::pair<Version, std::string>>;  // "-" for absent
  struct Event {
    ObjectKey key;
    Version version;
    std::optional<ObjectState> after;
  };
  struct Ack {
    ObjectKey key{};
    std::optional<ObjectState> after{};
    std::string uid{};
    Version deleted = 0;  // the version that was deleted
    Version at = 0;       // when it happened
  };

  size_t draw(size_t limit) { return engine_() % limit; }

  static bool was_at_or_after(const Past& past, const std::string& what, Version since) {
    for (size_t i = 0; i < past.size(); ++i) {
      const bool lasted = i + 1 == past.size() || past[i + 1].first > since;
      if (past[i].second == what && lasted) return true;
    }
    return false;
  }

  void write(bool ours) {
    const ObjectKey key{"ns", std::string(1, static_cast<char>('a' + draw(4)))};
    auto& current = server_[key];
    auto& past = history_[key];
    if (past.empty()) past.push_back({0, "-"});
    ++version_;
    Ack ack{.key = key, .at = version_};
    if (current && draw(3) == 0) {
      ack.uid = current->uid;
      ack.deleted = current->version;
      current.reset();
    } else {
      current = state(current ? current->uid : "u" + std::to_string(version_), version_, key);
      ack.after = current;
    }
    past.push_back({version_, current ? text(current->value) : "-"});
    events_.push_back({key, version_, current});
    if (ours) acks_.push_back(ack);
  }
  void deliver() {
    const auto next = std::ranges::find_if(events_, [&](auto& e) { return e.version > position_; });
    if (next == events_.end()) return;
    position_ = next->version;
    play(*next);
  }
  void repeat() {
    if (position_ == 0 || events_.empty()) return;
    const Event& old = events_[draw(events_.size())];
    if (old.version <= position_) play(old);
  }
  void play(const Event& event) {
    take(event.after ? state_.observe(*event.after)
                     : state_.observe_deleted(event.key, event.version));
  }
  void bookmark() {
    const auto next = std::ranges::find_if(events_, [&](auto& e) { return e.version > position_; });
    if (next == events_.end()) take(state_.advance(version_));
  }
  void acknowledge() {
    if (acks_.empty()) return;
    const size_t which = draw(acks_.size());
    const Ack ack = acks_[which];
    acks_.erase(acks_.begin() + static_cast<std::ptrdiff_t>(which));
    acknowledged_[ack.key] = std::max(acknowledged_[ack.key], ack.at);
    take(ack.after ? state_.acknowledge(*ack.after)
                   : state_.acknowledge_deleted(ack.key, ack.uid, ack.deleted));
  }
  // From the server's cache, a list is of any time since the stream's position.
  void relist() {
    state_.begin_list();
    const bool most_recent = draw(2) == 0;
    const Version at =
        most_recent ? version_ : position_ + draw(static_cast<size_t>(version_ - position_) + 1);
    const auto snapshot = server_at(at);
    for (size_t more = draw(4); more > 0; --more) write(draw(2) == 0);
    for (size_t more = draw(3); more > 0; --more) acknowledge();
    for (const auto& [key, current] : snapshot) {
      if (current && !state_.list_known(key, current->uid, current->version)) {
        state_.list_item(*current);
      }
    }
    take(state_.end_list(at == 0 ? 1 : at, most_recent));
    position_ = at;
  }
  std::map<ObjectKey, std::optional<ObjectState>> server_at(Version at) const {
    std::map<ObjectKey, std::optional<ObjectState>> then;
    for (const Event& event : events_) {
      if (event.version <= at) then[event.key] = event.after;
    }
    return then;
  }
  void take(const Changes& changes) {
    for (const auto& change : changes) {
      const auto found = replayed_.find(change.key);
      EXPECT_EQ(found == replayed_.end() ? "-" : found->second, text(change.before));
      if (change.after)
        replayed_[change.key] = text(change.after);
      else
        replayed_.erase(change.key);
    }
  }

  std::mt19937_64 engine_;
  ObservedState state_{};
  std::map<ObjectKey, std::optional<ObjectState>> server_{};
  std::map<ObjectKey, Past> history_{};
  std::vector<Event> events_{};
  std::vector<Ack> acks_{};
  std::map<ObjectKey, Version> acknowledged_{};
  std::map<ObjectKey, std::string> replayed_{};
  Version version_ = 1;
  Version position_ = 0;
};

TEST(ObservedState, AListFromTheServersCacheDoesNotBringBackADeletedObject) {
  ObservedState view = listed(10, {state("u", 5)});
  EXPECT_EQ(text(view.acknowledge_deleted(kKey, "u", 5)), "u@5>-");
  view.begin_list();
  EXPECT_TRUE(view.list_known(kKey, "u", 5));
  EXPECT_EQ(text(view.end_list(11, false)), "") << "the cache may be older than the deletion";
  EXPECT_EQ(shown(view), "-");
  EXPECT_EQ(text(view.observe_deleted(kKey, 12)), "");
  EXPECT_EQ(view.pending(), 0u);
}

TEST(ObservedState, NeverShowsAnythingOlderThanTheStreamOrAnAcknowledgedWrite) {
  for (std::uint64_t seed = 1; seed <= 150 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Model model(seed);
    for (int i = 0; i < 300 && !testing::Test::HasFailure(); ++i) {
      model.step();
      model.expect_nothing_old();
      model.expect_replay_is_view();
    }
    model.catch_up();
    model.expect_view_is_server();
    model.expect_replay_is_view();
  }
}

}  // namespace
}  // namespace paddle::kube
