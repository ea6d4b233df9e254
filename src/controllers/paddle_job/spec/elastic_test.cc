// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/spec/elastic.h"

#include <map>

#include <gtest/gtest.h>

namespace paddle::controllers::paddle_job {
namespace {

const EtcdEndpoints kEtcd{"http://e:2379", "http://f:2379"};

api::PaddleJob elastic_job(int workers) {
  api::PaddleJob job;
  job.meta.key = {"t", "r"};
  job.spec.worker = api::Role{.replicas = workers};
  job.spec.elastic = 1;
  return job;
}

std::map<std::string, std::string> elastic_env_of(const api::PaddleJob& job,
                                                  const EtcdEndpoints& etcd) {
  std::map<std::string, std::string> out;
  for (const auto& [name, value] : elastic_env(job, etcd)) out[name] = value;
  return out;
}

TEST(Elastic, AnyValueMakesAJobOfWorkersElasticWithAnEtcd) {
  auto job = elastic_job(3);
  for (const int value : {0, 1, -1}) {
    job.spec.elastic = value;
    EXPECT_TRUE(is_elastic(job.spec, kEtcd)) << value;
    EXPECT_EQ(why_not_elastic(job.spec, kEtcd), "");
  }
  job.spec.elastic.reset();
  EXPECT_FALSE(is_elastic(job.spec, kEtcd));
  EXPECT_EQ(why_not_elastic(job.spec, {}), "");
}

TEST(Elastic, WithoutEtcdOrWithServersAJobIsOrdinaryAndTheReasonIsGiven) {
  auto job = elastic_job(3);
  EXPECT_FALSE(is_elastic(job.spec, {}));
  EXPECT_NE(why_not_elastic(job.spec, {}).find("--etcd-server"), std::string::npos);
  job.spec.ps = api::Role{.replicas = 1};
  EXPECT_FALSE(is_elastic(job.spec, kEtcd));
  EXPECT_NE(why_not_elastic(job.spec, kEtcd).find("parameter servers"), std::string::npos);
  job.spec.ps.reset();
  job.spec.worker.reset();
  EXPECT_FALSE(is_elastic(job.spec, kEtcd));
  EXPECT_NE(why_not_elastic(job.spec, kEtcd).find("worker"), std::string::npos);
}

TEST(Elastic, TheEnvironmentOfTheContract) {
  const auto env = elastic_env_of(elastic_job(3), kEtcd);
  EXPECT_EQ(env.at("PADDLE_ELASTIC_JOB_ID"), "t-r");
  EXPECT_EQ(env.at("PADDLE_ELASTIC_NP"), "3");
  EXPECT_EQ(env.at("PADDLE_ELASTIC_TIMEOUT"), "60");
  EXPECT_EQ(env.at("PADDLE_ELASTIC_SERVER"), "e:2379") << "Paddle takes one endpoint only";
}

TEST(Elastic, TheLauncherOfPaddle23GetsItsVariablesAsWell) {
  auto job = elastic_job(3);
  job.spec.worker->requests = 2;
  job.spec.worker->limits = 4;
  const auto env = elastic_env_of(job, kEtcd);
  EXPECT_EQ(env.at("PADDLE_ELASTIC_NP"), "2:4");
  EXPECT_EQ(env.at("PADDLE_MASTER"), "etcd://e:2379");
  EXPECT_EQ(env.at("PADDLE_NNODES"), "1:4") << "with fewer than its least it would exit with 0";
  EXPECT_EQ(env.at("PADDLE_JOB_ID"), "t-r");
  EXPECT_EQ(env.at("PADDLE_ELASTIC_LEVEL"), "1");
  EXPECT_EQ(env.at("PADDLE_RANK"), "-1") << "a lost worker leaves a gap in the ranks";
  EXPECT_GT(std::stoi(env.at("PADDLE_MAX_RESTART")), 1000);
}

TEST(Elastic, WithoutAnEtcdNoVariableNamesOne) {
  const auto env = elastic_env_of(elastic_job(3), {});
  EXPECT_EQ(env.size(), 3u);
  EXPECT_EQ(env.count("PADDLE_MASTER"), 0u);
}

TEST(Elastic, TheRangeIncludesTheReplicasAndIsUnlimitedByDefault) {
  auto job = elastic_job(3);
  EXPECT_EQ(elastic_range(job.spec), (ReplicaRange{1, 10'000}));
  job.spec.worker->limits = 0;  // no limit
  EXPECT_EQ(elastic_range(job.spec), (ReplicaRange{1, 10'000}));
  EXPECT_EQ(elastic_np(job.spec), "3");
  job.spec.worker->requests = 2;
  EXPECT_EQ(elastic_np(job.spec), "2:10000");
  job.spec.worker->limits = 5;
  EXPECT_EQ(elastic_np(job.spec), "2:5");
  // What validation refuses does not lead to nonsense either.
  job.spec.worker->requests = 7;
  job.spec.worker->limits = 2;
  EXPECT_EQ(elastic_range(job.spec), (ReplicaRange{3, 3}));
  job.spec.worker->replicas = 0;
  EXPECT_EQ(elastic_range(job.spec), (ReplicaRange{1, 2}));
}

TEST(Elastic, TheEtcdServerIsThatOfTheFlagOrOfTheServiceOfTheOperator) {
  EXPECT_EQ(etcd_server_of("a:1,b:2", "10.0.0.9", "2379"), "a:1,b:2");
  EXPECT_EQ(etcd_server_of("", "10.0.0.9", "2379"), "10.0.0.9:2379");
  EXPECT_EQ(etcd_server_of("", "fd00::9", "2379"), "[fd00::9]:2379");
  EXPECT_EQ(etcd_server_of("", nullptr, nullptr), "");
  EXPECT_EQ(etcd_server_of("", "10.0.0.9", nullptr), "");
}

TEST(Elastic, OfJobsWithTheSameIdTheOldestOwnsItsKeys) {
  const auto job_at = [](const std::string& ns, const std::string& name, int second) {
    api::PaddleJob job = elastic_job(1);
    job.meta.key = {ns, name};
    job.meta.created = WallTime{std::chrono::seconds{second}};
    return std::make_shared<const api::PaddleJob>(job);
  };
  const auto first = job_at("a", "b-c", 100);
  const auto second = job_at("a-b", "c", 101);
  EXPECT_EQ(elastic_job_id(first->meta.key), elastic_job_id(second->meta.key));
  EXPECT_EQ(id_owner(*first, {first, second}), "");
  EXPECT_EQ(id_owner(*second, {first, second}), "a/b-c");
  EXPECT_EQ(id_owner(*second, {second}), "") << "the first one has ended";
  EXPECT_EQ(id_owner(*first, {}), "");
  const auto same_second = job_at("a-b", "c", 100);
  EXPECT_NE(id_owner(*first, {same_second}), id_owner(*same_second, {first}));
}

TEST(Elastic, NpIsWrittenWhenItIsMissingOrDiffers) {
  const auto job = elastic_job(4);
  EXPECT_EQ(np_key(job.meta.key), "/paddle/t-r/np");
  EXPECT_EQ(np_to_write(job.spec, std::nullopt), "4");
  EXPECT_EQ(np_to_write(job.spec, "3"), "4");
  EXPECT_EQ(np_to_write(job.spec, "4"), std::nullopt);
  EXPECT_EQ(np_to_write(elastic_job(1).spec, "2"), "1")
      << "also when the job is no longer Collective";
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
