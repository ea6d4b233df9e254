// SPDX-License-Identifier: Apache-2.0
//
// `paddle-cache serve`: a Cache Runtime Server on one node. SIGTERM ends it within a few seconds
// (engine/time_limits.h): jobs stay in the journal for the next process, and mounts stay mounted.
// Requests of mounts in progress stay unanswered, and the kernel repeats them to the next process.
// With JuiceFS, a running sync is terminated, and what it has copied stays.
//
// `paddle-cache format`: creates the JuiceFS volume of a Secret unless it exists.
//
// `paddle-cache register`: registers a CSI driver with its node's kubelet. SIGTERM unregisters it.

#include <csignal>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <stop_token>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "csi/registrar.h"
#include "engine/juicefs/node/format.h"
#include "engine/juicefs/node/node_engine.h"
#include "engine/samplefs/node/node_engine.h"
#include "engine/time_limits.h"
#include "fuse/attach.h"
#include "os/read_file.h"
#include "programs/cache/command_line.h"
#include "programs/flags/flag_parser.h"
#include "runtime/client.h"
#include "runtime/runtime_secret.h"
#include "runtime/server/server.h"

namespace paddle {
namespace {

constexpr std::size_t kLongestFile = std::size_t{64} << 10;

// Read for each use, so that it may be rotated; empty when it cannot be read.
std::string read_small(const std::string& path) {
  auto read = os::read_file(path, kLongestFile);
  std::string text = read ? *std::move(read) : std::string();
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

// The current token and, if there is one, the previous token.
std::vector<std::string> read_tokens(const programs::ServeFlags& flags) {
  const std::string directory = flags.token_file.substr(0, flags.token_file.rfind('/') + 1);
  return {read_small(flags.token_file), read_small(directory + runtime::kTokenBefore)};
}

net::ServerTls tls_of(const programs::ServeFlags& flags) {
  if (flags.tls.empty()) return {};
  return {.certificate_file = flags.tls + "/" + runtime::kCertificate,
          .key_file = flags.tls + "/" + runtime::kKey};
}

// Calls another runtime of the same set, like the operator does.
Result<std::string> fetch_list(const programs::ServeFlags& flags, const std::string& address,
                               const std::string& job, std::int32_t partition,
                               std::stop_token stop) {
  const std::size_t slash = flags.set.find('/');
  const auto tokens = read_tokens(flags);
  runtime::RuntimeCredentials access{.token = tokens[0], .token_before = tokens[1]};
  access.tls = !flags.tls.empty();
  if (access.tls) access.authority = read_small(flags.tls + "/" + runtime::kAuthority);
  if (access.tls && slash != flags.set.npos) {
    access.name = runtime::server_name(flags.set.substr(0, slash), flags.set.substr(slash + 1));
  }
  return runtime::Client(address, std::move(access)).list(job, partition, std::move(stop));
}

// Returns after a signal, when everything but the engine has ended.
Result<> serve_with(engine::NodeEngine& engine, const programs::ServeFlags& flags, Metrics& metrics,
                    const std::function<Result<fuse::Negotiated>(fuse::Attachment)>& attacher,
                    std::chrono::milliseconds end_limit, const sigset_t& ends) {
  TRY(const net::Address address, net::parse_address(flags.listen));
  TRY(auto journal, runtime::Journal::open(flags.state + "/jobs"));
  TRY(auto jobs, runtime::JobRunner::start(std::move(journal), engine));
  std::unique_ptr<fuse::AttachServer> attach;
  if (!flags.session.empty() && attacher) {
    TRY(attach, fuse::AttachServer::start(flags.session, attacher));
  }
  const runtime::Server::Tokens tokens = [&] { return read_tokens(flags); };
  TRY(auto server, runtime::Server::start(address, tokens, *jobs, engine, metrics, tls_of(flags)));
  log::info("ready", {{"set", flags.set}, {"listen", net::to_string(server->address())}});

  int signal = 0;
  while (sigwait(&ends, &signal) != 0) continue;
  log::info("stopping", {{"signal", signal}});
  std::thread([end_limit] {
    system_clock().sleep(end_limit, {});
    std::_Exit(0);  // the next process repeats what is still running
  }).detach();
  server.reset();
  attach.reset();
  jobs.reset();
  return Done{};
}

Result<> serve(const programs::ServeFlags& flags, const sigset_t& ends) {
  CHECK_DONE(net::parse_address(flags.listen));  // before anything is opened
  if (read_small(flags.token_file).empty()) {
    return Error{Code::kInvalid, "there is no token in '" + flags.token_file +
                                     "'; write the token of the callers there"};
  }
  Metrics metrics;
  if (flags.engine == "juicefs") {
    const auto fetch = [&](const std::string& address, const std::string& job,
                           std::int32_t partition, std::stop_token stop) {
      return fetch_list(flags, address, job, partition, std::move(stop));
    };
    const std::uint64_t mib = flags.cache_mib.empty() ? 0 : flags.cache_mib.front();
    TRY(const auto engine,
        engine::juicefs::JuicefsNodeEngine::open({.program = flags.juicefs,
                                                  .source = flags.source,
                                                  .source_secret = flags.source_secret,
                                                  .volume_secret = flags.volume_secret,
                                                  .data = flags.data,
                                                  .sub_dir = flags.sub_dir,
                                                  .cache_mib = static_cast<std::int64_t>(mib),
                                                  .state = flags.state,
                                                  .fetch = fetch}));
    return serve_with(*engine, flags, metrics, {}, engine::kJuicefsShutdownTimeout, ends);
  }
  const auto mib_of = [&](std::size_t i) {
    return i < flags.cache_mib.size() ? flags.cache_mib[i] : 0;
  };
  std::vector<engine::samplefs::CacheDirectory> next_tiers;
  for (std::size_t i = 1; i < flags.caches.size(); ++i) {
    next_tiers.push_back({.path = flags.caches[i], .mib = mib_of(i)});
  }
  TRY(const auto engine,
      engine::samplefs::SamplefsNodeEngine::open(
          {.source = {.uri = flags.source, .secret_directory = flags.source_secret},
           .cache = flags.caches.front(),
           .cache_mib = mib_of(0),
           .next_tiers = std::move(next_tiers),
           .state = flags.state,
           .keys = flags.keys,
           .session = flags.session,
           .read_limit = std::chrono::seconds(flags.read_timeout),
           .in_flight = static_cast<std::uint64_t>(flags.in_flight_mib) << 20,
           .scrub_rate = static_cast<std::uint64_t>(flags.scrub_mib) << 20},
          metrics));
  const auto attach = [&](fuse::Attachment attachment) {
    return engine->attach(std::move(attachment));
  };
  CHECK_DONE(serve_with(*engine, flags, metrics, attach, engine::kShutdownTimeout, ends));
  // Without the engine's destructor, which would fail reads that wait for the source.
  std::_Exit(0);
}

// A token that a signal stops.
std::stop_token stop_of(const sigset_t& ends) {
  std::stop_source source;
  std::thread([source, ends]() mutable {
    int signal = 0;
    while (sigwait(&ends, &signal) != 0) continue;
    log::info("stopping", {{"signal", signal}});
    source.request_stop();
  }).detach();
  return source.get_token();
}

Result<> register_driver(const programs::RegisterFlags& flags, const sigset_t& ends) {
  return csi::run_registrar({.csi_socket = flags.csi_socket,
                             .kubelet_path = flags.kubelet_registration_path,
                             .registry = flags.registry,
                             .name = flags.name},
                            system_clock(), stop_of(ends));
}

const std::string& log_format_of(const programs::CacheCommand& command) {
  switch (command.verb) {
    case programs::CacheVerb::kFormat:
      return command.format.log_format;
    case programs::CacheVerb::kRegister:
      return command.registration.log_format;
    case programs::CacheVerb::kServe:
      break;
  }
  return command.serve.log_format;
}

Result<> run(const programs::CacheCommand& command, const sigset_t& ends) {
  if (log_format_of(command) == "json") log::set_format(log::Format::kJson);
  switch (command.verb) {
    case programs::CacheVerb::kFormat:
      return engine::juicefs::ensure_formatted({.program = command.format.juicefs,
                                                .volume_secret = command.format.volume_secret,
                                                .update_keys = command.format.update_keys},
                                               stop_of(ends));
    case programs::CacheVerb::kRegister:
      return register_driver(command.registration, ends);
    case programs::CacheVerb::kServe:
      break;
  }
  return serve(command.serve, ends);
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
