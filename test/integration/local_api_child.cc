// SPDX-License-Identifier: Apache-2.0
// The embedded API server as a process of its own, for tests that kill it and for manual
// experiments:  local_api_child DIRECTORY [PORT]. Prints a kubeconfig when it responds, then serves
// until it is killed. Pods have one log line each, so that `kubectl logs` can be tried.

#include <cstdlib>
#include <iostream>

#include <unistd.h>

#include "local/api_server/server.h"

namespace {

class OneLine final : public paddle::local::Stream {
 public:
  explicit OneLine(std::string text) : text_(std::move(text)) {}
  paddle::local::StreamChunk next(paddle::BootTime) override { return {std::move(text_), true}; }
  std::chrono::milliseconds poll_interval() const override {
    return std::chrono::milliseconds{100};
  }
  bool is_interested_in(const std::string&) const override { return false; }

 private:
  std::string text_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  paddle::local::ApiServerOptions options{.directory = argv[1]};
  if (argc > 2) options.http.port = std::atoi(argv[2]);
  options.api.logs = [](const paddle::local::LogRequest& request)
      -> paddle::Result<std::shared_ptr<paddle::local::Stream>> {
    return {std::make_shared<OneLine>("hello from " + request.pod.name + "\n")};
  };
  auto server = paddle::local::ApiServer::start(options);
  if (!server) {
    std::cerr << server.error().message << "\n";
    return 1;
  }
  std::cout << paddle::local::kubeconfig_of((*server)->client_config()) << std::flush;
  while (true) ::pause();
}
