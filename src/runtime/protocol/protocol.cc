// SPDX-License-Identifier: Apache-2.0
#include "runtime/protocol/protocol.h"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

namespace paddle::runtime {
namespace {

using api::Json;

constexpr std::array kStates{
    std::pair{JobState::kQueued, "queued"}, std::pair{JobState::kRunning, "running"},
    std::pair{JobState::kSucceeded, "succeeded"}, std::pair{JobState::kFailed, "failed"},
    std::pair{JobState::kCancelled, "cancelled"}};
constexpr std::array kOrders{std::pair{sampler::Order::kSequence, "sequence"},
                             std::pair{sampler::Order::kRandom, "random"},
                             std::pair{sampler::Order::kDistributedBatch, "distributedBatch"}};
constexpr std::size_t kMostPaths = 10'000;
constexpr std::int32_t kMostThreads = 1'000;
constexpr std::size_t kMostKeys = 64;
constexpr std::size_t kMostExamples = 20;
constexpr std::size_t kLongestExample = 500;  // also of a path that is only shown
constexpr std::int32_t kMostPartitions = 10'000;

Error wrong(const std::string& field, const std::string& wants) {
  return {Code::kInvalid, field + " is not " + wants};
}

// Reads the fields of one object, and keeps the first error.
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
  void take(const char* name, std::int32_t& into, std::int32_t most) {
    std::int64_t number = into;
    take(name, number);
    if (number > most) return fail(wrong(name, "a number of at most " + std::to_string(most)));
    into = static_cast<std::int32_t>(number);
  }
  void take(const char* name, bool& into) {
    const Json* found = find(name);
    if (!found) return;
    if (!found->is_boolean()) return fail(wrong(name, "true or false"));
    into = found->get<bool>();
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

// Whether it is a path beneath the root of the set.
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

// ---- a sync ----

Json encode(const engine::SyncTask& task) {
  Json json{{"source", task.source},
            {"destination", task.destination},
            {"start", task.start},
            {"end", task.end},
            {"include", Json(task.include)},
            {"exclude", Json(task.exclude)},
            {"threads", task.threads},
            {"megabits", task.megabits},
            {"update", task.update},
            {"forceUpdate", task.force_update},
            {"perms", task.perms},
            {"dirs", task.dirs},
            {"dry", task.dry},
            {"deleteSource", task.delete_source},
            {"deleteDestination", task.delete_destination}};
  if (task.parts > 1) {
    json["part"] = task.part;
    json["parts"] = task.parts;
    json["listsAt"] = task.lists_at;
    if (!task.division.empty()) json["division"] = task.division;
  }
  if (task.no_https) json["noHttps"] = true;
  if (task.counts) json["counts"] = true;
  if (!task.keys.values.empty()) json["keys"] = task.keys.values;
  return json;
}

Result<engine::SourceKeys> decode_keys(const Json& from) {
  engine::SourceKeys keys;
  if (!from.is_object() || from.size() > kMostKeys)
    return wrong("keys", "an object of a few texts");
  for (const auto& [name, value] : from.items()) {
    if (!value.is_string()) return wrong("keys", "an object of texts");
    keys.values[name] = value.get<std::string>();
  }
  return keys;
}

Result<engine::SyncTask> decode_sync(const Json& from) {
  engine::SyncTask task;
  Reader read(from);
  read.take("source", task.source);
  read.take("destination", task.destination);
  read.take("start", task.start);
  read.take("end", task.end);
  read.take("include", task.include);
  read.take("exclude", task.exclude);
  read.take("threads", task.threads, kMostThreads);
  read.take("megabits", task.megabits);
  read.take("update", task.update);
  read.take("forceUpdate", task.force_update);
  read.take("perms", task.perms);
  read.take("dirs", task.dirs);
  read.take("dry", task.dry);
  read.take("deleteSource", task.delete_source);
  read.take("deleteDestination", task.delete_destination);
  read.take("part", task.part, kMostPartitions - 1);
  read.take("parts", task.parts, kMostPartitions);
  read.take("listsAt", task.lists_at);
  read.take("division", task.division);
  read.take("noHttps", task.no_https);
  read.take("counts", task.counts);
  CHECK_DONE(read.done());
  if (!task.division.empty() && !is_job_id(task.division)) return wrong("division", "an id");
  if (task.parts < 1) return wrong("parts", "a number of at least 1");
  if (task.part >= task.parts) return wrong("part", "less than parts");
  if (const Json* keys = read.find("keys")) {
    TRY(task.keys, decode_keys(*keys));
  }
  if (!task.destination.empty() && !is_relative(task.destination)) {
    return wrong("destination", "a path beneath the root of the set");
  }
  return task;
}

// ---- what was left out ----

void put(Json& json, const engine::LeftOut& left) {
  if (left.count == 0) return;
  json["leftOut"] = {{"count", left.count}, {"examples", left.examples}};
}

// Limited here, so that no runtime can fill the status of a set.
Result<engine::LeftOut> decode_left_out(const Json& from) {
  engine::LeftOut left;
  Reader read(from);
  read.take("count", left.count);
  read.take("examples", left.examples);
  CHECK_DONE(read.done());
  if (left.examples.size() > kMostExamples) left.examples.resize(kMostExamples);
  std::erase_if(left.examples, [](const auto& each) { return each.size() > kLongestExample; });
  return left;
}

// ---- what a verification has found ----

Json encode(const api::Verification& found) {
  Json problems = Json::array();
  for (const api::FoundProblem& each : found.first_problems) {
    Json problem{{"path", each.path}, {"problem", each.problem}};
    if (each.repaired) problem["repaired"] = true;
    problems.push_back(std::move(problem));
  }
  return {{"checked", found.checked},
          {"compared", found.compared},
          {"missing", found.missing},
          {"stale", found.stale},
          {"corrupt", found.corrupt},
          {"repaired", found.repaired},
          {"firstProblems", std::move(problems)}};
}

Result<api::FoundProblem> decode_problem(const Json& from) {
  api::FoundProblem problem;
  Reader read(from);
  read.take("path", problem.path);
  read.take("problem", problem.problem);
  read.take("repaired", problem.repaired);
  CHECK_DONE(read.done());
  return problem;
}

// Limited like what was left out.
Result<api::Verification> decode_verification(const Json& from) {
  api::Verification found;
  Reader read(from);
  read.take("checked", found.checked);
  read.take("compared", found.compared);
  read.take("missing", found.missing);
  read.take("stale", found.stale);
  read.take("corrupt", found.corrupt);
  read.take("repaired", found.repaired);
  const Json* problems = read.find("firstProblems");
  CHECK_DONE(read.done());
  if (!problems) return found;
  if (!problems->is_array()) return wrong("firstProblems", "a list");
  for (const Json& each : *problems) {
    if (found.first_problems.size() >= api::Verification::kMostNamed) break;
    TRY(api::FoundProblem problem, decode_problem(each));
    const bool known = std::ranges::any_of(
        api::kSampleProblems, [&](const char* name) { return problem.problem == name; });
    if (!known || problem.path.size() > kLongestExample) continue;
    found.first_problems.push_back(std::move(problem));
  }
  return found;
}

// ---- which files ----

void put(Json& json, const engine::Selection& which) {
  json["paths"] = which.paths;
  json["file"] = which.file;
  json["partition"] = which.partition;
  json["partitions"] = which.partitions;
  json["threads"] = which.threads;
  json["skipTrash"] = which.skip_trash;
  if (which.repair) json["repair"] = true;
  if (which.accepted > 0) json["accepted"] = which.accepted;
  if (which.again) json["again"] = true;
  json["listsAt"] = which.lists_at;
  json["strategy"] = {{"order", text_of(kOrders, which.strategy.order)},
                      {"batchSize", which.strategy.batch_size},
                      {"ranks", which.strategy.ranks},
                      {"epoch", which.strategy.epoch},
                      {"shuffle", which.strategy.shuffle},
                      {"dropLast", which.strategy.drop_last}};
  if (which.strategy.seed) json["strategy"]["seed"] = *which.strategy.seed;
}

Result<sampler::Strategy> decode_strategy(const Json& from) {
  sampler::Strategy strategy;
  Reader read(from);
  read.take_named("order", strategy.order,
                  [](const std::string& text) { return value_of<sampler::Order>(kOrders, text); });
  read.take("batchSize", strategy.batch_size);
  read.take("ranks", strategy.ranks, kMostPartitions);
  read.take("epoch", strategy.epoch);
  if (read.find("seed")) {
    std::int64_t seed = 0;
    read.take("seed", seed);
    if (seed > UINT32_MAX) read.fail(wrong("seed", "a number of 32 bits"));
    strategy.seed = static_cast<std::uint32_t>(seed);
  }
  read.take("shuffle", strategy.shuffle);
  read.take("dropLast", strategy.drop_last);
  CHECK_DONE(read.done());
  return strategy;
}

Result<engine::Selection> decode_selection(const Json& from) {
  engine::Selection which;
  Reader read(from);
  read.take("paths", which.paths);
  read.take("file", which.file);
  read.take("partition", which.partition, kMostPartitions - 1);
  read.take("partitions", which.partitions, kMostPartitions);
  read.take("threads", which.threads, kMostThreads);
  read.take("skipTrash", which.skip_trash);
  read.take("repair", which.repair);
  read.take("accepted", which.accepted);
  read.take("again", which.again);
  read.take("listsAt", which.lists_at);
  CHECK_DONE(read.done());
  if (const Json* strategy = read.find("strategy")) {
    TRY(which.strategy, decode_strategy(*strategy));
  }
  if (which.partitions < 1) return wrong("partitions", "a number of at least 1");
  if (which.partition >= which.partitions) return wrong("partition", "less than partitions");
  for (const std::string& path : which.paths) {
    if (!is_relative(path)) return wrong("paths", "a list of paths beneath the root of the set");
  }
  if (!which.file.empty() && !is_relative(which.file)) {
    return wrong("file", "a path beneath the root of the set");
  }
  return which;
}

}  // namespace

std::string to_string(JobState state) { return text_of(kStates, state); }
Result<JobState> parse_job_state(const std::string& text) {
  return value_of<JobState>(kStates, text);
}

bool ended(JobState state) { return state != JobState::kQueued && state != JobState::kRunning; }

Json encode(const JobRequest& request) {
  Json json{{"kind", to_string(request.kind)}};
  if (request.kind == JobKind::kSync) {
    json["sync"] = encode(request.sync);
  } else {
    put(json, request.which);
  }
  return json;
}

Json encode(const JobReport& report) {
  const engine::Progress& progress = report.progress;
  Json json{{"id", report.id},
            {"kind", to_string(report.kind)},
            {"state", to_string(report.state)},
            {"filesTotal", progress.files_total},
            {"filesDone", progress.files_done},
            {"filesFailed", progress.files_failed},
            {"filesNoRoom", progress.files_no_room},
            {"bytesTotal", progress.bytes_total},
            {"bytesDone", progress.bytes_done},
            {"bytesPerSecond", progress.bytes_per_second},
            {"error", report.error}};
  if (!progress.cut.empty()) json["cut"] = progress.cut;
  if (progress.seconds_left) json["secondsLeft"] = *progress.seconds_left;
  if (report.cleared_since) json["clearedSince"] = true;
  put(json, progress.left_out);
  if (progress.verification) json["verification"] = encode(*progress.verification);
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
              {"diskAvail", report.cache.disk_avail},
              {"life", report.cache.life}}},
            {"reads",
             {{"fromCache", report.reads.from_cache},
              {"fromMemory", report.reads.from_memory},
              {"fromSource", report.reads.from_source},
              {"downloaded", report.reads.downloaded}}},
            {"part", {{"bytes", report.part_bytes}, {"cachedBytes", report.part_cached_bytes}}},
            {"mounts", report.mounts},
            {"remark", report.remark},
            {"sourceError", report.source_error},
            {"syncedBy", report.synced_by},
            {"error", report.error}};
  if (report.index) {
    json["index"] = {{"generation", report.index->generation},
                     {"synced", report.index->synced},
                     {"digest", report.index->digest},
                     {"files", report.index->files},
                     {"bytes", report.index->bytes}};
    put(json["index"], report.index->left_out);
  }
  if (report.last_warm_up) {
    json["lastWarmUp"] = {{"ended", report.last_warm_up->ended},
                          {"filesNoRoom", report.last_warm_up->files_no_room},
                          {"clearedSince", report.last_warm_up->cleared_since}};
  }
  return json;
}

Result<JobRequest> decode_job_request(const Json& from) {
  JobRequest request;
  Reader read(from);
  read.take_named("kind", request.kind, parse_job_kind);
  CHECK_DONE(read.done());
  if (request.kind != JobKind::kSync) {
    TRY(request.which, decode_selection(from));
  } else if (const Json* sync = read.find("sync")) {
    TRY(request.sync, decode_sync(*sync));
  }
  return request;
}

Result<JobReport> decode_job_report(const Json& from) {
  JobReport report;
  engine::Progress& progress = report.progress;
  Reader read(from);
  read.take("id", report.id);
  read.take_named("kind", report.kind, parse_job_kind);
  read.take_named("state", report.state, parse_job_state);
  read.take("filesTotal", progress.files_total);
  read.take("filesDone", progress.files_done);
  read.take("filesFailed", progress.files_failed);
  read.take("filesNoRoom", progress.files_no_room);
  read.take("bytesTotal", progress.bytes_total);
  read.take("bytesDone", progress.bytes_done);
  read.take("bytesPerSecond", progress.bytes_per_second);
  if (read.find("secondsLeft")) read.take("secondsLeft", progress.seconds_left.emplace());
  read.take("error", report.error);
  read.take("cut", progress.cut);
  read.take("clearedSince", report.cleared_since);
  CHECK_DONE(read.done());
  if (const Json* left = read.find("leftOut")) {
    TRY(progress.left_out, decode_left_out(*left));
  }
  if (const Json* found = read.find("verification")) {
    TRY(progress.verification.emplace(), decode_verification(*found));
  }
  if (!is_job_id(report.id)) return wrong("id", "a job's id");
  return report;
}

Result<StatusReport> decode_status_report(const Json& from) {
  StatusReport report;
  Reader read(from);
  read.take("engine", report.engine);
  read.take("mounts", report.mounts);
  read.take("remark", report.remark);
  read.take("sourceError", report.source_error);
  read.take("syncedBy", report.synced_by);
  read.take("error", report.error);
  if (const Json* part = read.find("part")) {
    Reader in(*part);
    in.take("bytes", report.part_bytes);
    in.take("cachedBytes", report.part_cached_bytes);
    CHECK_DONE(in.done());
  }
  if (const Json* last = read.find("lastWarmUp")) {
    Reader in(*last);
    LastWarmUp& into = report.last_warm_up.emplace();
    in.take("ended", into.ended);
    in.take("filesNoRoom", into.files_no_room);
    in.take("clearedSince", into.cleared_since);
    CHECK_DONE(in.done());
  }
  if (const Json* index = read.find("index")) {
    Reader in(*index);
    IndexReport& into = report.index.emplace();
    in.take("generation", into.generation);
    in.take("synced", into.synced);
    in.take("digest", into.digest);
    in.take("files", into.files);
    in.take("bytes", into.bytes);
    CHECK_DONE(in.done());
    if (const Json* left = in.find("leftOut")) {
      TRY(into.left_out, decode_left_out(*left));
    }
  }
  if (const Json* cache = read.find("cache")) {
    Reader in(*cache);
    in.take("files", report.cache.files);
    in.take("bytes", report.cache.bytes);
    in.take("limit", report.cache.limit);
    in.take("diskSize", report.cache.disk_size);
    in.take("diskUsed", report.cache.disk_used);
    in.take("diskAvail", report.cache.disk_avail);
    in.take("life", report.cache.life);
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
