// SPDX-License-Identifier: Apache-2.0
//
// Validation and defaulting of objects before they are stored. Our own kinds are validated by
// api/crd/validate.h, as a real server would by the CRD; core kinds get the defaults that our
// controllers and kubectl rely on (defaults.h) and a few checks. Core kinds have no schema here:
// unknown fields of a Pod are kept. Pure.

#pragma once

#include <string>

#include "api/json/json.h"
#include "base/result.h"
#include "local/api_server/kinds.h"
#include "local/api_server/writer.h"

namespace paddle::local {

// "paddlejobs.batch.paddlepaddle.org": the collection in messages.
std::string qualified(const kube::Resource& resource);

struct AdmitOptions {
  FieldValidation validation = FieldValidation::kWarn;
};

// `object` comes from kube::prepare_create.
Result<api::Json> admit(const Kind& kind, api::Json object, const AdmitOptions& options,
                        ResponseNotes& notes);

// Returns the result of writing `incoming` to `old` through `part` ("" or "status").
Result<api::Json> admit_update(const Kind& kind, const api::Json& old, api::Json incoming,
                               const std::string& part, const AdmitOptions& options,
                               ResponseNotes& notes);

}  // namespace paddle::local
