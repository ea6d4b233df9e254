// SPDX-License-Identifier: Apache-2.0
// deploy/examples, deploy/elastic and deploy/heter: our validation accepts them without warnings,
// and each job is planned to its last pod. api_corpus_test applies them to a real API server. The
// same for the complete objects in the users' documents, which are equal in both languages.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/crd/validate.h"
#include "api/paddle_job.h"
#include "api/phases.h"
#include "api/sample_set.h"
#include "cli/documents.h"
#include "controllers/paddle_job/plan.h"
#include "controllers/placement/placement.h"

namespace paddle {
namespace {

using api::Json;
namespace paddle_job = controllers::paddle_job;
using paddle_job::Create;

std::vector<cli::Document> examples() {
  std::vector<cli::Document> all;
  for (const char* folder : {"examples", "elastic", "heter"}) {
    auto read = cli::read_documents(std::string(PADDLE_SOURCE_DIR) + "/deploy/" + folder);
    EXPECT_TRUE(read) << read.error().message;
    if (!read) continue;
    for (auto& one : *read) all.push_back(std::move(one));
  }
  return all;
}

std::string kind_of(const cli::Document& one) { return one.object.value("kind", ""); }

std::map<std::string, api::PaddleJob> jobs() {
  std::map<std::string, api::PaddleJob> found;
  for (const auto& one : examples()) {
    if (kind_of(one) != "PaddleJob") continue;
    auto job = api::decode_paddle_job(one.object);
    EXPECT_TRUE(job) << one.where << ": " << job.error().message;
    if (!job) continue;
    job->meta.key.ns = "paddle-system";
    job->meta.uid = "uid-" + job->meta.key.name;
    job->meta.generation = 1;
    found[job->meta.key.name] = *job;
  }
  return found;
}

TEST(Examples, AreThePublishedOnes) {
  std::string names;
  for (const auto& [name, job] : jobs()) names += name + " ";
  EXPECT_EQ(names,
            "collective-resnet dali deepfm ps-deepfm ps-demo ps-samples reads-nfs resnet "
            "resnet-elastic resnet-on-v100 resnet50 simple wide-ande-deep wide-ande-deep-podip "
            "wide-ande-deep-service wide-ande-deep-volcano ");
}

// As upstream's: with the default policy the pods, and the output that one wants to read, are gone.
TEST(Examples, KeepTheirOutput) {
  for (const char* name : {"simple", "deepfm"}) {
    EXPECT_EQ(jobs().at(name).spec.clean_pod_policy, "Never") << name;
  }
}

TEST(Examples, AreValidAndCauseNoWarnings) {
  int ours = 0;
  for (const auto& one : examples()) {
    const auto kind = kind_of(one) == "PaddleJob"   ? std::optional(api::Kind::kPaddleJob)
                      : kind_of(one) == "SampleSet" ? std::optional(api::Kind::kSampleSet)
                      : kind_of(one) == "SampleJob" ? std::optional(api::Kind::kSampleJob)
                                                    : std::nullopt;
    if (!kind) continue;
    ++ours;
    for (const auto& problem : api::validate(*kind, one.object)) {
      ADD_FAILURE() << one.where << ": " << problem.path << ": " << problem.message;
    }
  }
  EXPECT_EQ(ours, 25);
  for (const auto& [name, job] : jobs()) {
    for (const auto& warning : api::warnings(job)) ADD_FAILURE() << name << ": " << warning;
  }
}

// The objects that a plan makes for a job in an empty cluster, by kind, once status is stored.
std::map<std::string, int> made_for(api::PaddleJob job, const paddle_job::World& world,
                                    const paddle_job::Config& config) {
  std::map<std::string, int> made;
  for (int round = 0; round < 3 && made.empty(); ++round) {
    const auto plan = paddle_job::desired(job, world, config, WallTime{});
    if (plan.status) job.status = *plan.status;
    for (const auto& wave : plan.waves) {
      for (const auto& action : wave) {
        if (const auto* create = std::get_if<Create>(&action)) {
          ++made[create->manifest->value("kind", "")];
        }
      }
    }
  }
  return made;
}

int pods_of(const api::PaddleJob& job) {
  int sum = 0;
  for (const auto* role : {&job.spec.ps, &job.spec.worker, &job.spec.heter}) {
    if (*role) sum += (*role)->replicas;
  }
  for (const api::Task& task : job.spec.tasks) sum += task.replicas;
  return sum;
}

TEST(Examples, AreStartedCompletely) {
  const paddle_job::Config config{.etcd = {"http://e:2379"}};
  for (const auto& [name, job] : jobs()) {
    paddle_job::World world{.confirmed = true};
    if (job.spec.sample_set) {
      world.data.set = api::SampleSet{};
      world.data.set->meta.key = {"paddle-system", job.spec.sample_set->name};
      world.data.set->status.phase = api::sample_set_phase::kReady;
      world.data.claim =
          controllers::placement::ClaimSummary{.meta = world.data.set->meta, .phase = "Bound"};
    }
    const auto made = made_for(job, world, config);
    EXPECT_EQ(made.contains("Pod") ? made.at("Pod") : 0, pods_of(job)) << name;
    const bool by_name = job.spec.intranet == "Service";
    EXPECT_EQ(made.contains("Service") ? made.at("Service") : 0, by_name ? pods_of(job) : 0)
        << name;
  }
}

TEST(Examples, TheVolcanoExampleWaitsForItsGroup) {
  const paddle_job::Config config{.scheduling = "volcano"};
  paddle_job::World world{.confirmed = true};
  const auto job = jobs().at("wide-ande-deep-volcano");
  EXPECT_EQ(made_for(job, world, config), (std::map<std::string, int>{{"PodGroup", 1}}));
  const Json group = *paddle_job::pod_group_for(job);
  EXPECT_EQ(group["spec"]["minMember"], 4);
  EXPECT_EQ(group["spec"]["minResources"]["cpu"], "1");
}

// Whole objects of one document: blocks of code that begin with apiVersion.
std::vector<Json> objects_in(const std::string& document) {
  std::ifstream file(std::string(PADDLE_SOURCE_DIR) + "/docs/" + document);
  EXPECT_TRUE(file) << document;
  std::vector<std::string> blocks(1);
  bool fenced = false;
  for (std::string line; std::getline(file, line);) {
    const bool fence = line.starts_with("```");
    if (fence) fenced = !fenced;
    const bool inside = !fence && (fenced || line.starts_with("    "));
    if (inside) blocks.back() += line.substr(fenced ? 0 : 4) + "\n";
    if (!inside && !blocks.back().empty()) blocks.emplace_back();
  }
  std::vector<Json> found;
  for (const std::string& block : blocks) {
    if (!block.starts_with("apiVersion:")) continue;
    auto read = cli::split_documents(document, block);
    EXPECT_TRUE(read) << read.error().message << "\n" << block;
    if (!read) continue;
    for (auto& one : *read) found.push_back(std::move(one.object));
  }
  return found;
}

TEST(Documents, ShowValidObjectsAndTheSameInBothLanguages) {
  std::map<std::string, int> shown;
  for (const char* page : {"local.md", "paddlejob.md", "sampleset.md", "samplejob.md",
                           "ext-get-start.md", "api_doc.md", "migration.md"}) {
    const auto objects = objects_in(std::string("en/") + page);
    EXPECT_EQ(objects, objects_in(std::string("zh_CN/") + page)) << page;
    for (const Json& object : objects) {
      const std::string kind = object.value("kind", "");
      const auto known = kind == "PaddleJob"   ? std::optional(api::Kind::kPaddleJob)
                         : kind == "SampleSet" ? std::optional(api::Kind::kSampleSet)
                         : kind == "SampleJob" ? std::optional(api::Kind::kSampleJob)
                                               : std::nullopt;
      if (!known) continue;
      const auto problems = api::validate(*known, object);
      if (object["metadata"].value("name", "") == "bad") {  // shown as what is refused
        EXPECT_FALSE(problems.empty()) << page;
        continue;
      }
      for (const auto& problem : problems) {
        ADD_FAILURE() << page << ": " << problem.path << ": " << problem.message << "\n"
                      << object.dump(2);
      }
      ++shown[kind];
      for (const auto& [field, value] : object["spec"].items()) {
        if (field.ends_with("Options")) ++shown[field];
      }
    }
  }
  for (const char* each : {"PaddleJob", "SampleSet", "SampleJob", "syncOptions", "warmupOptions",
                           "clearOptions", "rmrOptions", "verifyOptions"}) {
    EXPECT_GE(shown[each], 1) << each;
  }
}

TEST(Documents, TheTutorialShowsTheFilesThatItsCommandsApply) {
  const auto files = examples();
  const auto shown = objects_in("en/ext-get-start.md");
  EXPECT_EQ(shown.size(), 5U);
  for (const Json& object : shown) {
    EXPECT_TRUE(std::ranges::any_of(files, [&](const auto& one) { return one.object == object; }))
        << "no file of deploy/examples has\n"
        << object.dump(2);
  }
}

}  // namespace
}  // namespace paddle
