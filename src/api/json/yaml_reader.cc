// SPDX-License-Identifier: Apache-2.0
#include "api/json/yaml_reader.h"

#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace paddle::api {
namespace {

// A plain scalar as JSON would type it, when writing it back gives the same text.
Json typed(const std::string& text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL")
    return nullptr;
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  const bool number = text.front() == '-' || (text.front() >= '0' && text.front() <= '9');
  if (number && text.size() < 32) {
    Json value = Json::parse(text, nullptr, false);
    if (value.is_number() && value.dump() == text) return value;
  }
  return text;
}

// Thrown through yaml-cpp, which can be stopped in no other way, and caught in parse_yaml.
struct Problem : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Builds the value from the parser's events.
// (Building nodes and walking them would follow aliases into loops.)
class Builder final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    leaf(mark, anchor, nullptr, 1);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    leaf(mark, anchor, tag == "?" ? typed(value) : Json(value), 1 + value.size());
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) fail(mark, "an alias within its own anchor");
    nodes_ += found->second.nodes;
    bytes_ += found->second.bytes;
    check_bounds(mark);  // before the copy is made
    add(mark, found->second.value);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    enter(mark, anchor, Json::array());
  }
  void OnSequenceEnd() override { leave(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    enter(mark, anchor, Json::object());
  }
  void OnMapEnd() override { leave(); }

  Json take() { return std::move(root_); }

 private:
  struct Open {
    Json value{};
    YAML::anchor_t anchor{};
    YAML::Mark mark{};
    size_t nodes_before = 0;
    size_t bytes_before = 0;
    bool has_key = false;
    std::string key{};
  };
  struct Anchored {
    Json value{};
    size_t nodes = 0;
    size_t bytes = 0;
  };

  [[noreturn]] static void fail(const YAML::Mark& mark, const std::string& why) {
    throw Problem("not usable YAML: line " + std::to_string(mark.line + 1) + ": " + why);
  }

  void check_bounds(const YAML::Mark& mark) const {
    if (nodes_ > kMaxYamlNodes || bytes_ > 2 * kMaxYamlBytes) fail(mark, "too many values");
  }

  void leaf(const YAML::Mark& mark, YAML::anchor_t anchor, Json value, size_t bytes) {
    ++nodes_;
    bytes_ += bytes;
    check_bounds(mark);
    if (anchor != YAML::NullAnchor) anchors_[anchor] = {value, 1, bytes};
    add(mark, std::move(value));
  }

  void enter(const YAML::Mark& mark, YAML::anchor_t anchor, Json value) {
    if (stack_.size() >= kMaxYamlDepth) fail(mark, "nested too deeply");
    stack_.push_back({.value = std::move(value),
                      .anchor = anchor,
                      .mark = mark,
                      .nodes_before = nodes_,
                      .bytes_before = bytes_});
    ++nodes_;
    check_bounds(mark);
  }

  void leave() {
    Open open = std::move(stack_.back());
    stack_.pop_back();
    if (open.anchor != YAML::NullAnchor) {
      const size_t nodes = nodes_ - open.nodes_before, bytes = bytes_ - open.bytes_before;
      nodes_ += nodes;  // the anchor keeps a copy
      bytes_ += bytes;
      check_bounds(open.mark);
      anchors_[open.anchor] = {open.value, nodes, bytes};
    }
    add(open.mark, std::move(open.value));
  }

  void add(const YAML::Mark& mark, Json value) {
    if (stack_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& open = stack_.back();
    if (open.value.is_array()) {
      open.value.push_back(std::move(value));
    } else if (!open.has_key) {
      if (value.is_structured()) fail(mark, "a key is not a scalar");
      open.key = value.is_string() ? value.get<std::string>() : value.dump();
      open.has_key = true;
      if (open.value.contains(open.key))
        fail(mark, "the key '" + open.key.substr(0, 64) + "' appears twice");
    } else {
      open.value[open.key] = std::move(value);
      open.has_key = false;
    }
  }

  std::vector<Open> stack_{};
  std::map<YAML::anchor_t, Anchored> anchors_{};
  size_t nodes_ = 0;
  size_t bytes_ = 0;
  Json root_ = nullptr;
};

}  // namespace

Result<Json> parse_yaml(std::string_view text) {
  if (text.size() > kMaxYamlBytes) {
    return Error{Code::kInvalid,
                 "YAML text is larger than " + std::to_string(kMaxYamlBytes) + " bytes"};
  }
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Builder builder;
    parser.HandleNextDocument(builder);
    return builder.take();
  } catch (const Problem& problem) {
    return Error{Code::kInvalid, problem.what()};
  } catch (const std::exception& e) {
    return Error{Code::kInvalid, std::string("not usable YAML: ") + e.what()};
  }
}

}  // namespace paddle::api
