// SPDX-License-Identifier: Apache-2.0
//
// Random specs of a resource, and random edits of them, made from its schema: a field that is added
// to the API is edited without a change here, or fails the test as never edited. Whether a spec is
// legal is for the API server to say.

#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/crd/describe.h"
#include "api/json/json.h"
#include "base/random.h"

namespace paddle::walks {

class SpecEditor {
 public:
  SpecEditor(api::Kind kind, Random& random);

  // The spec after one change, which sets, removes or adds something.
  api::Json edited(const api::Json& spec);
  // A value for a field: "worker.replicas", "tasks[].name".
  api::Json value_of(const std::string& path);

 private:
  void change(api::Json& value, const std::string& done, const std::string& left);
  api::Json make(const std::string& path);
  api::Json pick(const api::Json& list) { return list[random_.below(list.size())]; }
  api::Json pod_template();

  Random& random_;
  std::map<std::string, api::Json> schemas_{};  // by path, of all fields
  std::vector<std::string> leaves_{};
};

// Which fields accepted edits have changed, over all walks of a resource.
class EditCoverage {
 public:
  explicit EditCoverage(api::Kind kind);
  void note(const api::Json& before, const api::Json& after);
  std::vector<std::string> never_edited() const;

 private:
  std::set<std::string> leaves_{};
  std::set<std::string> left_{};
};

}  // namespace paddle::walks
