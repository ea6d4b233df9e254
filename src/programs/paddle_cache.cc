// SPDX-License-Identifier: Apache-2.0
//
// `paddle-cache serve`: a Cache Runtime Server on one node. SIGTERM ends it within a second or two:
// jobs are left in the journal for the next process, and mounts as they are. Requests of a mount at
// work then stay unanswered, and the kernel sends them to the successor again.
//
// `paddle-cache register`: makes a CSI driver known to its node's kubelet. SIGTERM takes that back.

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <stop_token>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/unique_fd.h"
#include "csi/registrar.h"
#include "engine/samplefs/node/node_engine.h"
#include "fuse/attach.h"
#include "programs/command_line.h"
#include "runtime/server/server.h"

namespace paddle {
namespace {

constexpr std::size_t kLongestToken = 4096;
constexpr std::chrono::milliseconds kEndLimit{1'500};

// Read for each request, so that it may be rotated; empty when it can not be read.
std::string read_token(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string text(kLongestToken, '\0');
  const ssize_t got = fd ? ::read(fd.get(), text.data(), text.size()) : 0;
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

Result<> serve(const programs::ServeFlags& flags, const sigset_t& ends) {
  TRY(const net::Address address, net::parse_address(flags.listen));
  if (read_token(flags.token_file).empty()) {
    return Error{Code::kInvalid, "there is no token in '" + flags.token_file +
                                     "'; write one there that callers know too"};
  }
  Metrics metrics;
  TRY(const auto engine,
      engine::samplefs::NodeEngine::open(
          {.source = {.uri = flags.source, .secret_directory = flags.source_secret},
           .cache = flags.cache,
           .cache_mib = flags.cache_mib},
          metrics));
  TRY(auto journal, runtime::Journal::open(flags.cache + "/jobs"));
  TRY(auto jobs, runtime::Jobs::start(std::move(journal), *engine));
  std::unique_ptr<fuse::AttachServer> attach;
  if (!flags.session.empty()) {
    TRY(attach, fuse::AttachServer::start(flags.session, [&](fuse::Attachment attachment) {
          return engine->attach(std::move(attachment));
        }));
  }
  TRY(auto server,
      runtime::Server::start(
          address, [&] { return read_token(flags.token_file); }, *jobs, *engine, metrics));
  log::info("ready", {{"set", flags.set}, {"listen", net::to_string(server->address())}});

  int signal = 0;
  while (sigwait(&ends, &signal) != 0) continue;
  log::info("told to stop", {{"signal", signal}});
  std::thread([] {
    system_clock().sleep(kEndLimit, {});
    std::_Exit(0);  // whatever still holds us up is done again by the next process
  }).detach();
  server.reset();
  attach.reset();
  jobs.reset();
  std::_Exit(0);  // not through the engine: it would fail the reads that wait for the source
}

Result<> register_driver(const programs::RegisterFlags& flags, const sigset_t& ends) {
  std::stop_source source;
  std::thread([source, ends]() mutable {
    int signal = 0;
    while (sigwait(&ends, &signal) != 0) continue;
    log::info("told to stop", {{"signal", signal}});
    source.request_stop();
  }).detach();
  return csi::run_registrar({.csi_socket = flags.csi_socket,
                             .kubelet_path = flags.kubelet_registration_path,
                             .registry = flags.registry,
                             .name = flags.name},
                            system_clock(), source.get_token());
}

Result<> run(const programs::CacheCommand& command, const sigset_t& ends) {
  const bool registers = command.verb == programs::CacheVerb::kRegister;
  const auto& format = registers ? command.registration.log_format : command.serve.log_format;
  if (format == "json") log::set_format(log::Format::kJson);
  return registers ? register_driver(command.registration, ends) : serve(command.serve, ends);
}

}  // namespace
}  // namespace paddle

int main(int argc, char** argv) {
  const auto command = paddle::programs::parse_cache({argv + 1, argv + argc});
  if (!command) {
    std::cerr << paddle::programs::usage_error("paddle-cache", command.error());
    return 2;
  }
  if (!command->text.empty()) {
    std::cout << command->text;
    return 0;
  }
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);  // before any thread: all inherit it
  const auto done = paddle::run(*command, ends);
  if (done) return 0;
  std::cerr << "paddle-cache: " << done.error().message << ".\n";
  return 1;
}
