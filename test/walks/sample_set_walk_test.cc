// SPDX-License-Identifier: Apache-2.0
//
// Random walks over the specs of SampleSets (walk.h), with volumes that are bound and runtimes that
// sync and warm up.

#include <memory>
#include <optional>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "base/base64.h"
#include "base/scratch.h"
#include "controllers/sample_set/reconciler.h"
#include "engine/juicefs/manifests.h"
#include "engine/samplefs/manifests.h"
#include "engine/samplefs/volumes.h"
#include "test/walks/embedded_cluster.h"
#include "test/walks/sample_environment.h"
#include "test/walks/spec_editor.h"
#include "test/walks/stepped_controller.h"
#include "test/walks/walk.h"

namespace paddle::walks {
namespace {

using api::Json;
using kube::ObjectKey;
namespace kinds = kube::resources;
namespace sample_set = controllers::sample_set;
using std::chrono::seconds;

const ObjectKey kSet{"train", "imagenet"};
constexpr int kNodes = 4;
// The mark of a template is a hash, also of the set's uid.
const Json::json_pointer kTemplateNotes{"/spec/template/metadata/annotations"};
constexpr const char* kTemplateMark = "batch.paddlepaddle.org/template";

class SetCluster {
 public:
  SetCluster(std::uint64_t seed, Defect defect, Pace pace = Pace::kUsual)
      : server_(scratch_.path(), clock_, seed, pace), cluster_(server_) {
    // That of the volumes' Secrets is made by the installation.
    for (const std::string& ns : {kSet.ns, engine::RuntimeOptions{}.volume_secrets_namespace}) {
      make_object(cluster_, kinds::kNamespaces, {{"metadata", {{"name", ns}}}});
    }
    for (int i = 0; i < kNodes; ++i) {
      make_object(cluster_, kinds::kNodes,
                  {{"metadata", {{"name", "node-" + std::to_string(i)}}},
                   {"status",
                    {{"conditions", Json::array({Json{{"type", "Ready"}, {"status", "True"}}})}}}});
    }
    for (const char* name : {"keys", "other-keys"}) {
      make_object(cluster_, kinds::kSecrets,
                  {{"metadata", {{"namespace", kSet.ns}, {"name", name}}},
                   {"data",
                    {{"metaurl", base64_encode("redis://redis:6379/1")},
                     {"name", base64_encode("vol")},
                     {"storage", base64_encode("s3")},
                     {"bucket", base64_encode("https://s3.example.org/b")},
                     {"access-key", base64_encode(name)},
                     {"secret-key", base64_encode("s")}}}});
    }
    options_ = {
        .config = {.engines = {std::make_shared<engine::samplefs::SamplefsManifestBuilder>(),
                               std::make_shared<engine::juicefs::JuicefsManifestBuilder>()},
                   .runtime = {.image = "paddle:1"},
                   .built_in_drivers = {engine::samplefs::kDriver, engine::juicefs::kDriver},
                   .polls_in_passes = true},
        .polls = runtimes_.polls(),
        .sends = runtimes_.sends()};
    operator_ = std::make_unique<SteppedController>(
        server_, defect,
        [this](const controllers::ControllerContext& context) {
          return sample_set::make_reconciler(context, options_, clock_);
        },
        clock_, seed + 1);
  }

  Result<> create(const Json& spec) {
    const auto made = cluster_.create(kinds::kSampleSets,
                                      {{"apiVersion", kinds::kSampleSets.api_version()},
                                       {"kind", kinds::kSampleSets.kind},
                                       {"metadata", {{"namespace", kSet.ns}, {"name", kSet.name}}},
                                       {"spec", spec}});
    if (!made) return made.error();
    return Done{};
  }
  Json set() {
    const auto found = cluster_.get(kinds::kSampleSets, kSet);
    return found ? *found : Json();
  }
  Json spec() { return api::look(set(), "spec"); }
  std::string status(const char* path) { return api::look_text(set(), path); }
  Result<> edit(const Json& spec) {
    Json next = set();
    next["spec"] = spec;
    const auto done = cluster_.update(kinds::kSampleSets, next);
    if (!done) return done.error();
    return Done{};
  }
  // Until then no volume is bound, and what is fixed from then on can be edited.
  void start_environment() { environment_runs_ = true; }
  std::uint64_t digest() const { return server_.digest(); }
  void go_on(Random& random) {
    for (std::uint64_t steps = random.below(12); steps > 0; --steps) {
      const std::uint64_t what = random.below(5);
      if (what < 2) operator_->step();
      if (what == 2 && environment_runs_) run_environment(cluster_);
      if (what == 3) clock_.advance(seconds{1 + random.below(10)});
      if (what == 4 && random.below(8) == 0) operator_->restart();
    }
  }
  // Until nothing changes any more. False: that does not happen.
  bool settle() {
    int quiet = 0;
    for (int round = 0; round < 400; ++round) {
      const std::uint64_t before = server_.revision();
      for (int steps = 0; operator_->step(); ++steps) {
        if (steps > 300) return false;
      }
      if (environment_runs_) run_environment(cluster_);
      quiet = server_.revision() == before ? quiet + 1 : 0;
      if (quiet == 5) return true;
      clock_.advance(seconds{quiet < 3 ? 6 : 700});
    }
    return false;
  }
  EndState end_state();

 private:
  const Scratch scratch_{};
  ManualClock clock_{};
  EmbeddedServer server_;
  EmbeddedCluster cluster_;
  StepRuntimes runtimes_{};
  bool environment_runs_ = false;
  sample_set::Options options_{};
  std::unique_ptr<SteppedController> operator_;
};

EndState SetCluster::end_state() {
  EndState state;
  const std::string uid = api::look_text(set(), "/metadata/uid");
  const auto add = [&](const std::string& name, const Json& value) {
    std::string text = value.dump();
    std::string key = name;
    for (std::string* each : {&text, &key}) {
      replace_all(*each, uid, "<uid>");
      if (uid.size() > 8) replace_all(*each, uid.substr(0, 8), "<uid8>");
    }
    state[key] = Json::parse(text);
  };
  // Of an object what follows from the spec: no secret values, and of a volume not its options,
  // which a volume keeps (docs/en/sampleset.md).
  const auto add_all = [&](const kube::Resource& resource, const std::set<std::string>& parts) {
    for (const Json& each : all(cluster_, resource)) {
      if (resource == kinds::kNodes ||
          api::look_text(each, "/metadata/name").starts_with(kSet.name)) {
        Json kept{{"labels", api::look(each, "/metadata/labels")}};
        for (const std::string& part : parts) kept[part] = api::look(each, part.c_str());
        if (kept.contains(kTemplateNotes)) kept[kTemplateNotes].erase(kTemplateMark);
        add(resource.plural + "/" + api::look_text(each, "/metadata/name"), kept);
      }
    }
  };
  add_all(kinds::kStatefulSets, {"spec"});
  add_all(kinds::kServices, {"spec"});
  add_all(kinds::kClaims, {"spec"});
  add_all(kinds::kPods, {"spec"});
  add_all(kinds::kNodes, {});
  for (const Json& each : all(cluster_, kinds::kSecrets)) {
    const std::string name = api::look_text(each, "/metadata/name");
    if (!name.starts_with(kSet.name)) continue;
    Json names = Json::array();
    const Json data = each.value("data", Json::object());
    for (const auto& [key, value] : data.items()) names.push_back(key);
    add("secrets/" + name, names);
  }
  const Json object = set();
  Json status;
  for (const char* kept : {"phase", "engine", "runtimeStatus"}) {
    status[kept] = api::look(object, (std::string("/status/") + kept).c_str());
  }
  for (const Json& each : api::look_list(object, "/status/conditions")) {
    status["conditions"][api::look_text(each, "type")] = {api::look_text(each, "status"),
                                                          api::look_text(each, "reason")};
  }
  // What was cached before warm-ups were switched off stays cached, and the condition says so.
  if (api::look(object, "/spec/warmup/enabled") == Json(false))
    status["conditions"].erase("Warmed");
  for (const Json& each : api::look_list(object, "/status/partitions")) {
    status["partitions"].push_back({api::look_integer(each, "index"), api::look_text(each, "node"),
                                    api::look_flag(each, "ready")});
  }
  add("status", status);
  return state;
}

WalkResult walk(std::uint64_t seed, Defect defect, EditCoverage& coverage,
                Pace pace = Pace::kUsual) {
  Random random(seed * 7919 + 29);
  SpecEditor editor(api::Kind::kSampleSet, random);
  SetCluster walked(seed, defect, pace);
  WalkResult result;
  Json first{{"source", {{"uri", "s3://bucket/images"}}}, {"secretRef", {{"name", "keys"}}}};
  first["partitions"] = editor.value_of("partitions");
  first["csi"]["driver"] = random.below(4) == 0 ? "samplefs" : "juicefs";
  if (const auto made = walked.create(first); !made) {
    return {.complaint = "the first spec is refused: " + made.error().message};
  }
  coverage.note(Json::object(), walked.spec());
  const int binds_at = random.below(2) == 0 ? 0 : kEdits / 2;
  if (binds_at == 0) walked.start_environment();
  if (random.below(2) == 0 && !walked.settle()) return {.complaint = "  it does not settle\n"};
  for (int tries = 0; result.edits < kEdits && tries < 40 * kEdits; ++tries) {
    const Json before = walked.spec();
    const Json next = editor.edited(before);
    // A source that is being synced may not be changed, by the documents.
    const bool syncs = !walked.status("/status/jobsName/syncJobName").empty();
    if (syncs && (next.value("source", Json()) != before.value("source", Json()) ||
                  next.value("noSync", false) != before.value("noSync", false))) {
      continue;
    }
    if (next == before || !walked.edit(next)) continue;
    ++result.edits;
    if (result.edits == binds_at) walked.start_environment();
    coverage.note(before, walked.spec());
    walked.go_on(random);
    if (random.below(8) == 0 && !walked.settle()) {
      result.complaint = "  it does not settle\n" + walked.spec().dump() + "\n";
      return result;
    }
  }
  if (!walked.settle()) {
    result.complaint = "  it does not settle at the end\n" + walked.spec().dump() + "\n";
    return result;
  }
  result.digest = walked.digest();
  // The engine is decided once: the new set begins with that of the walk, whatever its spec names
  // by now. It keeps that name: spec.csi cannot be changed once a volume is bound, and the operator
  // reads the driver only to decide.
  const Json last = walked.spec();
  SetCluster fresh(seed + 1'000'000, Defect::kNone);
  fresh.start_environment();
  Json begun = last;
  if (const std::string engine = walked.status("/status/engine"); !engine.empty()) {
    begun["csi"]["driver"] = engine;
  }
  if (const auto made = fresh.create(begun); !made) {
    result.complaint = "  the last spec is refused as a new one: " + made.error().message + "\n";
    return result;
  }
  EXPECT_TRUE(fresh.settle()) << "seed " << seed;
  // A spec that no new set could run with: one that runs keeps what it has.
  result.comparable = fresh.status("/status/phase") == "Ready";
  if (!result.comparable) return result;
  result.complaint = difference(walked.end_state(), fresh.end_state());
  if (!result.complaint.empty()) result.complaint += "  of the spec " + last.dump() + "\n";
  return result;
}

constexpr std::uint64_t kWalks = 60;

TEST(SampleSetWalks, EndLikeANewSetWithTheLastSpec) {
  EditCoverage coverage(api::Kind::kSampleSet);
  run_walks("SampleSet", kWalks,
            [&](std::uint64_t seed) { return walk(seed, Defect::kNone, coverage); });
  expect_all_edited("SampleSet", coverage);
}

TEST(SampleSetWalks, AreTheSameOnASlowMachine) {
  EditCoverage coverage(api::Kind::kSampleSet);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    EXPECT_EQ(walk(seed, Defect::kNone, coverage, Pace::kSlowInformers).digest,
              walk(seed, Defect::kNone, coverage).digest)
        << "seed " << seed;
  }
}

TEST(SampleSetWalks, FindATemplateThatKeepsWhatTheSpecLost) {
  EditCoverage coverage(api::Kind::kSampleSet);
  expect_found("SampleSet", kWalks,
               [&](std::uint64_t seed) { return walk(seed, Defect::kMergesTemplates, coverage); });
}

}  // namespace
}  // namespace paddle::walks
