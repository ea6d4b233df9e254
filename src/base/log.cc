// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <atomic>
#include <cstdio>
#include <utility>

#include <unistd.h>

#include "base/clock.h"
#include "base/sync.h"

namespace paddle::log {
namespace {

std::atomic<Level> threshold{Level::kInfo};
std::atomic<Format> chosen_format{Format::kText};

Mutex sink_mutex;
std::function<void(std::string_view)> sink GUARDED_BY(sink_mutex);

std::string_view word(Level level) {
  switch (level) {
    case Level::kDebug:
      return "debug";
    case Level::kInfo:
      return "info";
    case Level::kWarn:
      return "warn";
    case Level::kError:
      return "error";
  }
  return "error";
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      out += escaped;
    } else {
      out += c;
    }
  }
  out += '"';
}

std::string text_line(Level level, std::string_view message, Fields fields) {
  std::string line = rfc3339_micro(system_clock().wall());
  line += ' ';
  line += word(level);
  line += ' ';
  append_quoted(line, message);
  for (const Field& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    if (field.quoted) {
      append_quoted(line, field.value);
    } else {
      line += field.value;
    }
  }
  return line + '\n';
}

std::string json_line(Level level, std::string_view message, Fields fields) {
  std::string line = R"({"time":")" + rfc3339_micro(system_clock().wall()) + R"(","level":")";
  line += word(level);
  line += R"(","message":)";
  append_quoted(line, message);
  for (const Field& field : fields) {
    line += ',';
    append_quoted(line, field.key);
    line += ':';
    if (field.quoted) {
      append_quoted(line, field.value);
    } else {
      line += field.value;
    }
  }
  return line + "}\n";
}

}  // namespace

void write(Level level, std::string_view message, Fields fields) {
  if (level < threshold) return;
  const std::string line = chosen_format == Format::kJson ? json_line(level, message, fields)
                                                          : text_line(level, message, fields);
  Lock lock(sink_mutex);
  if (sink) {
    sink(line);
    return;
  }
  // A failure to write the log cannot be reported anywhere.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

void set_level(Level level) { threshold = level; }
void set_format(Format format) { chosen_format = format; }

void set_sink(std::function<void(std::string_view)> replacement) {
  Lock lock(sink_mutex);
  sink = std::move(replacement);
}

}  // namespace paddle::log
