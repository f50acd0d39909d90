// SPDX-License-Identifier: Apache-2.0
#include "estimate/finished_parts.hpp"

#include <utility>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "base/version.hpp"

namespace oplat::estimate {
namespace {

constexpr std::size_t kMaxPartsBytes = std::size_t{100} << 20;
constexpr std::string_view kPartsMagic = "oplat.learned-parts";

/// What may grow other forests of the same numbers.
std::string made_by() { return fmt::format("{} {}", base::version(), base::commit()); }

}  // namespace

Status FinishedParts::load(std::string_view bytes) {
  const auto damaged = [] { return fail(Code::Input, "finished parts of a fit: are damaged"); };
  constexpr std::size_t kChecksum = 8;
  if (bytes.size() < kChecksum) return damaged();
  const std::string_view body = bytes.substr(0, bytes.size() - kChecksum);
  base::ByteReader checksum(bytes.substr(body.size()));
  if (checksum.u64() != base::hash64(body)) return damaged();
  base::ByteReader reader(body);
  if (reader.text() != kPartsMagic) return damaged();
  if (reader.text() != made_by()) return {};
  std::map<base::Hash128, std::string> forests;
  const std::size_t count = reader.count(24);
  std::size_t all = 0;
  for (std::size_t i = 0; i < count; ++i) {
    base::Hash128 made_of;
    made_of.high = reader.u64();
    made_of.low = reader.u64();
    const std::string_view forest = reader.text();
    all += forest.size();
    forests.emplace(made_of, forest);
  }
  if (!reader.done()) return damaged();
  const std::lock_guard lock(mutex_);
  forests_ = std::move(forests);
  bytes_ = all;
  return {};
}

std::string FinishedParts::save() const {
  const std::lock_guard lock(mutex_);
  base::ByteWriter writer;
  writer.text(kPartsMagic);
  writer.text(made_by());
  writer.u64(forests_.size());
  for (const auto& [made_of, forest] : forests_) {
    writer.u64(made_of.high);
    writer.u64(made_of.low);
    writer.text(forest);
  }
  writer.u64(base::hash64(writer.bytes()));
  return writer.take();
}

std::optional<std::string> FinishedParts::find(const base::Hash128& made_of) {
  const std::lock_guard lock(mutex_);
  const auto found = forests_.find(made_of);
  if (found == forests_.end()) return std::nullopt;
  ++reused_;
  return found->second;
}

void FinishedParts::keep(const base::Hash128& made_of, std::string forest) {
  const std::lock_guard lock(mutex_);
  if (bytes_ + forest.size() > kMaxPartsBytes) return;
  const std::size_t size = forest.size();
  if (forests_.emplace(made_of, std::move(forest)).second) bytes_ += size;
}

std::size_t FinishedParts::size() const {
  const std::lock_guard lock(mutex_);
  return forests_.size();
}

}  // namespace oplat::estimate
