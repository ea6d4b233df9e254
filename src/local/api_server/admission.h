// SPDX-License-Identifier: Apache-2.0
//
// May this object be stored, and in which shape? Our own kinds go through api/crd/validate.h,
// exactly as the CRD would have it on a real server; core kinds get the defaults that our
// controllers and kubectl rely on (defaults.h) and a few checks. Core kinds have no schema here:
// unknown fields of a Pod are kept. Pure.

#pragma once

#include <string>

#include "api/json/json.h"
#include "base/result.h"
#include "local/api_server/kinds.h"
#include "local/api_server/writer.h"

namespace paddle::local {

// "paddlejobs.batch.paddlepaddle.org", as messages name a collection.
std::string qualified(const kube::Resource& resource);

struct AdmitOptions {
  FieldValidation validation = FieldValidation::kWarn;
};

// `object` comes from kube::prepare_create.
Result<api::Json> admit(const Kind& kind, api::Json object, const AdmitOptions& options,
                        ResponseNotes& notes);

// `old` as it becomes when `incoming` is written to it through `part` ("" or "status").
Result<api::Json> admit_update(const Kind& kind, const api::Json& old, api::Json incoming,
                               const std::string& part, const AdmitOptions& options,
                               ResponseNotes& notes);

}  // namespace paddle::local
