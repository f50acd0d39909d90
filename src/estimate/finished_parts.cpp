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

using PartsByHash = std::map<base::Hash128, std::string>;

PartsByHash read_parts(base::ByteReader& reader) {
  PartsByHash parts;
  const std::size_t count = reader.count(24);
  for (std::size_t i = 0; i < count; ++i) {
    base::Hash128 made_of;
    made_of.high = reader.u64();
    made_of.low = reader.u64();
    parts.emplace(made_of, reader.text());
  }
  return parts;
}

void write_parts(base::ByteWriter& writer, const PartsByHash& parts) {
  writer.u64(parts.size());
  for (const auto& [made_of, forest] : parts) {
    writer.u64(made_of.high);
    writer.u64(made_of.low);
    writer.text(forest);
  }
}

std::size_t bytes_in(const PartsByHash& parts) {
  std::size_t sum = 0;
  for (const auto& [made_of, forest] : parts) sum += forest.size();
  return sum;
}

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
  PartsByHash forests = read_parts(reader);
  PartsByHash begun = read_parts(reader);
  if (!reader.done()) return damaged();
  const std::lock_guard lock(mutex_);
  forests_ = std::move(forests);
  begun_ = std::move(begun);
  bytes_ = bytes_in(forests_) + bytes_in(begun_);
  has_more_ = false;
  return {};
}

std::string FinishedParts::save() const {
  const std::lock_guard lock(mutex_);
  base::ByteWriter writer;
  writer.text(kPartsMagic);
  writer.text(made_by());
  write_parts(writer, forests_);
  write_parts(writer, begun_);
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
  erase_begun(made_of);
  put(forests_, made_of, std::move(forest));
}

std::optional<std::string> FinishedParts::find_begun(const base::Hash128& made_of) const {
  const std::lock_guard lock(mutex_);
  const auto found = begun_.find(made_of);
  return found == begun_.end() ? std::nullopt : std::optional(found->second);
}

void FinishedParts::keep_begun(const base::Hash128& made_of, std::string forest) {
  const std::lock_guard lock(mutex_);
  erase_begun(made_of);
  put(begun_, made_of, std::move(forest));
}

void FinishedParts::put(Forests& into, const base::Hash128& made_of, std::string forest) {
  const std::size_t size = forest.size();
  if (bytes_ + size > kMaxPartsBytes) return;
  if (!into.emplace(made_of, std::move(forest)).second) return;
  bytes_ += size;
  has_more_ = true;
}

void FinishedParts::erase_begun(const base::Hash128& made_of) {
  const auto before = begun_.find(made_of);
  if (before == begun_.end()) return;
  bytes_ -= before->second.size();
  begun_.erase(before);
}

std::size_t FinishedParts::size() const {
  const std::lock_guard lock(mutex_);
  return forests_.size();
}

std::size_t FinishedParts::begun() const {
  const std::lock_guard lock(mutex_);
  return begun_.size();
}

}  // namespace oplat::estimate
