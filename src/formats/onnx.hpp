// SPDX-License-Identifier: Apache-2.0
/// ONNX models: read, specialised to fixed shapes, written; and kernel models, which hold k copies
/// of one kernel.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "formats/format_reader.hpp"
#include "formats/random_data.hpp"
#include "ir/graph.hpp"
#include "ir/key.hpp"
#include "ir/movement.hpp"
#include "ir/operand_values.hpp"

namespace oplat::formats::onnx {

/// The reader behind the FormatReader seam.
const FormatReader& reader();

struct InputInfo {
  std::string name;
  ir::Dtype dtype = ir::Dtype::F32;
  ir::Shape shape;  ///< open dimensions are nothing
};

/// A node with the names of its tensors.
struct NodeEnds {
  std::string name;
  std::string op;
  std::vector<std::string> operands;
  std::vector<std::string> results;
  bool bodied = false;  ///< Loop, If, Scan
};

/// An ONNX model in memory, weights included, but for those of large models, which stay in the
/// files of their external data.
class Model {
 public:
  /// Parses and takes in external data: all of it up to 512 MiB, else that of small tensors.
  /// `data_folder`: where external data lie, if the model is one that a runtime made of one whose
  /// data_folder() that is; empty: in the model's own folder. Code::Input with the file's name
  /// where it is not such a model.
  static Result<Model> load(const base::Source& source,
                            const std::filesystem::path& data_folder = {});
  /// The graph without large weights and without external data, for questions about its structure,
  /// which cost little for models of any size. bytes() makes no sense of it.
  /// `left`: with the numbers of large integer constants, of which a key says whether they are
  /// alike, or without any large ones.
  enum class Left : std::uint8_t { Nothing, Integers };
  static Result<Model> load_structure(const base::Source& source, Left left = Left::Nothing);
  /// Whether no tensor lies in another file and none is sparse.
  [[nodiscard]] bool is_self_contained() const;
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  /// What messages call the model: the file that it was loaded from.
  [[nodiscard]] const std::string& name() const;
  /// Inputs that are not initialisers.
  [[nodiscard]] Result<std::vector<InputInfo>> inputs() const;
  /// Fixes the open dimensions of the inputs. Code::Usage names the input, what is open and the
  /// flag that sets it.
  Status specialise(const ShapeOptions& options);
  /// The batch that the last specialise() set, or that a dimension with the customary name of one
  /// has; std::nullopt where neither the caller nor the model names a batch.
  [[nodiscard]] std::optional<std::int64_t> named_batch() const;
  /// The batch that the model itself fixes, if the last specialise() wrote another in its place.
  /// Whoever runs such a model compares both first (runtimes/onnxruntime/batch_check.hpp).
  [[nodiscard]] std::optional<std::int64_t> fixed_batch() const;
  /// Every node, those of bodies behind their owner, as the file calls it.
  [[nodiscard]] std::vector<ir::NodeTitle> nodes() const;
  /// The nodes outside of bodies, in their order.
  [[nodiscard]] std::vector<NodeEnds> node_ends() const;
  /// Gives every node, those of bodies too, a name of its own: "n0", "n1", ..., body nodes
  /// "n7_0_2".
  void name_nodes();
  [[nodiscard]] Result<ir::Graph> graph() const;
  /// The elements of an initialiser of integers; std::nullopt: there is none of that name, it is of
  /// another type, or it has more than `most`.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> constant_integers(
      const std::string& tensor, std::int64_t most) const;
  /// Makes inner tensors outputs of the graph, those that are already left out.
  void also_output(const std::vector<std::string>& tensors);
  /// The folder that the external data in bytes() are relative to; empty if there are none.
  [[nodiscard]] std::string data_folder() const;
  /// Bytes of the external data in bytes().
  [[nodiscard]] std::int64_t data_bytes() const;
  /// The model as a file has it. Code::Input above protobuf's limit of 2 GiB.
  [[nodiscard]] Result<std::string> bytes() const;

 private:
  struct Impl;
  explicit Model(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// How the copies of a kernel model hang together, as built.
enum class Wiring {
  Chain,   ///< copy i+1 reads the result of copy i
  Fan,     ///< all copies read the same inputs
  Single,  ///< one copy: no topology
};

struct KernelModelOptions {
  std::int64_t copies = 1;
  bool distinct_weights =
      false;               ///< float and quantised weights of each copy differ in their bytes
  bool force_fan = false;  ///< never chain
  /// Copies behind the first have operands of their own, with other data. Those need not be fed:
  /// they are initialisers that a caller may replace. Such copies form a fan. Left out where a copy
  /// overwrites its operand, and for strings.
  bool distinct_operands = false;
  bool consume_results = false;  ///< every copy's results are read (by Shape), so that a plan of
                                 ///< the model shows them used
  /// Results that no copy reads are read by a Shape, with as many Shapes as a model of so many
  /// copies has: a runtime then lets later copies write where they lay, as it does in a network
  /// (docs/adr/0072). A model of one copy with the reads of k costs the same for them as that of k
  /// copies. 0: the last copy's first result alone is read.
  std::int64_t reads = 0;
  /// The last copy's results are outputs of the graph; else a Shape of the first of them is.
  bool results_as_outputs = false;
  std::uint64_t seed = 1;
};

/// What an input of a kernel model may hold.
struct KernelInput {
  std::string name;
  ir::Dtype dtype = ir::Dtype::F32;
  std::vector<std::int64_t> dims;
  /// Values that its consumer needs (ir::operand_fill()); nothing: any integers of 0 and 1.
  std::optional<ir::OperandFill> fill = std::nullopt;
  Signs signs = Signs::Any;  ///< of floats
};

struct KernelModel {
  std::string bytes;
  std::vector<KernelInput> inputs;
  Wiring wiring = Wiring::Single;
  std::int64_t weight_bytes = 0;
};

/// Whether a kernel model of `key` has bodies that only stand for those of the kernel's own (If,
/// Loop, Scan): its results may have other sizes than the key's.
bool has_made_up_bodies(const ir::Key& key);

/// Re-creates `key` from nothing but its text. Code::Missing if the key lacks something that its
/// kernel needs (an unknown dimension, the value of a constant); the message names it.
Result<KernelModel> write_kernel_model(const ir::Key& key, const KernelModelOptions& options);

}  // namespace oplat::formats::onnx
