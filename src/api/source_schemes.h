// SPDX-License-Identifier: Apache-2.0
//
// The schemes of spec.source.uri: which engine reads each, and which credentials it takes. Pure.
//
// The only list of schemes. Who builds JuiceFS with more of them (docs/en/sampleset.md) changes
// their words here, too. The validation of both engines, the credentials of `juicefs sync` and the
// URIs that samplefs reads follow from it, and tests hold docs/*/sampleset.md to it.

#pragma once

#include <array>
#include <string>
#include <string_view>

namespace paddle::api {

// With which client samplefs reads a scheme.
enum class SamplefsClient { kNone, kDirectory, kS3, kBos };

// What the JuiceFS of our images can do with a scheme (tools/components.toml has its build tags).
enum class JuicefsSupport {
  kNone,      // JuiceFS has it for one machine only, so it is refused
  kNotBuilt,  // refused, with what to do: an image with another build of JuiceFS
  kUntested,
  kTested,
};

// Environment variables by which JuiceFS takes the keys of a source; empty: there is none.
struct CredentialVariables {
  std::string_view access_key{};
  std::string_view secret_key{};
  std::string_view session_token{};
  std::string_view region{};
};

struct SourceScheme {
  std::string_view name{};
  JuicefsSupport juicefs = JuicefsSupport::kNone;
  SamplefsClient samplefs = SamplefsClient::kNone;
  // JuiceFS's URI is NAME://BUCKET.ENDPOINT/PREFIX: the endpoint of a Secret is appended to a bare
  // bucket.
  bool bucket_and_endpoint = false;
  // JuiceFS's URI is NAME://HOST:/DIRECTORY; without the colon it fails, or panics (sftp).
  bool host_and_directory = false;
  // JuiceFS keeps a volume's data there, but cannot read samples from it.
  bool storage_only = false;
  // None: JuiceFS takes keys on its command line only, so a Secret with keys is refused.
  CredentialVariables variables{};
};

// Not in the list: what the usual build of JuiceFS leaves out (bunny, gluster), and what lives on
// one machine (mem, sqlite3).
inline constexpr auto kSourceSchemes = std::to_array<SourceScheme>({
    {.name = "b2", .juicefs = JuicefsSupport::kUntested},
    {.name = "bos",
     .juicefs = JuicefsSupport::kTested,
     .samplefs = SamplefsClient::kBos,
     .bucket_and_endpoint = true,
     .variables = {.access_key = "BDCLOUD_ACCESS_KEY",
                   .secret_key = "BDCLOUD_SECRET_KEY",
                   .region = "BDCLOUD_DEFAULT_REGION"}},
    {.name = "ceph", .juicefs = JuicefsSupport::kNotBuilt},
    {.name = "cifs", .juicefs = JuicefsSupport::kNotBuilt},
    {.name = "cos",
     .juicefs = JuicefsSupport::kUntested,
     .bucket_and_endpoint = true,
     .variables = {.access_key = "COS_SECRETID", .secret_key = "COS_SECRETKEY"}},
    {.name = "dragonfly", .juicefs = JuicefsSupport::kNotBuilt},
    {.name = "eos",
     .juicefs = JuicefsSupport::kUntested,
     .bucket_and_endpoint = true,
     .variables = {.access_key = "EOS_ACCESS_KEY",
                   .secret_key = "EOS_SECRET_KEY",
                   .session_token = "EOS_TOKEN"}},
    {.name = "etcd", .juicefs = JuicefsSupport::kNotBuilt},
    {.name = "file", .samplefs = SamplefsClient::kDirectory},
    {.name = "gs", .juicefs = JuicefsSupport::kNotBuilt},
    {.name = "hdfs",
     .juicefs = JuicefsSupport::kTested,
     .variables = {.access_key = "HADOOP_USER_NAME"}},
    {.name = "ibmcos", .juicefs = JuicefsSupport::kNotBuilt},
    {.name = "ks3", .juicefs = JuicefsSupport::kUntested, .bucket_and_endpoint = true},
    // Its own variables have no session token; without them it reads those of s3.
    {.name = "minio",
     .juicefs = JuicefsSupport::kTested,
     .variables = {.access_key = "AWS_ACCESS_KEY_ID",
                   .secret_key = "AWS_SECRET_ACCESS_KEY",
                   .session_token = "AWS_SESSION_TOKEN",
                   .region = "MINIO_REGION"}},
    {.name = "mysql", .juicefs = JuicefsSupport::kNotBuilt},
    {.name = "nfs", .juicefs = JuicefsSupport::kUntested, .host_and_directory = true},
    {.name = "obs",
     .juicefs = JuicefsSupport::kUntested,
     .bucket_and_endpoint = true,
     .variables = {.access_key = "HWCLOUD_ACCESS_KEY",
                   .secret_key = "HWCLOUD_SECRET_KEY",
                   .region = "HWCLOUD_DEFAULT_REGION"}},
    {.name = "oos", .juicefs = JuicefsSupport::kUntested, .bucket_and_endpoint = true},
    {.name = "oss",
     .juicefs = JuicefsSupport::kUntested,
     .bucket_and_endpoint = true,
     .variables = {.access_key = "ALICLOUD_ACCESS_KEY_ID",
                   .secret_key = "ALICLOUD_ACCESS_KEY_SECRET",
                   .session_token = "SECURITY_TOKEN",
                   .region = "ALICLOUD_REGION_ID"}},
    {.name = "postgres", .juicefs = JuicefsSupport::kNotBuilt},
    {.name = "qingstor", .juicefs = JuicefsSupport::kUntested},
    {.name = "qiniu", .juicefs = JuicefsSupport::kNotBuilt},
    {.name = "redis", .juicefs = JuicefsSupport::kUntested, .storage_only = true},
    {.name = "s3",
     .juicefs = JuicefsSupport::kTested,
     .samplefs = SamplefsClient::kS3,
     .bucket_and_endpoint = true,
     .variables = {.access_key = "AWS_ACCESS_KEY_ID",
                   .secret_key = "AWS_SECRET_ACCESS_KEY",
                   .session_token = "AWS_SESSION_TOKEN",
                   .region = "AWS_REGION"}},
    {.name = "scw",
     .juicefs = JuicefsSupport::kUntested,
     .bucket_and_endpoint = true,
     .variables = {.access_key = "SCW_ACCESS_KEY", .secret_key = "SCW_SECRET_KEY"}},
    {.name = "sftp", .juicefs = JuicefsSupport::kUntested, .host_and_directory = true},
    {.name = "smb", .juicefs = JuicefsSupport::kNotBuilt},
    {.name = "space", .juicefs = JuicefsSupport::kUntested, .bucket_and_endpoint = true},
    {.name = "storj", .juicefs = JuicefsSupport::kNotBuilt},
    {.name = "swift", .juicefs = JuicefsSupport::kUntested},
    {.name = "tikv", .juicefs = JuicefsSupport::kNotBuilt},
    {.name = "tos", .juicefs = JuicefsSupport::kUntested, .bucket_and_endpoint = true},
    {.name = "ufile", .juicefs = JuicefsSupport::kUntested},
    {.name = "wasabi", .juicefs = JuicefsSupport::kUntested, .bucket_and_endpoint = true},
    {.name = "wasb", .juicefs = JuicefsSupport::kNotBuilt},
    {.name = "webdav", .juicefs = JuicefsSupport::kNotBuilt},
});

// Null when there is no such scheme.
constexpr const SourceScheme* find_scheme(std::string_view name) {
  for (const SourceScheme& each : kSourceSchemes) {
    if (each.name == name) return &each;
  }
  return nullptr;
}
// The scheme of "NAME://...". Null when it is none of ours.
constexpr const SourceScheme* scheme_of(std::string_view uri) {
  const std::size_t mark = uri.find("://");
  return mark == uri.npos ? nullptr : find_scheme(uri.substr(0, mark));
}

// Servers of JuiceFS's metadata, by the scheme of `metaurl`. All others are files of one node.
struct MetadataServer {
  std::string_view scheme{};
  bool built = false;
};
inline constexpr auto kMetadataServers = std::to_array<MetadataServer>({
    {.scheme = "redis", .built = true},
    {.scheme = "rediss", .built = true},
    {.scheme = "mysql"},
    {.scheme = "postgres"},
    {.scheme = "tikv"},
    {.scheme = "etcd"},
});

// Whether the JuiceFS of our images has this scheme, as a source or as `storage` of a volume.
constexpr bool is_built(const SourceScheme& scheme) {
  return scheme.juicefs == JuicefsSupport::kUntested || scheme.juicefs == JuicefsSupport::kTested;
}

// Those that an engine reads, for messages.
std::string juicefs_schemes();   // "b2, bos, cos, ..."
std::string samplefs_schemes();  // "bos://, file:// and s3://"

}  // namespace paddle::api
