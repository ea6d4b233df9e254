// SPDX-License-Identifier: Apache-2.0
#include "test/support/control_plane.h"

#include <filesystem>
#include <iostream>
#include <optional>

#include <gtest/gtest.h>
#include <sys/statvfs.h>

#include "base/clock.h"
#include "base/random.h"
#include "test/support/components.h"
#include "test/support/http.h"
#include "test/support/keeper.h"
#include "test/support/ports.h"

namespace paddle::test {
namespace {

constexpr std::chrono::seconds kReadyLimit{120};  // a guard, not an expectation

constexpr const char* kAuditPolicy = R"(apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  verbs: [get, list, watch]
- level: RequestResponse
)";

// etcd syncs on every write; on tmpfs that costs nothing.
std::string data_base(const std::string& otherwise) {
  constexpr unsigned long kRoom = 1UL << 30U;
  struct statvfs room {};
  if (::statvfs("/dev/shm", &room) != 0 || room.f_bavail * room.f_frsize < kRoom) return otherwise;
  return "/dev/shm";
}

// The test in progress, or, between tests (a plane shared by a suite), any test so far.
bool test_failed() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  return test != nullptr ? test->result()->Failed() : ::testing::UnitTest::GetInstance()->Failed();
}

// The command that runs this test again; empty outside a test.
std::string reproduction() {
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string line = "'" + program.string() + "'";
  if (test != nullptr) {
    line += std::string(" --gtest_filter='") + test->test_suite_name() + "." + test->name() + "'";
  }
  return line;
}

}  // namespace

class ControlPlane::Parts {
 public:
  Parts(ControlPlaneOptions options, std::unique_ptr<Keeper> keeper, Authority authority,
        ReservedPort api, ReservedPort client, ReservedPort peer)
      : options_(std::move(options)),
        keeper_(std::move(keeper)),
        authority_(std::move(authority)),
        api_port_(std::move(api)),
        client_port_(std::move(client)),
        peer_port_(std::move(peer)) {}

  ~Parts() {
    if (!test_failed()) return;
    keeper_->keep_directory();
    std::cerr << "logs kept in " << directory() << "\nreproduce: " << reproduction() << std::endl;
  }

  const std::string& directory() const { return keeper_->directory(); }
  std::string file(const std::string& name) const { return directory() + "/" + name; }
  std::string url() const { return "https://127.0.0.1:" + std::to_string(api_port_.number()); }
  std::string etcd_url() const {
    return "http://127.0.0.1:" + std::to_string(client_port_.number());
  }

  Result<> prepare() {
    CHECK_DONE(find_components());
    CHECK_DONE(write_credentials());
    TRY(data_, keeper_->scrap_directory(data_base(directory())));
    return Done{};
  }

  Result<> start_etcd() {
    const std::string peer = "http://127.0.0.1:" + std::to_string(peer_port_.number());
    TRY(etcd_,
        launch("etcd",
               {etcd_path_, "--data-dir=" + data_ + "/etcd", "--listen-client-urls=" + etcd_url(),
                "--advertise-client-urls=" + etcd_url(), "--listen-peer-urls=" + peer,
                "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer,
                "--quota-backend-bytes=4294967296"}));
    return await("etcd", etcd_, {.url = etcd_url() + "/health"});
  }

  Result<> start_api_server() {
    if (api_server_ != 0) return Error{Code::kConflict, "the API server is already started"};
    TRY(api_server_, launch("kube-apiserver", api_server_command()));
    return await("kube-apiserver", api_server_,
                 {.url = url() + "/readyz", .ca_path = file("ca.crt"), .token = token("admin")});
  }

  Result<> stop_api_server() {
    if (api_server_ == 0) return Done{};
    CHECK_DONE(keeper_->kill(std::exchange(api_server_, 0)));
    return Done{};
  }

  Result<> compact() {
    // A range over one absent key: the header of the answer carries the revision.
    TRY(const auto seen, call({.url = etcd_url() + "/v3/kv/range", .body = R"({"key":"AA=="})"}));
    const std::string mark = "\"revision\":\"";
    const size_t at = seen.body.find(mark);
    if (at == std::string::npos) return Error{Code::kInternal, "etcd says: " + seen.body};
    const size_t from = at + mark.size();
    const std::string revision = seen.body.substr(from, seen.body.find('"', from) - from);
    TRY(const auto done, call({.url = etcd_url() + "/v3/kv/compaction",
                               .body = R"({"revision":")" + revision + R"(","physical":true})"}));
    // Compacting twice at the same revision is refused; the result is the same.
    const bool already = done.body.find("\"code\":11") != std::string::npos;  // OUT_OF_RANGE
    if (done.status != 200 && !already) return Error{Code::kInternal, "etcd says: " + done.body};
    return Done{};
  }

  Ran kubectl(const std::vector<std::string>& args, const std::string& input) const {
    Command command{.argv = {kubectl_path_, "--kubeconfig=" + file("kubeconfig")},
                    .env = clean_environment(directory()),
                    .directory = directory()};
    command.argv.insert(command.argv.end(), args.begin(), args.end());
    return run(std::move(command), input);
  }

  std::string token(std::string_view user) const { return std::string(user) + "-" + secret_; }
  Keeper& keeper() const { return *keeper_; }
  const Authority& authority() const { return authority_; }

 private:
  Result<> find_components() {
    TRY(etcd_path_, component("etcd"));
    TRY(api_server_path_, component("kube-apiserver"));
    TRY(kubectl_path_, component("kubectl"));
    return Done{};
  }

  Result<> write_credentials() {
    TRY(const Certificate serving, authority_.server({"IP:127.0.0.1", "DNS:localhost"}));
    TRY(const KeyPair accounts, new_key_pair());
    const std::string users = token("admin") + ",admin,admin,\"system:masters\"\n" +
                              token("alice") + ",alice,alice\n" + token("bob") + ",bob,bob\n";
    const std::string kubeconfig =
        "apiVersion: v1\nkind: Config\ncurrent-context: test\n"
        "clusters: [{name: test, cluster: {server: '" +
        url() + "', certificate-authority: '" + file("ca.crt") +
        "'}}]\nusers: [{name: admin, user: {token: '" + token("admin") +
        "'}}]\ncontexts: [{name: test, context: {cluster: test, user: admin}}]\n";
    const std::vector<std::pair<std::string, std::string>> files{
        {"ca.crt", authority_.certificate()},
        {"server.crt", serving.certificate},
        {"server.key", serving.key},
        {"accounts.key", accounts.private_key},
        {"accounts.pub", accounts.public_key},
        {"tokens.csv", users},
        {"kubeconfig", kubeconfig},
        {"audit.yaml", kAuditPolicy}};
    for (const auto& [name, content] : files) CHECK_DONE(write_file(file(name), content));
    return Done{};
  }

  std::vector<std::string> api_server_command() const {
    std::vector<std::string> argv{api_server_path_,
                                  "--etcd-servers=" + etcd_url(),
                                  "--etcd-compaction-interval=0",
                                  "--bind-address=127.0.0.1",
                                  "--advertise-address=127.0.0.1",
                                  "--endpoint-reconciler-type=none",
                                  "--secure-port=" + std::to_string(api_port_.number()),
                                  "--tls-cert-file=" + file("server.crt"),
                                  "--tls-private-key-file=" + file("server.key"),
                                  "--client-ca-file=" + file("ca.crt"),
                                  "--cert-dir=" + directory(),
                                  "--token-auth-file=" + file("tokens.csv"),
                                  "--authorization-mode=RBAC",
                                  "--disable-admission-plugins=ServiceAccount",
                                  "--service-account-issuer=https://kubernetes.default.svc",
                                  "--service-account-key-file=" + file("accounts.pub"),
                                  "--service-account-signing-key-file=" + file("accounts.key"),
                                  "--service-cluster-ip-range=10.97.0.0/16",
                                  "--allow-privileged=true",
                                  "--profiling=false"};
    if (options_.audit) {
      argv.push_back("--audit-policy-file=" + file("audit.yaml"));
      argv.push_back("--audit-log-path=" + file("audit.log"));
      argv.push_back("--audit-log-mode=blocking");  // a line is written before the response
    }
    argv.insert(argv.end(), options_.api_server_flags.begin(), options_.api_server_flags.end());
    return argv;
  }

  Result<pid_t> launch(const std::string& name, std::vector<std::string> argv) {
    return keeper_->spawn({.argv = std::move(argv),
                           .env = clean_environment(directory()),
                           .directory = directory(),
                           .log = file(name + ".log")});
  }

  // Ready: it responds, and the process that responds is our child.
  Result<> await(const std::string& name, pid_t child, const HttpCall& question) {
    const BootTime deadline = system_clock().boot() + kReadyLimit;
    std::string last = "no answer yet";
    for (;;) {
      const auto answer = call(question);
      TRY(const auto ended, keeper_->status(child));
      if (ended) return unready(name, describe(*ended));
      if (answer && answer->status == 200) return Done{};
      last = answer ? "HTTP " + std::to_string(answer->status) + " " + answer->body
                    : answer.error().message;
      if (system_clock().boot() > deadline) return unready(name, "not ready: " + last);
      system_clock().sleep(std::chrono::milliseconds{25}, {});
    }
  }

  Error unready(const std::string& name, const std::string& why) {
    const std::string log = file(name + ".log");
    keeper_->keep_directory();
    return {Code::kUnavailable, name + " " + why + "; its log is " + log + ", which ends:\n" +
                                    tail(log, 15) + "reproduce: " + reproduction()};
  }

  const ControlPlaneOptions options_;
  const std::unique_ptr<Keeper> keeper_;
  const Authority authority_;
  const ReservedPort api_port_;
  const ReservedPort client_port_;
  const ReservedPort peer_port_;
  const std::string secret_ = system_random().hex(24);
  std::string etcd_path_{};
  std::string api_server_path_{};
  std::string kubectl_path_{};
  std::string data_{};
  pid_t etcd_ = 0;
  pid_t api_server_ = 0;
};

ControlPlane::ControlPlane(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ControlPlane::~ControlPlane() = default;

Result<std::unique_ptr<ControlPlane>> ControlPlane::start(ControlPlaneOptions options) {
  TRY(auto keeper, Keeper::start());
  TRY(auto authority, Authority::create("paddle test authority"));
  TRY(auto api, ReservedPort::any());
  TRY(auto client, ReservedPort::any());
  TRY(auto peer, ReservedPort::any());
  auto parts = std::make_unique<Parts>(std::move(options), std::move(keeper), std::move(authority),
                                       std::move(api), std::move(client), std::move(peer));
  CHECK_DONE(parts->prepare());
  CHECK_DONE(parts->start_etcd());
  CHECK_DONE(parts->start_api_server());
  return std::unique_ptr<ControlPlane>(new ControlPlane(std::move(parts)));
}

std::string ControlPlane::url() const { return parts_->url(); }
std::string ControlPlane::ca_path() const { return parts_->file("ca.crt"); }
std::string ControlPlane::token() const { return parts_->token("admin"); }
std::string ControlPlane::token_of(std::string_view user) const { return parts_->token(user); }
std::string ControlPlane::kubeconfig() const { return parts_->file("kubeconfig"); }
std::string ControlPlane::directory() const { return parts_->directory(); }
std::string ControlPlane::audit_log() const { return parts_->file("audit.log"); }
const Authority& ControlPlane::authority() const { return parts_->authority(); }
Keeper& ControlPlane::keeper() const { return parts_->keeper(); }
Result<> ControlPlane::stop_api_server() { return parts_->stop_api_server(); }
Result<> ControlPlane::start_api_server() { return parts_->start_api_server(); }
Result<> ControlPlane::compact_etcd() { return parts_->compact(); }
Result<> ControlPlane::start_controllers(const std::vector<std::string>& names) {
  TRY(const auto program, component("kube-controller-manager"));
  std::string controllers = "--controllers=";
  for (const auto& name : names) controllers += name + ",";
  controllers.pop_back();
  TRY([[maybe_unused]] const auto pid,
      keeper().spawn(
          {.argv = {program, "--kubeconfig=" + kubeconfig(), "--leader-elect=false",
                    "--secure-port=0", "--use-service-account-credentials=false", controllers},
           .env = clean_environment(directory()),
           .directory = directory(),
           .log = directory() + "/kube-controller-manager.log"}));
  return Done{};
}
ControlPlane::Ran ControlPlane::kubectl(const std::vector<std::string>& args,
                                        const std::string& input) const {
  return parts_->kubectl(args, input);
}

}  // namespace paddle::test
