// SPDX-License-Identifier: Apache-2.0
//
// Writes what deploy/ holds of src/api. A tool of the build, not a program for users.
//
//   paddle-crdgen --out deploy                  the CRD files
//   paddle-crdgen --distill openapi.json FILE   the pod template's schema, from an API server's
//                                               /openapi/v3/api/v1 (tools/refresh_pod_schema)

#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include <nlohmann/json.hpp>

#include "api/crd/crd.h"
#include "api/schema/pod_schema.h"
#include "os/read_file.h"

namespace {

using namespace paddle;

constexpr std::size_t kLongestOpenApi = std::size_t{64} << 20;

Result<> write_file(const std::filesystem::path& path, const std::string& text) {
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text << std::flush;
  if (!out) return Error{Code::kUnavailable, "cannot write " + path.string()};
  std::cout << path.string() << " " << text.size() << " bytes\n";
  return Done{};
}

Result<> write_deploy(const std::filesystem::path& to) {
  for (const auto& [name, text] : api::deploy_files()) CHECK_DONE(write_file(to / name, text));
  return Done{};
}

Result<> distill(const std::string& from, const std::string& to) {
  TRY(const std::string text, os::read_file(from, kLongestOpenApi));
  TRY(const api::Json openapi, api::parse_json(text));
  TRY(const api::Json schema, api::distill_pod_template(openapi));
  return write_file(to, api::dump_json(schema) + "\n");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  Result<> done =
      Error{Code::kInvalid, "usage: paddle-crdgen --out DIRECTORY | --distill OPENAPI FILE"};
  if (verb == "--out" && argc == 3) done = write_deploy(argv[2]);
  if (verb == "--distill" && argc == 4) done = distill(argv[2], argv[3]);
  if (done) return 0;
  std::cerr << "paddle-crdgen: " << done.error().message << "\n";
  return 1;
}
