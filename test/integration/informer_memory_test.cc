// SPDX-License-Identifier: Apache-2.0
//
// Ten thousand pods of about 5 KB on a real API server, cached by a process of its own: its
// resident memory stays under 60 MiB, at its peak too.
#include <atomic>
#include <iostream>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kube/client/client.h"
#include "test/support/control_plane.h"
#include "test/support/process.h"

namespace paddle::kube {
namespace {

constexpr int kPods = 10'000;
constexpr int kWriters = 8;
constexpr long kLimitKib = 60L * 1024;

Json pod(int number) {
  const std::string job = "resnet-" + std::to_string(number / 16);
  Json env = Json::array();
  for (int i = 0; i < 30; ++i) {
    env.push_back({{"name", "PADDLE_VARIABLE_" + std::to_string(i)},
                   {"value", job + "-worker-" + std::to_string(i) + ".train.svc:37777"}});
  }
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata",
           {{"name", job + "-worker-" + std::to_string(number % 16)},
            {"namespace", "default"},
            {"labels",
             {{"batch.paddlepaddle.org/job", job},
              {"paddle-res-name", job + "-worker-" + std::to_string(number % 16)},
              {"paddle-res-type", "worker"},
              {"app.kubernetes.io/managed-by", "paddle-operator"}}},
            {"annotations", {{"paddle-resource", "worker"}}},
            {"ownerReferences",
             {{{"apiVersion", "batch.paddlepaddle.org/v1"},
               {"kind", "PaddleJob"},
               {"name", job},
               {"uid", "6b6f5f0e-0000-4000-8000-" + std::to_string(100'000'000'000 + number / 16)},
               {"controller", true},
               {"blockOwnerDeletion", true}}}}}},
          {"spec",
           {{"automountServiceAccountToken", false},
            {"nodeName", "node-" + std::to_string(number % 200)},
            {"containers",
             {{{"name", "paddle"},
               {"image", "registry.example.org/paddle/train:2.5"},
               {"command", {"python", "-m", "paddle.distributed.launch", "train.py"}},
               {"env", env}}}}}}};
}

long number_after(const std::string& text, const std::string& name) {
  const auto at = text.find(name + "=");
  return at == std::string::npos ? -1 : std::stol(text.substr(at + name.size() + 1));
}

TEST(InformerMemory, TenThousandCachedPodsCostLessThanSixtyMebibytes) {
  auto started = test::ControlPlane::start();
  ASSERT_TRUE(started) << started.error().message;
  test::ControlPlane& plane = **started;
  Client client({.server = plane.url(),
                 .tls = {.ca_file = plane.ca_path()},
                 .proxy = "",
                 .token = plane.token()});
  std::atomic<size_t> bytes = 0;
  {
    std::vector<std::jthread> writers;
    for (int w = 0; w < kWriters; ++w) {
      writers.emplace_back([&, w] {
        for (int i = w; i < kPods; i += kWriters) {
          const auto made = client.create(resources::kPods, pod(i));
          ASSERT_TRUE(made) << made.error().message;
          bytes += api::dump_json(*made).size();
        }
      });
    }
  }
  const auto ran =
      test::run({.argv = {PADDLE_MEMORY_CHILD, plane.url(), plane.ca_path(), plane.token()}});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  std::cout << "average pod " << bytes / kPods << " bytes; " << ran.out;
  EXPECT_EQ(number_after(ran.out, "objects"), kPods);
  EXPECT_GT(number_after(ran.out, "rss_kib"), 0);
  EXPECT_LT(number_after(ran.out, "rss_kib"), kLimitKib);
  EXPECT_LT(number_after(ran.out, "peak_kib"), kLimitKib);
}

}  // namespace
}  // namespace paddle::kube
