// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/sources/source_set.h"

namespace paddle::engine::samplefs {

using ::paddle::samplefs::Index;
using ::paddle::samplefs::Origin;

std::shared_ptr<ReopeningSource> SourceSet::reader_of(const Origin& origin) const {
  if (origin.uri.empty()) return own_;
  SourceOptions options = options_;
  options.uri = origin.uri;
  options.key_store = keys_;
  options.origin = id_of(origin);
  return std::make_shared<ReopeningSource>(std::move(options));
}

OwnSource SourceSet::own() const {
  const auto secret = read_source_secret(options_);
  return {.uri = options_.uri, .endpoint = secret ? secret->endpoint : ""};
}

std::shared_ptr<ReopeningSource> SourceSet::open(const Origin& origin, const KeyValues& keys,
                                                 std::int64_t megabits) const {
  if (origin.uri.empty() && keys.empty() && megabits <= 0) return own_;
  SourceOptions options = options_;
  options.megabits = megabits;
  if (!origin.uri.empty()) options.uri = origin.uri;
  options.keys = keys;
  return std::make_shared<ReopeningSource>(std::move(options));
}

void SourceSet::learn(const Index& index) {
  Lock lock(mutex_);
  for (std::uint32_t i = 1; i < index.origins(); ++i) {
    auto& known = others_[index.origin_id(i)];
    if (!known) known = reader_of(index.origin(i));
  }
}

Result<> SourceSet::keep_keys(const Origin& origin, const KeyValues& keys) {
  if (origin.uri.empty()) return Done{};
  const auto id = id_of(origin);
  if (keys.empty()) {
    keys_->remove(id);
  } else {
    CHECK_DONE(keys_->write(id, keys));
  }
  Lock lock(mutex_);
  const auto known = others_.find(id);
  if (known != others_.end()) known->second = reader_of(origin);
  return Done{};
}

void SourceSet::forget_keys(const Index& now, const Index& before) const {
  std::set<::paddle::samplefs::OriginId> used;
  for (std::uint32_t i = 1; i < now.origins(); ++i) used.insert(now.origin_id(i));
  for (std::uint32_t i = 1; i < before.origins(); ++i) used.insert(before.origin_id(i));
  keys_->keep_only(used);
}

Result<std::shared_ptr<ReopeningSource>> SourceSet::reader(::paddle::samplefs::OriginId origin) {
  if (origin == 0) return std::shared_ptr(own_);
  Lock lock(mutex_);
  const auto known = others_.find(origin);
  if (known == others_.end()) return Error{Code::kInternal, "an unknown source"};
  return std::shared_ptr(known->second);
}

Result<> SourceSet::read(const ::paddle::samplefs::Block& block, std::span<std::byte> into,
                         const source::CallContext& context) {
  TRY(const std::shared_ptr<ReopeningSource> source, reader(block.origin));
  source::CallContext informed = context;
  informed.object = {.size = block.file_size, .version_id = block.version_id};
  auto done = source->read(block.object, block.etag, block.offset, into, informed);
  health_.note(block, done);
  return done;
}

void SourceSet::probe(const std::stop_token& stop) {
  const auto call = [&](const SourceHealth::Probe& what,
                        const source::CallContext& context) -> Result<> {
    const auto source = reader(what.origin);
    if (!source) return Done{};
    source::CallContext informed = context;
    informed.object = {.size = what.size, .version_id = what.version_id};
    return (*source)->probe(what.object, what.etag, informed);
  };
  health_.probe(call, stop);
}

}  // namespace paddle::engine::samplefs
