// SPDX-License-Identifier: Apache-2.0
/// What the parts of formats/onnx share: the parsed message and one function per step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/onnx.hpp"
#include "onnx/onnx.pb.h"

namespace oplat::formats::onnx {

/// Data that stay in their files.
struct KeptData {
  std::filesystem::path folder = {};  ///< that locations in the message are relative to
  std::int64_t bytes = 0;
};

struct Model::Impl {
  std::string name;  ///< of the file, for messages
  wire::Model model;
  KeptData external = {};
  std::optional<std::int64_t> batch;             ///< see Model::named_batch()
  std::optional<std::int64_t> fixed_batch = {};  ///< see Model::fixed_batch()
};

/// Parses bytes; Code::Input if they are not an ONNX model.
Result<wire::Model> parse_model(const base::Source& source);
/// Looks for tensors with external data.
std::unique_ptr<SiblingScan> scan_external_data();
/// Code::Input where a tensor's bytes in the model are not as many as its type and dimensions take.
Status check_own_data(const wire::Model& model, const std::string& file);
/// Code::Input where a sparse tensor is none: indices and values that do not fit each other or the
/// dimensions, or a dense form, which the runtime computes with, above protobuf's 2 GiB.
Status check_sparse(const wire::Model& model, const std::string& file);
/// A sparse tensor's name, type and dimensions as those of its dense form; with the elements where
/// there are few. It must have passed check_sparse().
wire::Tensor dense_form(const wire::SparseTensor& sparse);
/// Calls visit(SparseTensor) for every sparse tensor of a graph, bodies included.
void each_sparse(const wire::Graph& graph,
                 const std::function<void(const wire::SparseTensor&)>& visit);
/// File names of external data, in order of first mention. Code::Input where they are so many that
/// only a crafted model has them. `file`: for messages.
Result<std::vector<std::string>> external_files(const wire::Model& model, const std::string& file);
/// Copies external data into the model, or notes where large ones lie; checks offsets and lengths
/// against the files. `folder`: of the files; empty: that of the model, whose names are not
/// trusted.
Result<KeptData> take_in_external_data(wire::Model& model, const base::Source& source,
                                       const std::filesystem::path& folder);
/// Fixes open dimensions of the graph's inputs. The batch that the model itself fixes, if another
/// one is asked for and was written in its place; else std::nullopt.
Result<std::optional<std::int64_t>> specialise_inputs(wire::Model& model, const std::string& file,
                                                      const ShapeOptions& options);
/// Writes another batch into a model whose `inputs` fix it, and into the constant sizes of its
/// Reshapes. The old batch, or what is in the way, as a clause of a message.
tl::expected<std::int64_t, std::string> rewrite_batch(wire::Model& model,
                                                      const std::vector<wire::ValueInfo*>& inputs,
                                                      std::int64_t batch);
/// The first input and dimension that is a batch by its name: one that leads its input, one that is
/// called so in full, or the second one of what a recurrent operator reads.
std::optional<std::pair<int, int>> batch_dimension(const wire::Model& model);
/// Whether the open dimensions with a batch's name, else the leading ones, are plainly the batch:
/// each leads its input and has a batch's name or none, or has the name of one that does. The model
/// stays as it is.
bool leaves_batch_open(wire::Model& model);
Result<std::vector<InputInfo>> input_infos(const wire::Model& model, const std::string& file);
Result<ir::Graph> build_graph(const wire::Model& model, const std::string& file);

}  // namespace oplat::formats::onnx
