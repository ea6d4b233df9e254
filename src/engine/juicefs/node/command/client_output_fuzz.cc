// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as what a JuiceFS client answers through `.control`, prints or writes to its other
// files: no crash, the same answer however the bytes are cut into pieces, and no secret in what is
// passed on.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "engine/juicefs/node/command/control_message.h"
#include "engine/juicefs/node/command/juicefs_output.h"

namespace {

using namespace paddle::engine::juicefs;

std::string answer_in_pieces(std::string_view bytes, std::size_t step) {
  ControlReader reader;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    if (!reader.add(bytes.substr(at, step))) return "refused";
    if (reader.answer().ended) break;
  }
  const ControlAnswer& answer = reader.answer();
  return std::to_string(answer.ended) + " " + std::to_string(answer.error) + " " +
         std::to_string(answer.files) + " " + std::to_string(answer.bytes) + " " + answer.data;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t step = 1 + data[0] % 16;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (answer_in_pieces(text, step) != answer_in_pieces(text, text.size())) std::abort();

  (void)static_cast<bool>(parse_cache_usage(text));
  (void)static_cast<bool>(parse_totals(text));
  (void)static_cast<bool>(parse_config(text));
  (void)metrics_address(text);
  (void)metric_value(text, "juicefs_uptime");
  (void)client_life(text);
  (void)sync_progress(text);
  (void)sync_outcome(text);
  (void)copied_files(text);

  const std::string secret = "s3cr#t%";
  const std::string log = std::string(text.substr(0, text.size() / 2)) + secret +
                          std::string(text.substr(text.size() / 2));
  if (failure_reason(log, {secret}).find(secret) != std::string::npos) std::abort();
  const auto left = left_out(log, {secret});
  if (left && left->find(secret) != std::string::npos) std::abort();
  return 0;
}
