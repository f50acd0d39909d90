// SPDX-License-Identifier: Apache-2.0
/// A model under optimisation: nodes and tensors with known types and sizes, their readers, and the
/// numbers of small constants.
///
/// The runtime's optimiser decides by sizes, by numbers of constants, and by the order in which
/// nodes were made. So this graph has all three: sizes are inferred when a node is added, constants
/// are folded on the way, and a node's id counts up as the runtime's index does. What the rules do
/// not know is an error that names the operator, not a guess.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ir/graph.hpp"
#include "plan/graph_view.hpp"
#include "plan/onnxruntime/ids.hpp"

namespace oplat::plan::ort {

using TensorId = ir::TensorId;
using NodeId = std::int32_t;
using Ints = std::vector<std::int64_t>;
inline constexpr NodeId kNoNode = -1;
inline constexpr TensorId kNone = ir::kNoTensor;

/// Dimensions of a tensor, at most kMaxRank.
struct Dims {
  static constexpr std::size_t kMaxRank = 8;
  std::array<std::int64_t, kMaxRank> at = {};
  std::uint8_t rank = 0;

  Dims() = default;
  Dims(std::initializer_list<std::int64_t> numbers) {
    for (const std::int64_t one : numbers) push(one);
  }
  static std::optional<Dims> of(std::span<const std::int64_t> numbers);
  void push(std::int64_t dim) {
    if (rank < kMaxRank) at[rank++] = dim;
  }
  [[nodiscard]] int size() const { return rank; }
  std::int64_t& operator[](int i) { return at[static_cast<std::size_t>(i)]; }
  std::int64_t operator[](int i) const { return at[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::int64_t elements() const;
  [[nodiscard]] Ints list() const { return {at.begin(), at.begin() + rank}; }
  friend bool operator==(const Dims& a, const Dims& b) {
    return a.rank == b.rank && std::equal(a.at.begin(), a.at.begin() + a.rank, b.at.begin());
  }
};

struct Tensor {
  const ir::TensorInfo* info = nullptr;  ///< of the model; nullptr: made here
  ir::Dtype dtype = ir::Dtype::F32;
  Dims dims;
  bool known = false;        ///< type and sizes
  bool unsized = false;      ///< a pass of the runtime made it and left its size out
  bool constant = false;     ///< stays what it is: initialisers that nobody may replace
  bool overridable = false;  ///< an initialiser that a caller may replace
  bool input = false;
  bool output = false;
  const ir::List* value = nullptr;  ///< flat; one element may stand for many
  NodeId producer = kNoNode;
  Ids readers;  ///< each as often as it reads the tensor
};

/// Attributes that are not the model's: of a node that was changed or made, and of those made of
/// it.
struct MadeAttributes {
  std::vector<ir::NamedValue> list;
  int nodes = 1;  ///< that have them and were not removed
};

struct Node {
  std::string_view domain;
  std::string_view op;
  const ir::Node* source = nullptr;  ///< of the model, or the nearest of those that were fused
  bool own = false;                  ///< is `source` itself, at most changed
  bool alive = true;
  const std::vector<ir::NamedValue>* attributes = nullptr;  ///< of the model
  MadeAttributes* made = nullptr;                           ///< of other names
  Ids inputs;
  Ids outputs;

  [[nodiscard]] AttributeLists attribute_lists() const {
    using List = std::span<const ir::NamedValue>;
    return {*attributes, made == nullptr ? List() : List(made->list)};
  }
};

inline constexpr std::string_view kMs = "com.microsoft";
inline constexpr std::string_view kNchwc = "com.microsoft.nchwc";

/// As ==, of which g++ makes two calls where this is one.
inline bool is_same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

class Net {
 public:
  /// Constants folded. `graph` must outlive it. Code::Refused names the first node whose results
  /// the rules cannot tell, or that the runtime refuses or puts casts around.
  static Result<Net> from(const ir::Graph& graph);

  // ---- looking ----
  [[nodiscard]] NodeId size() const { return static_cast<NodeId>(nodes_.size()); }
  [[nodiscard]] const Node& node(NodeId id) const { return nodes_[index(id)]; }
  /// Of kNone one that nothing is known of.
  [[nodiscard]] const Tensor& tensor(TensorId id) const {
    return id == kNone ? missing() : tensors_[index(id)];
  }
  [[nodiscard]] std::size_t tensor_count() const { return tensors_.size(); }
  /// To be changed; not of kNone.
  [[nodiscard]] Tensor& edit(TensorId id) { return tensors_[index(id)]; }
  [[nodiscard]] bool alive(NodeId id) const { return id >= 0 && node(id).alive; }
  /// Whether it is that operator, of ONNX's own domain or `domain`.
  [[nodiscard]] bool is(NodeId id, std::string_view op, std::string_view domain = "") const {
    return alive(id) && is_same(node(id).op, op) && is_same(node(id).domain, domain);
  }
  [[nodiscard]] bool is_any(NodeId id, std::initializer_list<std::string_view> ops) const;
  /// kNone where the node lacks it.
  [[nodiscard]] TensorId input(NodeId id, std::size_t i) const {
    const Node& n = node(id);
    return i < n.inputs.size() ? n.inputs[i] : kNone;
  }
  [[nodiscard]] TensorId result(NodeId id) const {
    return node(id).outputs.empty() ? kNone : node(id).outputs[0];
  }
  [[nodiscard]] NodeId producer(TensorId id) const {
    return id == kNone ? kNoNode : tensor(id).producer;
  }
  /// The node that writes input i.
  [[nodiscard]] NodeId before(NodeId id, std::size_t i) const { return producer(input(id, i)); }
  /// How often results are read by nodes.
  [[nodiscard]] std::size_t uses(NodeId id) const;
  [[nodiscard]] bool makes_output(NodeId id) const;
  /// The only reader of the node's results, none of them a result of the model; else kNoNode.
  [[nodiscard]] NodeId only_reader(NodeId id) const;
  [[nodiscard]] bool is_constant(TensorId id) const { return id != kNone && tensor(id).constant; }
  /// Elements of a constant of few; all of them, where they are alike.
  [[nodiscard]] std::optional<Ints> ints(TensorId id) const;
  /// The element of a constant that has one.
  [[nodiscard]] std::optional<double> number(TensorId id) const;
  [[nodiscard]] bool is_number(TensorId id, double wanted) const;

  [[nodiscard]] const ir::Value* attribute(NodeId id, std::string_view name) const;
  [[nodiscard]] std::int64_t attribute_int(NodeId id, std::string_view name,
                                           std::int64_t otherwise) const;
  [[nodiscard]] double attribute_real(NodeId id, std::string_view name, double otherwise) const;
  [[nodiscard]] std::string_view attribute_text(NodeId id, std::string_view name,
                                                std::string_view otherwise) const;
  [[nodiscard]] std::optional<Ints> attribute_ints(NodeId id, std::string_view name) const;
  /// Numbers of an attribute or, in later versions of the operator, of its constant operand `i`.
  [[nodiscard]] std::optional<Ints> ints_given(NodeId id, std::string_view name,
                                               std::size_t i) const;
  [[nodiscard]] std::int64_t opset() const { return opset_; }
  [[nodiscard]] const std::vector<TensorId>& inputs() const { return graph_->inputs; }
  /// Nodes as the runtime's GraphViewer orders them (core/graph/graph_viewer.cc): each walk begins
  /// at a node that nobody reads, the last first, and takes the operand that was made last first.
  /// Kept as long as no node, operand or result changes.
  [[nodiscard]] std::vector<NodeId> order() const;
  /// Whether there ever was a node of that operator: a pass over others need not look.
  [[nodiscard]] bool had(std::string_view op) const {
    return std::find(ops_.begin(), ops_.end(), op) != ops_.end();
  }

  // ---- changing ----
  TensorId add_tensor(ir::Dtype dtype, Dims dims);  // by value: it may be that of another tensor
  TensorId add_ints(const Ints& numbers, bool scalar = false);
  /// A constant of the runtime's making, whose numbers do not matter.
  TensorId add_constant(ir::Dtype dtype, Dims dims);
  /// Gives a constant of one element its number.
  void give_number(TensorId id, std::int64_t number);
  /// The numbers of a constant that was made here.
  void set_value(TensorId id, ir::List value);
  /// The node's results must be there; it writes them from now on.
  NodeId add(std::string_view domain, std::string_view op, Ids inputs, Ids outputs,
             const ir::Node* source, std::vector<ir::NamedValue> attributes = {});
  /// The same with the attributes of another node.
  NodeId add_like(NodeId like, std::string_view domain, std::string_view op, Ids inputs,
                  Ids outputs);
  void remove(NodeId id);
  void set_input(NodeId id, std::size_t i, TensorId to);
  void set_inputs(NodeId id, Ids to);
  /// The node writes `to` from now on, in place of its result i.
  void set_output(NodeId id, std::size_t i, TensorId to);
  /// A node without a result writes this one from now on.
  void adopt(NodeId id, TensorId result);
  /// Readers of `from` read `to`. Results of the model stay.
  void redirect(TensorId from, TensorId to);
  /// Takes a node away whose result is what its operand is. false where the model's results keep
  /// it: core/graph/graph_utils.cc, CanRemoveNode.
  bool bypass(NodeId id, std::size_t operand = 0);
  void set_attribute(NodeId id, std::string_view name, ir::Value value);
  void drop_attribute(NodeId id, std::string_view name);
  void set_op(NodeId id, std::string_view domain, std::string_view op);
  /// Types and sizes of a node's results anew.
  Status infer(NodeId id);
  /// The same for a node that a pass made; an error is kept for failure().
  void infer_made(NodeId id);
  [[nodiscard]] const Status& failure() const { return failure_; }
  /// The node's results become constants where its operands are some.
  void fold(NodeId id);

  /// What is left, in the order in which the runtime writes it to a file.
  [[nodiscard]] GraphView view() const;
  /// The same in memory of its own.
  [[nodiscard]] ir::Graph graph() const;

 private:
  template <typename Id>
  static std::size_t index(Id id) {
    return static_cast<std::size_t>(id);
  }
  static const Tensor& missing();
  void note_op(std::string_view op) {
    if (!had(op)) ops_.push_back(op);
  }
  /// Of this node alone from now on, and no others of it have that name.
  std::vector<ir::NamedValue>& own_attributes(NodeId id, std::string_view name);
  void attach(NodeId id);
  void detach(NodeId id);

  const ir::Graph* graph_ = nullptr;
  Status failure_ = {};
  std::int64_t opset_ = 0;
  std::vector<Tensor> tensors_;
  std::vector<Node> nodes_;
  std::deque<MadeAttributes> attributes_;
  std::deque<ir::List> values_;
  std::vector<std::string_view> ops_;  ///< see had(); they are few
  mutable std::vector<NodeId> order_;  ///< empty: to be found anew
};

}  // namespace oplat::plan::ort
