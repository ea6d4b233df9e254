// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/sources/source_secret.h"

#include <charconv>
#include <tuple>

#include "engine/node_engine.h"
#include "os/read_file.h"

namespace paddle::engine::samplefs {
namespace {

constexpr std::size_t kLongestKey = 64UL * 1024;  // ca.crt may have several certificates

// The value of a key; empty when there is none.
Result<std::string> read_key(const std::string& directory, const std::string& name) {
  if (directory.empty()) return std::string{};
  auto read = os::read_file(directory + "/" + name, kLongestKey);
  if (read.is(Code::kNotFound)) return std::string{};
  if (!read) {
    return Error{read.error().code,
                 "cannot use '" + name + "' of the source's Secret: " + read.error().message};
  }
  std::string text = *std::move(read);
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

Error wrong(const std::string& name, const char* expected) {
  return {Code::kInvalid, "'" + name + "' of the source's Secret is not " + expected};
}

Result<bool> flag_of(KeyValues& keys, const char* name, bool otherwise) {
  const std::string& text = keys[name];
  if (text.empty()) return otherwise;
  if (text == "true" || text == "false") return text == "true";
  return wrong(name, "\"true\" or \"false\"");
}

// 0 when there is none.
Result<std::uint64_t> number_of(KeyValues& keys, const char* name, std::uint64_t most,
                                const char* expected) {
  const std::string& text = keys[name];
  if (text.empty()) return std::uint64_t{0};
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc{} || end != text.data() + text.size() || number == 0 || number > most) {
    return wrong(name, expected);
  }
  return number;
}

auto all_of(const SourceSecret& s) {
  return std::tie(s.credentials.access_key, s.credentials.secret_key, s.credentials.session_token,
                  s.endpoint, s.region, s.ca_pem, s.path_style, s.bytes_per_second, s.list_threads,
                  s.version_ids, s.etag_is_md5);
}

}  // namespace

bool SourceSecret::operator==(const SourceSecret& other) const {
  return all_of(*this) == all_of(other);
}

Result<SourceSecret> source_secret_of(KeyValues keys) {
  SourceSecret secret{.credentials = {.access_key = std::move(keys["access-key"]),
                                      .secret_key = std::move(keys["secret-key"]),
                                      .session_token = std::move(keys["session-token"])},
                      .endpoint = std::move(keys["endpoint"]),
                      .region = std::move(keys["region"]),
                      .ca_pem = std::move(keys["ca.crt"])};
  if (secret.credentials.access_key.empty() != secret.credentials.secret_key.empty()) {
    return Error{Code::kInvalid,
                 "the source's Secret has only one of access-key and secret-key; put in both, or "
                 "neither for an anonymous source"};
  }
  const std::string& style = keys["address-style"];
  if (!style.empty() && style != "path" && style != "virtual") {
    return wrong("address-style", "path or virtual");
  }
  secret.path_style = style != "virtual";
  TRY(const std::uint64_t megabits, number_of(keys, "bwlimit", 10'000'000, "a number of Mbit/s"));
  secret.bytes_per_second = megabits * 125'000;
  TRY(const std::uint64_t threads, number_of(keys, "list-threads", 64, "a number from 1 to 64"));
  if (threads > 0) secret.list_threads = threads;
  TRY(secret.version_ids, flag_of(keys, "version-ids", false));
  TRY(secret.etag_is_md5, flag_of(keys, "etag-is-md5", true));
  return secret;
}

Result<SourceSecret> read_source_secret(const std::string& directory) {
  KeyValues keys;
  for (const std::string_view each : kSourceKeyNames) {
    const std::string name(each);
    TRY(keys[name], read_key(directory, name));
  }
  return source_secret_of(std::move(keys));
}

}  // namespace paddle::engine::samplefs
