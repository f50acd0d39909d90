// SPDX-License-Identifier: Apache-2.0
/// Magic, format, machine and space; and the checksum at the end.
#include "estimate/learned/model_head.hpp"

#include <cmath>

#include "base/hash.hpp"

namespace oplat::estimate {
namespace {

constexpr std::size_t kChecksumBytes = 8;
/// No device has more; a damaged number may be any.
constexpr std::uint32_t kMaxProcessors = 100'000;
/// A unit of work that takes thirty years is damage.
constexpr double kMaxNs = 1e18;
constexpr double kMaxNearBytes = 1e15;

bool positive(double value) { return std::isfinite(value) && value > 0; }

}  // namespace

Error ModelFormat::broken(std::string_view what) const {
  return {Code::Input, fmt::format("{}: {}; run oplat fit again", name, what)};
}

void write_head(base::ByteWriter& writer, const ModelFormat& format, const Machine& machine,
                const Space& space) {
  writer.text(format.magic);
  writer.u32(format.number);
  writer.f64(machine.overhead_ns);
  writer.f64(machine.flops_per_ns);
  writer.f64(machine.bytes_per_ns);
  writer.u32(static_cast<std::uint32_t>(machine.processors));
  writer.text(space.save());
}

void write_reference(base::ByteWriter& writer, const Reference& reference) {
  for (const double ns : reference.ns_per_unit) writer.f64(ns);
  writer.f64(reference.near_bytes);
  writer.u32(reference.of_all_work ? 1 : 0);
}

std::string sealed(base::ByteWriter writer) {
  writer.u64(base::hash64(writer.bytes()));
  return writer.take();
}

Result<FitAge> age_of(std::string_view bytes, const ModelFormat& format) {
  const auto body = unsealed(bytes, format);
  if (!body && body.error().code == Code::Refused) return FitAge::Newer;
  if (!body) return fail(body.error());
  base::ByteReader reader(*body);
  reader.text();  // the magic, which unsealed() has seen
  return reader.u32() < format.number ? FitAge::Older : FitAge::Current;
}

Result<std::string_view> unsealed(std::string_view bytes, const ModelFormat& format) {
  if (bytes.size() < kChecksumBytes) return fail(format.broken("is too short"));
  const std::string_view body = bytes.substr(0, bytes.size() - kChecksumBytes);
  base::ByteReader reader(body);
  if (reader.text() != format.magic) return fail(format.broken("is not a fit of this kind"));
  if (const std::uint32_t number = reader.u32(); number < format.oldest || number > format.number) {
    const Error other = format.broken(
        fmt::format("has format {}, but this oplat reads format {}", number, format.number));
    return fail(number > format.number ? Code::Refused : other.code, "{}", other.message);
  }
  base::ByteReader checksum(bytes.substr(body.size()));
  if (checksum.u64() != base::hash64(body))
    return fail(format.broken("its checksum does not match its bytes"));
  return body;
}

Result<ModelHead> read_head(base::ByteReader& reader, const ModelFormat& format) {
  ModelHead head;
  reader.text();  // the magic, which unsealed() has seen
  head.number = reader.u32();
  head.machine.overhead_ns = reader.f64();
  head.machine.flops_per_ns = reader.f64();
  head.machine.bytes_per_ns = reader.f64();
  const std::uint32_t processors = reader.u32();
  if (!positive(head.machine.overhead_ns) || !positive(head.machine.flops_per_ns) ||
      !positive(head.machine.bytes_per_ns) || processors == 0 || processors > kMaxProcessors)
    return fail(format.broken("a rate is not a positive number"));
  head.machine.processors = static_cast<std::int32_t>(processors);
  auto space = Space::load(reader.text());
  if (!space) return fail(format.broken("its space is damaged"));
  head.space = std::move(*space);
  return head;
}

Result<Reference> read_reference(base::ByteReader& reader, const ModelFormat& format) {
  Reference reference;
  for (double& ns : reference.ns_per_unit) {
    ns = reader.f64();
    if (!(ns >= 0 && ns <= kMaxNs)) return fail(format.broken("a reference is out of range"));
  }
  reference.near_bytes = reader.f64();
  if (!(reference.near_bytes >= 0 && reference.near_bytes <= kMaxNearBytes))
    return fail(format.broken("a reference is out of range"));
  const std::uint32_t of_all_work = reader.u32();
  if (of_all_work > 1) return fail(format.broken("a reference has an unknown kind"));
  reference.of_all_work = of_all_work == 1;
  return reference;
}

}  // namespace oplat::estimate
