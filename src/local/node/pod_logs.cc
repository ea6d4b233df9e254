// SPDX-License-Identifier: Apache-2.0
#include "local/node/pod_logs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace paddle::local {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPiece = 64UL * 1024;
constexpr std::chrono::milliseconds kPollInterval{100};

// The starts of a container that have logs, oldest first.
std::vector<int> starts_of(const fs::path& logs, const std::string& container) {
  std::vector<int> starts;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(logs, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(container + ".") || !name.ends_with(".log")) continue;
    const char* begin = name.data() + container.size() + 1;
    const char* end = name.data() + name.size() - 4;
    int nth = 0;
    if (std::from_chars(begin, end, nth).ptr == end) starts.push_back(nth);
  }
  std::ranges::sort(starts);
  return starts;
}

Result<std::string> container_of(const fs::path& pod, const LogRequest& request) {
  std::ifstream list(pod / "containers.txt");
  std::string first;
  for (std::string name; std::getline(list, name);) {
    if (name == request.container) return name;
    if (first.empty()) first = name;
  }
  if (request.container.empty() && !first.empty()) return first;
  return Error{Code::kInvalid,
               "container " + request.container + " is not valid for pod " + request.pod.name};
}

// The offset of the last `lines` lines.
off_t tail_of(int fd, std::uint64_t lines) {
  off_t at = ::lseek(fd, 0, SEEK_END);
  std::array<char, 4096> chunk;
  bool last_byte = true;  // a final newline does not begin a line
  while (at > 0) {
    const off_t from = std::max<off_t>(0, at - static_cast<off_t>(chunk.size()));
    const ssize_t got = ::pread(fd, chunk.data(), static_cast<std::size_t>(at - from), from);
    if (got <= 0) return 0;
    for (ssize_t i = got; i-- > 0;) {
      if (!last_byte && chunk[static_cast<std::size_t>(i)] == '\n' && lines-- <= 1) {
        return from + i + 1;
      }
      last_byte = false;
    }
    at = from;
  }
  return 0;
}

class FileStream final : public Stream {
 public:
  FileStream(UniqueFd fd, std::string ended_mark, const LogRequest& request)
      : fd_(std::move(fd)),
        ended_mark_(std::move(ended_mark)),
        follow_(request.follow),
        left_(request.limit_bytes) {
    if (request.tail_lines) {
      at_ = *request.tail_lines == 0 ? ::lseek(fd_.get(), 0, SEEK_END)
                                     : tail_of(fd_.get(), *request.tail_lines);
    }
  }

  StreamChunk next(BootTime) override {
    // Checked before reading, so that everything written before the end is read.
    const bool ended = !follow_ || ::access(ended_mark_.c_str(), F_OK) == 0;
    std::string text(std::min<std::uint64_t>(kPiece, left_.value_or(kPiece)), '\0');
    const ssize_t got = ::pread(fd_.get(), text.data(), text.size(), at_);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    at_ += static_cast<off_t>(text.size());
    if (left_) *left_ -= text.size();
    const bool over = text.empty() && ended;
    return {std::move(text), over || left_ == std::optional<std::uint64_t>{0}};
  }
  std::chrono::milliseconds poll_interval() const override { return kPollInterval; }
  bool is_interested_in(const std::string&) const override { return false; }

 private:
  const UniqueFd fd_;
  const std::string ended_mark_;
  const bool follow_;
  std::optional<std::uint64_t> left_;
  off_t at_ = 0;
};

Result<std::shared_ptr<Stream>> open_log(const std::string& directory, const LogRequest& request) {
  const fs::path pod = fs::path(directory) / "names" / (request.pod.ns + "_" + request.pod.name);
  std::error_code error;
  if (!fs::exists(pod, error)) {
    return Error{Code::kInvalid, "pod " + request.pod.name +
                                     " has not been started yet; see its events and status"};
  }
  TRY(const std::string container, container_of(pod, request));
  const auto starts = starts_of(pod / "logs", container);
  const std::size_t back = request.previous ? 2 : 1;
  if (starts.size() < back) {
    return Error{Code::kInvalid, request.previous ? "previous terminated container " + container +
                                                        " in pod " + request.pod.name + " not found"
                                                  : "container " + container + " in pod " +
                                                        request.pod.name + " is waiting to start"};
  }
  const std::string stem = container + "." + std::to_string(starts[starts.size() - back]);
  UniqueFd fd(::open((pod / "logs" / (stem + ".log")).c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return Error{Code::kNotFound, "the log of container " + container + " is gone"};
  return std::shared_ptr<Stream>(std::make_shared<FileStream>(
      std::move(fd), (fs::canonical(pod, error) / "logs" / (stem + ".ended")).string(), request));
}

}  // namespace

LogSource pod_logs(const std::string& directory) {
  return [directory](const LogRequest& request) { return open_log(directory, request); };
}

}  // namespace paddle::local
