// SPDX-License-Identifier: Apache-2.0
#include "programs/operator/command_line.h"

#include <charconv>
#include <set>

#include <CLI/CLI.hpp>

#include "engine/time_limits.h"
#include "programs/flags/flag_parser.h"

namespace paddle::programs {
namespace {

constexpr const char* kOperatorExamples = R"(Examples:
  paddle-operator --leader-elect
      all three controllers, cluster-wide, as the manifests run it
  paddle-operator --controllers=paddlejob --namespace=train --kubeconfig=$HOME/.kube/config
      only PaddleJobs, only in one namespace, from a desk)";

Result<std::vector<std::string>> controllers_of(const std::string& text) {
  const std::set<std::string> known{"paddlejob", "sampleset", "samplejob"};
  auto names = split_list(text);
  for (const auto& name : names) {
    if (!known.contains(name)) {
      return bad_flag("controllers", text, "a list of paddlejob, sampleset, samplejob");
    }
  }
  if (names.empty())
    return bad_flag("controllers", text, "a list of paddlejob, sampleset, samplejob");
  return names;
}

constexpr int kMostWorkers = 64;
constexpr int kPortsPerJob = 20;  // of controllers/paddle_job

Result<controllers::paddle_job::PortRange> port_range_of(const std::string& text) {
  const auto error =
      bad_flag("port-range", text, "two ports like 35000,65000 with room for the 20 of a job");
  const auto parts = split_list(text);
  if (parts.size() != 2) return error;
  int ends[2] = {0, 0};
  for (size_t i = 0; i < 2; ++i) {
    const char* last = parts[i].data() + parts[i].size();
    const auto [end, failed] = std::from_chars(parts[i].data(), last, ends[i]);
    if (failed != std::errc{} || end != last || ends[i] < 1 || ends[i] > 65535) return error;
  }
  if (ends[1] - ends[0] + 1 < kPortsPerJob) return error;
  return controllers::paddle_job::PortRange{ends[0], ends[1]};
}

Result<std::chrono::seconds> identity_lifetime_of(const std::string& text) {
  const auto error = bad_flag("runtime-identity-lifetime", text,
                              "a time from 10m to 3650d: a number and one of s, m, h, d");
  std::int64_t number = 0;
  const char* last = text.data() + text.size();
  const auto [end, failed] = std::from_chars(text.data(), last, number);
  if (failed != std::errc{} || last - end != 1) return error;
  std::int64_t unit = 0;
  if (*end == 's') unit = 1;
  if (*end == 'm') unit = 60;
  if (*end == 'h') unit = 3600;
  if (*end == 'd') unit = 86'400;
  if (unit == 0 || number < 0 || number > engine::kLongestSecretLifetime.count() / unit)
    return error;
  const std::chrono::seconds life{number * unit};
  if (life < engine::kShortestSecretLifetime) return error;
  return life;
}

// In MiB; empty: no limit.
Result<std::int64_t> cache_limit_of(const std::string& text) {
  if (text.empty()) return 0;
  const auto error = bad_flag("namespace-cache-limit", text,
                              "a size: a number of at least 1 and one of Mi, Gi, Ti, Pi");
  constexpr std::int64_t kLargestMib = std::int64_t{1} << 40;
  std::int64_t number = 0;
  const char* last = text.data() + text.size();
  const auto [end, failed] = std::from_chars(text.data(), last, number);
  if (failed != std::errc{} || number < 1) return error;
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  int shift = 0;
  for (const char* known : {"Mi", "Gi", "Ti", "Pi"}) {
    if (unit == known) {
      if (number > kLargestMib >> shift) return error;
      return number << shift;
    }
    shift += 10;
  }
  return error;
}

std::string join_list(const std::vector<std::string>& all) {
  std::string joined;
  for (const auto& each : all) joined += (joined.empty() ? "" : ",") + each;
  return joined;
}

// zap's levels: names, or a number, where a higher one means more logs.
Result<std::string> level_of(const std::string& text) {
  for (const char* name : {"debug", "info", "warn", "error"}) {
    if (text == name) return text;
  }
  if (text == "panic" || text == "fatal" || text == "dpanic") return std::string("error");
  int verbosity = 0;
  const char* last = text.data() + text.size();
  const auto [end, failed] = std::from_chars(text.data(), last, verbosity);
  if (failed != std::errc{} || end != last || verbosity < 0) {
    return bad_flag("zap-log-level", text, "debug, info, warn, error or a positive number");
  }
  return std::string(verbosity > 0 ? "debug" : "info");
}

}  // namespace

Result<OperatorCommand> parse_operator(const std::vector<std::string>& args) {
  OperatorCommand command;
  OperatorFlags& flags = command.flags;
  controllers::OperatorOptions& options = flags.options;
  std::string controllers = "paddlejob,sampleset,samplejob";
  std::string lifetime = "90d";
  std::string etcd, roots, source_roots, cache_limit, range = "35000,65000", level = "info",
                                                      ignored;
  bool zap_devel = false;

  CLI::App app("Runs the controllers of PaddleJob, SampleSet and SampleJob.", "paddle-operator");
  app.footer(kOperatorExamples);
  app.add_option("--controllers", controllers, "comma-separated; default: all three");
  app.add_option("--metrics-bind-address", flags.metrics_bind_address,
                 "where /metrics is served; 0 switches it off")
      ->capture_default_str();
  app.add_option("--health-probe-bind-address", flags.health_probe_bind_address,
                 "where /healthz and /readyz are served; 0 switches them off")
      ->capture_default_str();
  app.add_flag("--leader-elect", flags.leader_elect,
               "one leader per controller among several replicas");
  app.add_option("--namespace", options.ns, "only objects in this namespace; default: all");
  app.add_option("--workers", options.workers,
                 "objects that each controller works on at the same time, 1 to 64")
      ->capture_default_str();
  app.add_option("--scheduling", options.paddle_job.scheduling, "'volcano' for gang scheduling");
  app.add_option("--initImage", options.paddle_job.init_image,
                 "image of the init container, with a shell; default: the job's own image");
  app.add_option("--etcd-server", etcd, "comma-separated etcd endpoints for elastic training");
  app.add_option("--cache-roots", roots,
                 "comma-separated directories of nodes beneath which caches may be; the first "
                 "one is the default of sets")
      ->default_str(join_list(options.runtime.cache_roots));
  app.add_option("--source-roots", source_roots,
                 "comma-separated directories of nodes beneath which file:// sources may be; "
                 "default: there are none");
  app.add_option("--namespace-cache-limit", cache_limit,
                 "what the caches of all SampleSets of a namespace may have on all nodes "
                 "together, such as 500Gi or 2Ti; default: no limit");
  app.add_option("--volume-secrets-namespace", options.runtime.volume_secrets_namespace,
                 "where CSI drivers read the Secrets of SampleSets; tenants must have no rights "
                 "there")
      ->capture_default_str();
  app.add_option(
         "--runtime-identity-lifetime", lifetime,
         "how long token and certificate of cache runtimes are valid, such as 90d, 12h, 10m; "
         "they are renewed in the middle of that time")
      ->capture_default_str();
  app.add_option("--port-range", range, "host ports, START,END")->capture_default_str();
  app.add_option("--kubeconfig", flags.kubeconfig,
                 "default: KUBECONFIG, the pod's account, ~/.kube");
  app.add_flag("--zap-devel", zap_devel, "as --development");
  app.add_option("--zap-encoder", flags.log_encoder, "console or json")->capture_default_str();
  app.add_option("--zap-log-level", level, "debug, info, warn, error")->capture_default_str();
  app.add_option("--zap-stacktrace-level", ignored, "accepted for compatibility, no effect");
  app.add_flag("--development", flags.development, "debug logs for people");

  TRY(command.text, run_parser(app, "paddle-operator", args));
  if (!command.text.empty()) return command;
  if (options.workers < 1 || options.workers > kMostWorkers) {
    return bad_flag("workers", std::to_string(options.workers), "a number from 1 to 64");
  }
  TRY(options.controllers, controllers_of(controllers));
  TRY(options.paddle_job.host_ports, port_range_of(range));
  TRY(options.runtime_secret_lifetime, identity_lifetime_of(lifetime));
  TRY(flags.log_level, level_of(level));
  for (const auto& one : split_list(etcd)) {
    options.etcd_server += (options.etcd_server.empty() ? "" : ",") + one;
  }
  if (!roots.empty()) options.runtime.cache_roots = split_list(roots);
  TRY(options.namespace_cache_mib, cache_limit_of(cache_limit));
  if (options.runtime.volume_secrets_namespace.empty()) {
    return bad_flag("volume-secrets-namespace", "", "the name of a namespace");
  }
  for (const auto& root : options.runtime.cache_roots) {
    if (!root.starts_with('/'))
      return bad_flag("cache-roots", roots, "a list of absolute directories");
  }
  options.runtime.source_roots = split_list(source_roots);
  for (const auto& root : options.runtime.source_roots) {
    if (!root.starts_with('/') || root.find_first_not_of('/') == root.npos)
      return bad_flag("source-roots", source_roots, "a list of absolute directories");
  }
  flags.development = flags.development || zap_devel;
  if (flags.development) flags.log_level = "debug";
  if (flags.log_encoder != "console" && flags.log_encoder != "json") {
    return bad_flag("zap-encoder", flags.log_encoder, "console or json");
  }
  if (!options.paddle_job.scheduling.empty() && options.paddle_job.scheduling != "volcano") {
    return bad_flag("scheduling", options.paddle_job.scheduling, "volcano");
  }
  return command;
}

}  // namespace paddle::programs
