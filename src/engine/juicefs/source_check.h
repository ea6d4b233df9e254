// SPDX-License-Identifier: Apache-2.0
//
// Validates spec.source.uri for JuiceFS 1.3 and later. Pure.

#pragma once

#include <string>

#include "base/result.h"

namespace paddle::engine::juicefs {

// Of a scheme that JuiceFS knows and the JuiceFS of our images does not; ends a sentence.
inline constexpr const char* kNotBuilt =
    "the JuiceFS of our images is built without; use s3:// where the store speaks S3, or build "
    "images with it (docs/en/sampleset.md, 'What our JuiceFS can reach')";

// "bos://bucket.endpoint/prefix". kInvalid: one sentence with the known schemes
// (api/source_schemes.h) or with the reason; never with the URI, which may have credentials.
Result<> check_source(const std::string& uri);

}  // namespace paddle::engine::juicefs
