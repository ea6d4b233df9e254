// SPDX-License-Identifier: Apache-2.0
//
// What every request to a runtime has in common: how it is addressed and authenticated, and what
// its answer means (client.h). Values only; the token is in them.

#pragma once

#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "net/values/http.h"
#include "runtime/client.h"

namespace paddle::runtime {

net::HttpOptions http_options(const RuntimeCredentials& access);
// kUnavailable while the authority that must be verified is not known.
Result<net::HttpRequest> request_to(const std::string& address, const RuntimeCredentials& access,
                                    const std::string& path, const std::string& token);
// An error for every status but 2xx.
Result<net::HttpReply> checked_reply(const std::string& address, Result<net::HttpReply> reply);
Result<api::Json> json_of(const std::string& address, Result<net::HttpReply> reply);
Result<std::vector<JobReport>> decode_job_list(const api::Json& json);

}  // namespace paddle::runtime
