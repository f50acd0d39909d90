// SPDX-License-Identifier: Apache-2.0
/// Small Caffe2 nets as text, and folders to read them from.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "caffe2/caffe2.pb.h"
#include "formats/caffe2.hpp"

namespace oplat::formats::caffe2::testing {

namespace wire = ::oplat::caffe2;

/// `op { input: "x" output: "y" type: "Relu" ARGUMENTS }`
inline std::string op(const std::string& type, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs, const std::string& arguments = "") {
  std::string text = "op {";
  for (const std::string& blob : inputs) text += " input: \"" + blob + "\"";
  for (const std::string& blob : outputs) text += " output: \"" + blob + "\"";
  return text + " type: \"" + type + "\" " + arguments + " }\n";
}

inline std::string i(const std::string& name, int value) {
  return "arg { name: \"" + name + "\" i: " + std::to_string(value) + " } ";
}

inline std::string inputs(const std::vector<std::string>& blobs) {
  std::string text;
  for (const std::string& blob : blobs) text += "external_input: \"" + blob + "\"\n";
  return text;
}

/// A fill of an init net: type, blob, "ints: 1 ints: 2".
inline std::string fill(const std::string& type, const std::string& blob, const std::string& ints) {
  return op(type, {}, {blob}, "arg { name: \"shape\" " + ints + " }");
}

/// Files in a folder of their own; the first is the net.
class Folder {
 public:
  explicit Folder(const std::vector<std::pair<std::string, std::string>>& files)
      : folder_(base::TemporaryFolder::create("caffe2")) {
    EXPECT_TRUE(folder_);
    for (const auto& [name, bytes] : files)
      EXPECT_TRUE(base::write_file(folder_->path() / name, bytes));
    net_ = folder_->path() / files.front().first;
  }
  [[nodiscard]] base::Source source() const {
    auto source = base::Source::open(net_);
    EXPECT_TRUE(source);
    return *source;
  }
  [[nodiscard]] Result<ir::Graph> read(const ShapeOptions& options = {}) const {
    return reader().read(source(), options);
  }

 private:
  Result<base::TemporaryFolder> folder_;
  std::filesystem::path net_;
};

inline ShapeOptions shapes(std::map<std::string, std::vector<std::int64_t>> of) {
  return {.shapes = std::move(of), .batch = {}};
}

/// The net of data/caffe2, a file of it.
inline std::filesystem::path own_net(const std::string& name) {
  return std::filesystem::path(OPLAT_TEST_SOURCE_DIR).parent_path() / "data/caffe2/tiny-int8" /
         name;
}

/// "name dtype[dims]" of a tensor, "?" for what is not known.
inline std::string shown(const ir::Graph& graph, ir::TensorId id) {
  const ir::TensorInfo& info = graph.tensors[static_cast<std::size_t>(id)];
  ir::Key key;
  key.op = "T";
  key.operands.emplace_back(
      ir::TensorEntry{info.dtype.value_or(ir::Dtype::Any), info.constant, info.shape, {}});
  const std::string printed = ir::print(key);  // T{}(f32[2,3])->()
  return info.name + " " + printed.substr(4, printed.size() - 9);
}

}  // namespace oplat::formats::caffe2::testing
