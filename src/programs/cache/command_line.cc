// SPDX-License-Identifier: Apache-2.0
#include "programs/cache/command_line.h"

#include <CLI/CLI.hpp>

#include "programs/flags/flag_parser.h"

namespace paddle::programs {
namespace {

constexpr const char* kServeExamples = R"(Examples:
  paddle-cache serve --set=train/imagenet --source=s3://bucket/imagenet \
      --source-secret=/etc/paddle-cache/source --token-file=/etc/paddle-cache/token/token \
      --cache=/cache/0 --cache-mib=102400 --session=/run/paddle-cache --listen=10.0.0.7:7716
      as the operator runs it: a cache of 100 GiB, credentials from a mounted Secret
  paddle-cache serve --source=file:///data/flowers --token-file=$HOME/token \
      --cache=$HOME/.cache/flowers --listen=127.0.0.1:7716
      a directory of this machine, as much cache as the disk has
  paddle-cache serve --engine=juicefs --set=train/imagenet --source=bos://bucket.endpoint/prefix \
      --data=/mnt/imagenet --volume-secret=/etc/paddle-cache/volume --cache-mib=102400 \
      --source-secret=/etc/paddle-cache/source --token-file=/etc/paddle-cache/token/token \
      --tls=/etc/paddle-cache/token --cache=/var/lib/paddle-cache --listen=10.0.0.7:7716
      beside a JuiceFS volume that is mounted at /mnt/imagenet)";

constexpr const char* kFormatExamples = R"(Examples:
  paddle-cache format --volume-secret=/etc/paddle-cache/volume
      creates the JuiceFS volume that the Secret describes, unless it exists)";

constexpr const char* kRegisterExamples = R"(Examples:
  paddle-cache register --csi-socket=/csi/csi.sock \
      --kubelet-registration-path=/var/lib/kubelet/csi-plugins/csi.juicefs.com/csi.sock
      beside a driver in one pod: the first path is the container's, the second the node's)";

constexpr std::int64_t kLongestReadTimeout = 3600;
constexpr std::int64_t kMostScrubbedMib = 100'000;
constexpr std::int64_t kLeastInFlightMib = 16;  // four blocks
constexpr std::int64_t kMostInFlightMib = 65'536;

void add_juicefs(CLI::App* verb, std::string& volume_secret, std::string& program) {
  verb->add_option("--volume-secret", volume_secret,
                   "directory with name, metaurl, storage, bucket, access-key, ...");
  verb->add_option("--juicefs", program, "the program")->capture_default_str();
}

CLI::App* add_serve(CLI::App& app, ServeFlags& flags, std::vector<std::int64_t>& cache_mib) {
  CLI::App* serve = app.add_subcommand("serve", "the Cache Runtime Server: jobs, status, mounts");
  serve->footer(kServeExamples);
  serve->add_option("--engine", flags.engine, "samplefs or juicefs")->capture_default_str();
  serve->add_option("--set", flags.set, "namespace/name of the SampleSet");
  serve->add_option("--source", flags.source,
                    "URI such as s3://bucket/prefix or file:///directory; juicefs: may be empty");
  serve->add_option("--source-secret", flags.source_secret,
                    "directory with access-key, secret-key, session-token, endpoint, region");
  serve->add_option("--token-file", flags.token_file, "file with the token of the callers")
      ->required();
  serve->add_option("--tls", flags.tls,
                    "directory with tls.crt, tls.key and ca.crt; default: no TLS");
  serve
      ->add_option(
          "--cache", flags.caches,
          "directory of the cache (juicefs: of jobs and lists), used by this process only; "
          "repeated for more tiers, which are filled in their order")
      ->required()
      ->take_all();
  serve
      ->add_option(
          "--cache-mib", cache_mib,
          "its limit (juicefs: as the mount has it); 0: what the disk has; repeated like --cache")
      ->take_all();
  serve->add_option("--state", flags.state,
                    "samplefs: directory of index and jobs; default: the first --cache");
  serve->add_option("--keys", flags.keys,
                    "samplefs: directory in memory for keys of sources that jobs add; empty: they "
                    "end with the process");
  serve
      ->add_option("--read-timeout", flags.read_timeout,
                   "samplefs: seconds after which a read that needs the source fails")
      ->capture_default_str();
  serve
      ->add_option("--in-flight-mib", flags.in_flight_mib,
                   "samplefs: MiB of samples in memory, of reads, read-ahead and warm-up together")
      ->capture_default_str();
  serve
      ->add_option("--scrub-mib", flags.scrub_mib,
                   "samplefs: MiB of the cache that are read per second to find damage; 0: none")
      ->capture_default_str();
  serve->add_option("--session", flags.session,
                    "directory where the node attaches mounts; empty: none");
  serve->add_option("--data", flags.data, "juicefs: where the volume is mounted");
  serve->add_option("--sub-dir", flags.sub_dir, "juicefs: the directory of the volume to serve");
  add_juicefs(serve, flags.volume_secret, flags.juicefs);
  serve->add_option("--listen", flags.listen, "host:port of the runtime API")->required();
  serve->add_option("--log-format", flags.log_format, "text or json")->capture_default_str();
  return serve;
}

CLI::App* add_format(CLI::App& app, FormatFlags& flags) {
  CLI::App* verb = app.add_subcommand("format", "creates a JuiceFS volume unless it exists");
  verb->footer(kFormatExamples);
  add_juicefs(verb, flags.volume_secret, flags.juicefs);
  verb->add_flag("--update-keys", flags.update_keys,
                 "also writes the keys of the Secret into an existing volume");
  verb->add_option("--log-format", flags.log_format, "text or json")->capture_default_str();
  return verb;
}

Result<> check_serve(const ServeFlags& flags) {
  if (flags.engine == "samplefs") {
    if (flags.source.empty()) return Error{Code::kInvalid, "--source is required"};
    if (flags.cache_mib.size() > flags.caches.size()) {
      return Error{Code::kInvalid, "there are more --cache-mib than --cache"};
    }
    if (flags.in_flight_mib < kLeastInFlightMib || flags.in_flight_mib > kMostInFlightMib) {
      return bad_flag("in-flight-mib", std::to_string(flags.in_flight_mib), "16 to 65536 MiB");
    }
    if (flags.scrub_mib < 0 || flags.scrub_mib > kMostScrubbedMib) {
      return bad_flag("scrub-mib", std::to_string(flags.scrub_mib), "0 to 100000 MiB per second");
    }
    if (flags.read_timeout >= 1 && flags.read_timeout <= kLongestReadTimeout) return Done{};
    return bad_flag("read-timeout", std::to_string(flags.read_timeout), "1 to 3600 seconds");
  }
  if (flags.engine != "juicefs") return bad_flag("engine", flags.engine, "samplefs or juicefs");
  if (flags.caches.size() > 1) return Error{Code::kInvalid, "--engine=juicefs takes one --cache"};
  if (!flags.data.empty() && !flags.volume_secret.empty()) return Done{};
  return Error{Code::kInvalid, "--engine=juicefs needs --data and --volume-secret"};
}

CLI::App* add_register(CLI::App& app, RegisterFlags& flags) {
  CLI::App* verb = app.add_subcommand("register", "registers a CSI driver with its node's kubelet");
  verb->footer(kRegisterExamples);
  verb->add_option("--csi-socket", flags.csi_socket, "the driver's socket")->required();
  verb->add_option("--kubelet-registration-path", flags.kubelet_registration_path,
                   "the same socket, as kubelet sees it")
      ->required();
  verb->add_option("--registry", flags.registry, "kubelet's directory plugins_registry")
      ->capture_default_str();
  verb->add_option("--name", flags.name, "the driver's name; default: as the driver reports it");
  verb->add_option("--log-format", flags.log_format, "text or json")->capture_default_str();
  return verb;
}

}  // namespace

Result<CacheCommand> parse_cache(const std::vector<std::string>& args) {
  CacheCommand command;
  std::vector<std::int64_t> cache_mib;  // CLI11 would read -1 as a large unsigned number
  CLI::App app("What runs on a node: caches and serves samples, registers CSI drivers.",
               "paddle-cache");
  app.footer(kServeExamples);
  app.require_subcommand(1);
  const CLI::App* serving = add_serve(app, command.serve, cache_mib);
  const CLI::App* formatting = add_format(app, command.format);
  const CLI::App* registering = add_register(app, command.registration);

  TRY(command.text, run_parser(app, "paddle-cache", args));
  if (!command.text.empty()) return command;
  if (registering->parsed()) command.verb = CacheVerb::kRegister;
  if (formatting->parsed()) command.verb = CacheVerb::kFormat;
  for (const std::int64_t each : cache_mib) {
    if (each < 0) return bad_flag("cache-mib", std::to_string(each), "a size of at least 0");
    command.serve.cache_mib.push_back(static_cast<std::uint64_t>(each));
  }
  if (command.serve.state.empty() && !command.serve.caches.empty()) {
    command.serve.state = command.serve.caches.front();
  }
  if (serving->parsed()) CHECK_DONE(check_serve(command.serve));
  if (formatting->parsed() && command.format.volume_secret.empty()) {
    return Error{Code::kInvalid, "--volume-secret is required"};
  }
  for (const auto& format :
       {command.serve.log_format, command.format.log_format, command.registration.log_format}) {
    if (format != "text" && format != "json") return bad_flag("log-format", format, "text or json");
  }
  return command;
}

}  // namespace paddle::programs
