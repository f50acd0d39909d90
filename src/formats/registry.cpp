// SPDX-License-Identifier: Apache-2.0
/// The list of readers and the choice among them.
#include <array>

#include "base/lfs.hpp"
#include "base/text.hpp"
#include "formats/caffe2.hpp"
#include "formats/format_reader.hpp"
#include "formats/mnn.hpp"
#include "formats/onnx.hpp"
#include "formats/paddle.hpp"

namespace oplat::formats {

std::span<const FormatReader* const> readers() {
  static const std::array kReaders = {&onnx::reader(), &caffe2::reader(), &paddle::reader(),
                                      &mnn::reader()};
  return kReaders;
}

std::string example_shape(std::span<const std::int64_t> declared) {
  constexpr std::size_t kImageRank = 4;
  constexpr std::int64_t kPlane = 224, kLength = 128, kColours = 3;
  std::vector<std::int64_t> dims(declared.begin(), declared.end());
  const bool image = dims.size() == kImageRank;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0) dims[i] = i == 0 ? 1 : !image ? kLength : i == 1 ? kColours : kPlane;
  }
  return fmt::format("{}", fmt::join(dims, "x"));
}

Result<const FormatReader*> reader_for(const base::Source& source) {
  if (source.bytes().empty())
    return fail(Code::Input, "{}: the file is empty; expected a model", source.name());
  if (base::is_lfs_pointer(source.bytes())) {
    return fail(Code::Input, "{}: is a Git LFS pointer, not the model; fetch it with: git lfs pull",
                source.name());
  }
  const FormatReader* best = nullptr;
  int best_confidence = 0;
  for (const FormatReader* reader : readers()) {
    const int confidence = reader->probe(source.bytes());
    if (confidence > best_confidence) best = reader, best_confidence = confidence;
  }
  if (best == nullptr) {
    std::vector<std::string> names;
    for (const FormatReader* reader : readers()) names.emplace_back(reader->name());
    return fail(Code::Input,
                "{}: is not a model in a format that oplat reads ({}); the file begins with '{}'",
                source.name(), base::join(names, ", "), base::printable(source.bytes(), 16));
  }
  return best;
}

}  // namespace oplat::formats
