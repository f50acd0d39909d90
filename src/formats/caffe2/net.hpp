// SPDX-License-Identifier: Apache-2.0
/// What the parts of formats/caffe2 share: the parsed net, what other files say of its blobs, one
/// function per step.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "caffe2/caffe2.pb.h"
#include "formats/format_reader.hpp"
#include "ir/key.hpp"

namespace oplat::formats::caffe2 {

namespace wire = ::oplat::caffe2;

using Dims = std::vector<std::int64_t>;

/// How sure one can be that the bytes are a net, 0 to 100.
int probe_net(std::string_view bytes);
/// Binary or text, whichever the bytes are. Code::Input naming the place where they stop making
/// sense.
Result<wire::Net> parse_net(const std::string& name, const std::string& bytes);
/// One argument as a key holds it. Code::Input if it holds several values.
Result<ir::NamedValue> argument_of(const wire::Argument& argument);

/// A parameter as its fill operator gives it.
struct Parameter {
  std::optional<ir::Dtype> dtype;  ///< std::nullopt if only the consumer can say
  Dims dims;
  std::optional<Dims> values;  ///< of short lists of integers: the shapes that Reshape reads
};
/// Blobs that an init net fills. Fills whose shape is in another blob are left out.
Result<std::map<std::string, Parameter>> parameters_of(const std::string& name,
                                                       const wire::Net& init);

/// Shapes in a drawing of the net, by blob and how often it was written before.
using Drawing = std::map<std::pair<std::string, int>, Dims>;
Result<Drawing> read_drawing(const std::string& name, std::string_view svg);

/// What is next to a net.
struct Companions {
  std::vector<std::string> found;       ///< file names
  std::vector<std::string> looked_for;  ///< file names
  std::map<std::string, Parameter> parameters;
  Drawing drawing;
};
/// Names of the files next to `source` that are read with it: the first init net there is, else the
/// first drawing.
std::vector<std::string> companion_files(const base::Source& source,
                                         std::vector<std::string>* looked_for = nullptr);
Result<Companions> read_companions(const base::Source& source);

}  // namespace oplat::formats::caffe2
