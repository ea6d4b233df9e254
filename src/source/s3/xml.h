// SPDX-License-Identifier: Apache-2.0
//
// A streaming reader for the XML of S3 servers, with three kinds of tokens. Hardened rather than
// complete: no DOCTYPE, no entities except the five of XML and character references, at most
// kMaxDepth nested elements, tags must match. Attributes are skipped; namespace prefixes are
// removed. Never reads outside `text`; a document that is not well-formed ends in kInvalid. Pure.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace paddle::source {

class XmlReader {
 public:
  static constexpr std::size_t kMaxDepth = 32;

  enum class Token { kOpen, kClose, kText, kEnd };

  // Returns views into `text`, which must outlive the reader.
  explicit XmlReader(std::string_view text) : rest_(text) {}

  // kOpen and kClose set name(), kText sets value() (decoded). Text between two tags may come in
  // several pieces. kEnd is returned once every element is closed.
  Result<Token> next();

  std::string_view name() const { return name_; }
  const std::string& value() const { return value_; }
  std::size_t depth() const { return open_.size(); }

 private:
  Result<bool> skip_aside();
  Result<Token> tag();
  Result<Token> text();
  Result<> skip_attributes(bool& closed);

  std::string_view rest_;
  std::string_view name_{};
  std::string value_{};
  std::vector<std::string_view> open_{};
  bool pending_close_ = false;  // of <a/>
  bool seen_root_ = false;
};

// The text of &amp; &#38; and the like; kInvalid for any other entity.
Result<std::string> decode_xml(std::string_view text);

}  // namespace paddle::source
