// SPDX-License-Identifier: Apache-2.0
//
// gRPC has a log of its own on standard error, in a format of its own. This sends its warnings and
// errors through base/log.h instead, so that every line of a program reads alike.

#pragma once

namespace paddle::csi {

void redirect_grpc_log();  // any number of times

}  // namespace paddle::csi
