// SPDX-License-Identifier: Apache-2.0
#include "runtime/protocol.h"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

namespace paddle::runtime {
namespace {

using api::Json;

constexpr std::array kKinds{
    std::pair{JobKind::kSync, "sync"}, std::pair{JobKind::kWarmup, "warmup"},
    std::pair{JobKind::kClear, "clear"}, std::pair{JobKind::kRemove, "rmr"}};
constexpr std::array kStates{
    std::pair{JobState::kQueued, "queued"}, std::pair{JobState::kRunning, "running"},
    std::pair{JobState::kSucceeded, "succeeded"}, std::pair{JobState::kFailed, "failed"},
    std::pair{JobState::kCancelled, "cancelled"}};
constexpr std::size_t kMostPaths = 10'000;
constexpr std::int32_t kMostPartitions = 10'000;

Error wrong(const std::string& field, const std::string& wants) {
  return {Code::kInvalid, field + " is not " + wants};
}

// Reads fields of one object; the first that is not what it should be is remembered.
class Reader {
 public:
  explicit Reader(const Json& from) : from_(from) {
    if (!from.is_object()) error_ = wrong("the message", "an object");
  }

  void take(const char* name, std::int64_t& into) {
    const Json* found = find(name);
    if (!found) return;
    if (!found->is_number_integer() ||
        (found->is_number_unsigned() && found->get<std::uint64_t>() > INT64_MAX)) {
      return fail(wrong(name, "a whole number"));
    }
    into = found->get<std::int64_t>();
    if (into < 0) fail(wrong(name, "a number of at least 0"));
  }
  void take(const char* name, std::string& into) {
    const Json* found = find(name);
    if (!found) return;
    if (!found->is_string()) return fail(wrong(name, "a text"));
    into = found->get<std::string>();
  }
  void take(const char* name, std::vector<std::string>& into) {
    const Json* found = find(name);
    if (!found) return;
    if (!found->is_array() || found->size() > kMostPaths) {
      return fail(wrong(name, "a list of at most " + std::to_string(kMostPaths) + " texts"));
    }
    for (const Json& each : *found) {
      if (!each.is_string()) return fail(wrong(name, "a list of texts"));
      into.push_back(each.get<std::string>());
    }
  }
  template <typename T, typename Parse>
  void take_named(const char* name, T& into, Parse parse) {
    std::string text;
    take(name, text);
    if (error_) return;
    auto parsed = parse(text);
    if (parsed) {
      into = *parsed;
    } else {
      fail(wrong(name, parsed.error().message));
    }
  }
  const Json* find(const char* name) const {
    if (error_) return nullptr;
    const auto found = from_.find(name);
    return found == from_.end() || found->is_null() ? nullptr : &*found;
  }
  void fail(Error error) {
    if (!error_) error_ = std::move(error);
  }
  Result<> done() const {
    if (error_) return *error_;
    return Done{};
  }

 private:
  const Json& from_;
  std::optional<Error> error_{};
};

template <typename Table, typename Value>
std::string text_of(const Table& table, Value value) {
  for (const auto& [each, text] : table) {
    if (each == value) return text;
  }
  return "unknown";
}

template <typename Value, typename Table>
Result<Value> value_of(const Table& table, const std::string& text) {
  std::string known;
  for (const auto& [each, name] : table) {
    if (text == name) return Value{each};
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  return Error{Code::kInvalid, "one of " + known};
}

// Beneath the root of the set.
bool is_relative(const std::string& path) {
  if (path.empty() || path.size() > 4096 || path.find('\0') != path.npos) return false;
  std::size_t at = 0;
  while (at <= path.size()) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, slash - at);
    if (part == "." || part == ".." || (part.empty() && slash != path.size())) return false;
    at = slash + 1;
  }
  return true;
}

}  // namespace

std::string to_string(JobKind kind) { return text_of(kKinds, kind); }
Result<JobKind> parse_job_kind(const std::string& text) { return value_of<JobKind>(kKinds, text); }
std::string to_string(JobState state) { return text_of(kStates, state); }
Result<JobState> parse_job_state(const std::string& text) {
  return value_of<JobState>(kStates, text);
}

bool ended(JobState state) { return state != JobState::kQueued && state != JobState::kRunning; }

Json encode(const JobRequest& request) {
  return {{"kind", to_string(request.kind)},
          {"paths", Json(request.paths)},
          {"partition", request.partition},
          {"partitions", request.partitions}};
}

Json encode(const JobReport& report) {
  Json json{{"id", report.id},
            {"kind", to_string(report.kind)},
            {"state", to_string(report.state)},
            {"filesTotal", report.files_total},
            {"filesDone", report.files_done},
            {"filesFailed", report.files_failed},
            {"filesNoRoom", report.files_no_room},
            {"bytesTotal", report.bytes_total},
            {"bytesDone", report.bytes_done},
            {"bytesPerSecond", report.bytes_per_second},
            {"error", report.error}};
  if (report.seconds_left) json["secondsLeft"] = *report.seconds_left;
  return json;
}

Json encode(const StatusReport& report) {
  Json json{{"engine", report.engine},
            {"cache",
             {{"files", report.cache.files},
              {"bytes", report.cache.bytes},
              {"limit", report.cache.limit},
              {"diskSize", report.cache.disk_size},
              {"diskUsed", report.cache.disk_used},
              {"diskAvail", report.cache.disk_avail}}},
            {"reads",
             {{"fromCache", report.reads.from_cache},
              {"fromMemory", report.reads.from_memory},
              {"fromSource", report.reads.from_source},
              {"downloaded", report.reads.downloaded}}},
            {"mounts", report.mounts},
            {"error", report.error}};
  if (report.index) {
    json["index"] = {{"generation", report.index->generation},
                     {"digest", report.index->digest},
                     {"files", report.index->files},
                     {"bytes", report.index->bytes}};
  }
  return json;
}

Result<JobRequest> decode_job_request(const Json& from) {
  JobRequest request;
  Reader read(from);
  std::int64_t partition = 0, partitions = 1;
  read.take_named("kind", request.kind, parse_job_kind);
  read.take("paths", request.paths);
  read.take("partition", partition);
  read.take("partitions", partitions);
  CHECK_DONE(read.done());
  if (partitions < 1 || partitions > kMostPartitions) {
    return wrong("partitions", "a number from 1 to " + std::to_string(kMostPartitions));
  }
  if (partition >= partitions) return wrong("partition", "less than partitions");
  for (const std::string& path : request.paths) {
    if (!is_relative(path)) return wrong("paths", "a list of paths beneath the root of the set");
  }
  request.partition = static_cast<std::int32_t>(partition);
  request.partitions = static_cast<std::int32_t>(partitions);
  return request;
}

Result<JobReport> decode_job_report(const Json& from) {
  JobReport report;
  Reader read(from);
  read.take("id", report.id);
  read.take_named("kind", report.kind, parse_job_kind);
  read.take_named("state", report.state, parse_job_state);
  read.take("filesTotal", report.files_total);
  read.take("filesDone", report.files_done);
  read.take("filesFailed", report.files_failed);
  read.take("filesNoRoom", report.files_no_room);
  read.take("bytesTotal", report.bytes_total);
  read.take("bytesDone", report.bytes_done);
  read.take("bytesPerSecond", report.bytes_per_second);
  if (read.find("secondsLeft")) read.take("secondsLeft", report.seconds_left.emplace());
  read.take("error", report.error);
  CHECK_DONE(read.done());
  if (!is_job_id(report.id)) return wrong("id", "a job's id");
  return report;
}

Result<StatusReport> decode_status_report(const Json& from) {
  StatusReport report;
  Reader read(from);
  read.take("engine", report.engine);
  read.take("mounts", report.mounts);
  read.take("error", report.error);
  if (const Json* index = read.find("index")) {
    Reader in(*index);
    IndexReport& into = report.index.emplace();
    in.take("generation", into.generation);
    in.take("digest", into.digest);
    in.take("files", into.files);
    in.take("bytes", into.bytes);
    CHECK_DONE(in.done());
  }
  if (const Json* cache = read.find("cache")) {
    Reader in(*cache);
    in.take("files", report.cache.files);
    in.take("bytes", report.cache.bytes);
    in.take("limit", report.cache.limit);
    in.take("diskSize", report.cache.disk_size);
    in.take("diskUsed", report.cache.disk_used);
    in.take("diskAvail", report.cache.disk_avail);
    CHECK_DONE(in.done());
  }
  if (const Json* reads = read.find("reads")) {
    Reader in(*reads);
    in.take("fromCache", report.reads.from_cache);
    in.take("fromMemory", report.reads.from_memory);
    in.take("fromSource", report.reads.from_source);
    in.take("downloaded", report.reads.downloaded);
    CHECK_DONE(in.done());
  }
  CHECK_DONE(read.done());
  return report;
}

bool is_job_id(const std::string& text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.';
  };
  return !text.empty() && text.size() <= 64 && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), allowed);
}

}  // namespace paddle::runtime
