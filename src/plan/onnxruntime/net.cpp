// SPDX-License-Identifier: Apache-2.0
#include "plan/onnxruntime/net.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "base/text_numbers.hpp"
#include "ir/catalogue.hpp"
#include "plan/onnxruntime/functions.hpp"
#include "plan/onnxruntime/walk.hpp"

namespace oplat::plan::ort {
namespace {

const std::vector<ir::NamedValue> kNoAttributes;

/// Room for those that a node gets when its own are changed: an activation and its parameters.
constexpr std::size_t kMoreAttributes = 2;

void erase_one(Ids& list, std::int32_t id) {
  std::int32_t* const at = std::find(list.begin(), list.end(), id);
  if (at != list.end()) list.erase(at);
}

std::optional<Dims> dims_of(const ir::Shape& shape) {
  if (!shape.ranked || shape.dims.size() > Dims::kMaxRank) return std::nullopt;
  Dims dims;
  constexpr std::int64_t kMaxDim = std::int64_t{1} << 31U;
  for (const ir::Dim& dim : shape.dims) {
    if (!dim || *dim < 0 || *dim > kMaxDim) return std::nullopt;
    dims.push(*dim);
  }
  return dims;
}

/// Layers that may leave out their first result, that of every step.
bool is_recurrent(const ir::Node& node) {
  if (node.domain == kMs) return node.op == "DynamicQuantizeLSTM";
  return node.domain.empty() && (node.op == "LSTM" || node.op == "GRU" || node.op == "RNN");
}

/// What rules can do nothing with: a body, no result.
Status check_node(const ir::Node& node) {
  if (!node.bodies.empty())
    return fail(
        Code::Refused,
        "the node '{}' ({}) has a body of its own, whose kernels the rules do not know; use "
        "--plan runtime",
        base::printable(node.name), base::printable(node.op));
  const bool named = std::any_of(node.outputs.begin(), node.outputs.end(),
                                 [](TensorId one) { return one != kNone; });
  if (named && (node.outputs[0] != kNone || is_recurrent(node))) return {};
  return fail(
      Code::Refused,
      "the node '{}' ({}) has no name for {}, which the runtime does not accept; give it one",
      base::printable(node.name), base::printable(node.op),
      named ? "its first result" : "any result");
}

/// On x86-64 few of the runtime's kernels take half precision: the other nodes get casts around
/// them, which change the plan.
Status check_type(const Net& net, NodeId id) {
  if (net.is(id, "Cast")) return {};
  const Node& node = net.node(id);
  for (const Ids* list : {&node.inputs, &node.outputs}) {
    for (const TensorId one : *list) {
      const ir::Dtype dtype = net.tensor(one).dtype;
      if (dtype != ir::Dtype::F16 && dtype != ir::Dtype::BF16) continue;
      return fail(Code::Refused,
                  "the node '{}' ({}) computes in {}, for which the runtime inserts casts; ask the "
                  "runtime for the plan: --plan runtime",
                  base::printable(node.source->name), base::printable(node.op), ir::name(dtype));
    }
  }
  return {};
}

}  // namespace

std::optional<Dims> Dims::of(std::span<const std::int64_t> numbers) {
  if (numbers.size() > kMaxRank) return std::nullopt;
  Dims dims;
  for (const std::int64_t one : numbers) dims.push(one);
  return dims;
}

std::int64_t Dims::elements() const {
  std::int64_t product = 1;
  for (int i = 0; i < rank; ++i) {
    if (__builtin_mul_overflow(product, (*this)[i], &product)) return -1;
  }
  return product;
}

const Tensor& Net::missing() {
  static const Tensor kMissing;
  return kMissing;
}

Result<Net> Net::from(const ir::Graph& graph) {
  Net net;
  net.graph_ = &graph;
  if (const auto own = graph.opsets.find(""); own != graph.opsets.end()) net.opset_ = own->second;
  net.tensors_.reserve(graph.tensors.size() * 2);
  net.tensors_.resize(graph.tensors.size());
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    const ir::TensorInfo& info = graph.tensors[i];
    Tensor& tensor = net.tensors_[i];
    tensor.info = &info;
    tensor.constant = info.constant;
    tensor.overridable = info.overridable;
    if (const auto dims = dims_of(info.shape); dims && info.dtype && dims->elements() >= 0) {
      tensor.dims = *dims;
      tensor.dtype = *info.dtype;
      tensor.known = true;
    }
    if (info.small_value) tensor.value = info.small_value->list();
  }
  for (const TensorId id : graph.inputs)
    if (id != kNone) net.edit(id).input = true;
  for (const TensorId id : graph.outputs)
    if (id != kNone) net.edit(id).output = true;
  net.nodes_.reserve(graph.nodes.size() * 2);
  for (const ir::Node& source : graph.nodes) {
    OPLAT_CHECK(check_node(source));
    if (source.op == "Constant" && source.domain.empty() && source.outputs.size() == 1 &&
        net.tensor(source.outputs[0]).constant)
      continue;
    Node& node = net.nodes_.emplace_back();
    node.domain = source.domain;
    node.op = source.op;
    node.source = &source;
    node.own = true;
    node.attributes = &source.attributes;
    node.inputs = source.inputs;
    node.outputs = source.outputs;
    const NodeId id = net.size() - 1;
    net.attach(id);
    OPLAT_CHECK(check_kernel(net, id));
    OPLAT_CHECK(net.infer(id));
    OPLAT_CHECK(check_type(net, id));
    net.fold(id);
  }
  return net;
}

bool Net::is_any(NodeId id, std::initializer_list<std::string_view> ops) const {
  return alive(id) && node(id).domain.empty() &&
         std::find(ops.begin(), ops.end(), node(id).op) != ops.end();
}

std::size_t Net::uses(NodeId id) const {
  std::size_t sum = 0;
  for (const TensorId one : node(id).outputs)
    if (one != kNone) sum += tensor(one).readers.size();
  return sum;
}

bool Net::makes_output(NodeId id) const {
  const Ids& outputs = node(id).outputs;
  return std::any_of(outputs.begin(), outputs.end(),
                     [&](TensorId one) { return one != kNone && tensor(one).output; });
}

NodeId Net::only_reader(NodeId id) const {
  if (uses(id) != 1 || makes_output(id)) return kNoNode;
  for (const TensorId one : node(id).outputs)
    if (one != kNone && !tensor(one).readers.empty()) return tensor(one).readers[0];
  return kNoNode;
}

std::optional<Ints> Net::ints(TensorId id) const {
  constexpr std::int64_t kMaxElements = 4096;
  if (!is_constant(id)) return std::nullopt;
  const Tensor& t = tensor(id);
  if (!t.known) return std::nullopt;
  const std::int64_t elements = t.dims.elements();
  if (elements == 0) return Ints();
  if (t.value == nullptr || t.value->empty() || elements < 0 || elements > kMaxElements)
    return std::nullopt;
  Ints numbers;
  for (const ir::Value& one : *t.value) {
    if (one.integer() == nullptr) return std::nullopt;
    numbers.push_back(*one.integer());
  }
  if (numbers.size() == 1) numbers.resize(static_cast<std::size_t>(elements), numbers[0]);
  if (static_cast<std::int64_t>(numbers.size()) != elements) return std::nullopt;
  return numbers;
}

std::optional<double> Net::number(TensorId id) const {
  if (!is_constant(id)) return std::nullopt;
  const Tensor& t = tensor(id);
  if (!t.known || t.dims.elements() != 1 || t.value == nullptr || t.value->size() != 1)
    return std::nullopt;
  const ir::Value& one = t.value->front();
  if (one.real() != nullptr) return *one.real();
  if (one.integer() != nullptr) return static_cast<double>(*one.integer());
  return std::nullopt;
}

bool Net::is_number(TensorId id, double wanted) const {
  const auto found = number(id);
  constexpr double kRelative = 1e-4;  // constants are of 32 bits, and exporters round them
  return found && std::abs(*found - wanted) <= kRelative * std::max(1e-3, std::abs(wanted));
}

const ir::Value* Net::attribute(NodeId id, std::string_view name) const {
  for (const auto list : node(id).attribute_lists())
    for (const auto& [given, value] : list)
      if (is_same(given, name)) return &value;
  return nullptr;
}

std::int64_t Net::attribute_int(NodeId id, std::string_view name, std::int64_t otherwise) const {
  const ir::Value* value = attribute(id, name);
  return value != nullptr && value->integer() != nullptr ? *value->integer() : otherwise;
}

double Net::attribute_real(NodeId id, std::string_view name, double otherwise) const {
  const ir::Value* value = attribute(id, name);
  return value != nullptr && value->real() != nullptr ? *value->real() : otherwise;
}

std::string_view Net::attribute_text(NodeId id, std::string_view name,
                                     std::string_view otherwise) const {
  const ir::Value* value = attribute(id, name);
  return value != nullptr && value->text() != nullptr ? std::string_view(*value->text())
                                                      : otherwise;
}

std::optional<Ints> Net::attribute_ints(NodeId id, std::string_view name) const {
  const ir::Value* value = attribute(id, name);
  if (value == nullptr || value->list() == nullptr) return std::nullopt;
  Ints numbers;
  for (const ir::Value& one : *value->list()) {
    if (one.integer() == nullptr) return std::nullopt;
    numbers.push_back(*one.integer());
  }
  return numbers;
}

std::optional<Ints> Net::ints_given(NodeId id, std::string_view name, std::size_t i) const {
  auto found = attribute_ints(id, name);
  if (!found && input(id, i) != kNone) found = ints(input(id, i));
  return found;
}

std::vector<NodeId> Net::order() const {
  if (!order_.empty()) return order_;
  std::vector<NodeId> ends;
  for (NodeId id = 0; id < size(); ++id)
    if (alive(id) && uses(id) == 0) ends.push_back(id);
  order_ = walk_order(nodes_.size(), ends, [&](NodeId id, std::vector<NodeId>& sources) {
    for (const TensorId input : node(id).inputs)
      if (const NodeId one = producer(input); one != kNoNode) sources.push_back(one);
  });
  return order_;
}

TensorId Net::add_tensor(ir::Dtype dtype, Dims dims) {
  Tensor& tensor = tensors_.emplace_back();
  tensor.dtype = dtype;
  tensor.dims = dims;
  tensor.known = true;
  return static_cast<TensorId>(tensors_.size() - 1);
}

TensorId Net::add_ints(const Ints& numbers, bool scalar) {
  const TensorId id = add_tensor(
      ir::Dtype::I64, scalar ? Dims() : Dims({static_cast<std::int64_t>(numbers.size())}));
  edit(id).constant = true;
  set_value(id, ir::List(numbers.begin(), numbers.end()));
  return id;
}

TensorId Net::add_constant(ir::Dtype dtype, Dims dims) {
  const TensorId id = add_tensor(dtype, dims);
  edit(id).constant = true;
  return id;
}

void Net::give_number(TensorId id, std::int64_t number) {
  set_value(id, ir::List{ir::Value(number)});
}

void Net::set_value(TensorId id, ir::List value) {
  edit(id).value = &values_.emplace_back(std::move(value));
}

NodeId Net::add(std::string_view domain, std::string_view op, Ids inputs, Ids outputs,
                const ir::Node* source, std::vector<ir::NamedValue> attributes) {
  Node& node = nodes_.emplace_back();
  node.domain = domain;
  node.op = op;
  node.source = source;
  node.attributes = &kNoAttributes;
  if (!attributes.empty())
    node.made = &attributes_.emplace_back(MadeAttributes{std::move(attributes)});
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  attach(size() - 1);
  return size() - 1;
}

NodeId Net::add_like(NodeId like, std::string_view domain, std::string_view op, Ids inputs,
                     Ids outputs) {
  const NodeId id = add(domain, op, std::move(inputs), std::move(outputs), node(like).source);
  Node& made = nodes_[index(id)];
  made.attributes = node(like).attributes;
  made.made = node(like).made;
  if (made.made != nullptr) ++made.made->nodes;
  return id;
}

void Net::attach(NodeId id) {
  order_.clear();
  const Node& n = node(id);
  note_op(n.op);
  for (const TensorId one : n.inputs)
    if (one != kNone) edit(one).readers.push_back(id);
  for (const TensorId one : n.outputs)
    if (one != kNone) edit(one).producer = id;
}

void Net::detach(NodeId id) {
  order_.clear();
  const Node& n = node(id);
  for (const TensorId one : n.inputs)
    if (one != kNone) erase_one(edit(one).readers, id);
  for (const TensorId one : n.outputs)
    if (one != kNone && tensor(one).producer == id) edit(one).producer = kNoNode;
}

void Net::remove(NodeId id) {
  order_.clear();
  if (!alive(id)) return;
  detach(id);
  Node& n = nodes_[index(id)];
  n.alive = false;
  if (n.made != nullptr) --n.made->nodes;
}

void Net::set_input(NodeId id, std::size_t i, TensorId to) {
  order_.clear();
  Node& n = nodes_[index(id)];
  if (i >= n.inputs.size()) n.inputs.resize(i + 1, kNone);
  if (n.inputs[i] != kNone) erase_one(edit(n.inputs[i]).readers, id);
  n.inputs[i] = to;
  if (to != kNone) edit(to).readers.push_back(id);
}

void Net::set_inputs(NodeId id, Ids to) {
  order_.clear();
  Node& n = nodes_[index(id)];
  for (const TensorId one : n.inputs)
    if (one != kNone) erase_one(edit(one).readers, id);
  n.inputs = std::move(to);
  for (const TensorId one : n.inputs)
    if (one != kNone) edit(one).readers.push_back(id);
}

void Net::set_output(NodeId id, std::size_t i, TensorId to) {
  order_.clear();
  Node& n = nodes_[index(id)];
  if (n.outputs[i] != kNone && tensor(n.outputs[i]).producer == id)
    edit(n.outputs[i]).producer = kNoNode;
  n.outputs[i] = to;
  if (to != kNone) edit(to).producer = id;
}

void Net::adopt(NodeId id, TensorId result) {
  order_.clear();
  nodes_[index(id)].outputs = {result};
  edit(result).producer = id;
}

void Net::infer_made(NodeId id) {
  Status status = infer(id);
  if (!status && failure_) failure_ = std::move(status);
}

void Net::redirect(TensorId from, TensorId to) {
  order_.clear();
  if (from == to) return;
  const Ids readers = tensor(from).readers;
  edit(from).readers.clear();
  for (const NodeId reader : readers) {
    // Readers that read it twice are listed twice, each time for one place.
    Ids& inputs = nodes_[index(reader)].inputs;
    const auto at = std::find(inputs.begin(), inputs.end(), from);
    if (at == inputs.end()) continue;
    *at = to;
    edit(to).readers.push_back(reader);
  }
}

bool Net::bypass(NodeId id, std::size_t operand) {
  const TensorId from = result(id);
  const TensorId to = input(id, operand);
  if (from == kNone || to == kNone) return false;
  if (tensor(from).output) {
    // The node before may write the model's result in its place, if nobody else reads its own.
    const NodeId first = producer(to);
    if (first == kNoNode || tensor(to).readers.size() != 1 || tensor(to).output || uses(id) > 0)
      return false;
    remove(id);
    const Ids& outputs = node(first).outputs;
    const auto at = std::find(outputs.begin(), outputs.end(), to);
    set_output(first, static_cast<std::size_t>(at - outputs.begin()), from);
    return true;
  }
  remove(id);
  redirect(from, to);
  return true;
}

std::vector<ir::NamedValue>& Net::own_attributes(NodeId id, std::string_view name) {
  Node& n = nodes_[index(id)];
  if (n.made == nullptr || n.made->nodes > 1) {
    MadeAttributes& made = attributes_.emplace_back();
    made.list.reserve((n.made == nullptr ? 0 : n.made->list.size()) + kMoreAttributes);
    if (n.made != nullptr) {
      made.list = n.made->list;
      --n.made->nodes;
    }
    n.made = &made;
  }
  std::vector<ir::NamedValue>& own = n.made->list;
  const bool is_models = std::any_of(n.attributes->begin(), n.attributes->end(),
                                     [&](const ir::NamedValue& one) { return one.first == name; });
  if (is_models) {
    own.insert(own.begin(), n.attributes->begin(), n.attributes->end());
    n.attributes = &kNoAttributes;
  }
  return own;
}

void Net::set_attribute(NodeId id, std::string_view name, ir::Value value) {
  std::vector<ir::NamedValue>& attributes = own_attributes(id, name);
  const auto at = std::find_if(attributes.begin(), attributes.end(),
                               [&](const ir::NamedValue& one) { return one.first == name; });
  if (at == attributes.end()) {
    attributes.emplace_back(std::string(name), std::move(value));
  } else {
    at->second = std::move(value);
  }
}

void Net::drop_attribute(NodeId id, std::string_view name) {
  std::erase_if(own_attributes(id, name),
                [&](const ir::NamedValue& one) { return one.first == name; });
}

void Net::set_op(NodeId id, std::string_view domain, std::string_view op) {
  nodes_[index(id)].domain = domain;
  nodes_[index(id)].op = op;
  note_op(op);
}

namespace {

/// Not one that could be taken for a name that is made up, nor what no terminal shows; as in
/// runtimes/onnxruntime/node_labels.cpp.
bool is_label(std::string_view name) {
  constexpr std::size_t kMaxLabelBytes = 200;
  if (name.empty() || name.size() > kMaxLabelBytes) return false;
  if (name.size() > 1 && name[0] == 'n' && name[1] >= '0' && name[1] <= '9') return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; });
}

/// Without dimensions.
TensorView view_of(const Tensor& tensor, std::size_t position) {
  TensorView view;
  if (const ir::TensorInfo* info = tensor.info; info != nullptr) {
    view.name = info->name;
    view.overridable = info->overridable;
    view.outer = info->outer;
    view.constant_bytes = info->constant_bytes;
    view.constant_hash = info->constant_hash;
    if (info->small_value) view.small_value = info->small_value->list();
  } else {
    constexpr std::uint64_t kMade = 0x6d61646500000000ULL;
    view.constant_hash = kMade + position;
  }
  view.dtype = tensor.dtype;
  view.constant = tensor.constant;
  if (tensor.constant) {
    const auto bits = static_cast<std::uint64_t>(ir::bits(tensor.dtype).value_or(0));
    view.constant_bytes =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, tensor.dims.elements())) * bits / 8;
    view.small_value = tensor.value;
  }
  return view;
}

/// Versions that defined the operators of a graph. They are few, and a list of them is searched in
/// less time than a map.
class SinceVersions {
 public:
  explicit SinceVersions(const std::map<std::string, std::int64_t>& opsets) : opsets_(&opsets) {}

  std::optional<std::int64_t> of(const Node& node) {
    const ir::Node* const source = node.source;
    if (node.own && is_same(source->op, node.op) && is_same(source->domain, node.domain))
      return source->since;
    for (const Known& one : known_)
      if (is_same(one.op, node.op) && is_same(one.domain, node.domain)) return one.since;
    const auto opset = opsets_->find(std::string(node.domain));
    auto since =
        ir::since_version(node.domain, node.op, opset == opsets_->end() ? 1 : opset->second);
    if (!since && !node.domain.empty()) since = 1;
    known_.push_back({node.domain, node.op, since});
    return since;
  }

 private:
  struct Known {
    std::string_view domain, op;
    std::optional<std::int64_t> since;
  };
  const std::map<std::string, std::int64_t>* opsets_;
  std::vector<Known> known_;
};

ir::TensorInfo info_of(const TensorView& view, std::size_t position) {
  ir::TensorInfo info;
  info.name = view.name.empty() ? "made:" + std::to_string(position) : std::string(view.name);
  info.dtype = view.dtype;
  info.shape = {view.ranked, {view.dims.begin(), view.dims.end()}};
  info.constant = view.constant;
  info.overridable = view.overridable;
  info.outer = view.outer;
  info.constant_bytes = view.constant_bytes;
  info.constant_hash = view.constant_hash;
  if (view.small_value != nullptr) info.small_value = ir::Value(*view.small_value);
  return info;
}

}  // namespace

GraphView Net::view() const {
  GraphView view;
  view.inputs = graph_->inputs;
  view.outputs = graph_->outputs;
  view.opsets = &graph_->opsets;
  std::size_t dims = 0;
  for (const Tensor& tensor : tensors_) dims += tensor.dims.rank;
  view.made_dims.reserve(dims);
  view.tensors.resize(tensors_.size());
  // Many tensors have no node any more.
  const auto show = [&](std::span<const TensorId> ids) {
    for (const TensorId id : ids) {
      if (id == kNone || view.tensor(id).dtype) continue;
      const Dims& sizes = tensor(id).dims;
      const std::size_t begin = view.made_dims.size();
      for (int i = 0; i < sizes.size(); ++i) view.made_dims.emplace_back(sizes[i]);
      TensorView& shown = view.tensors[index(id)];
      shown = view_of(tensor(id), index(id));
      shown.dims = std::span(view.made_dims).subspan(begin);
    }
    return ids;
  };
  show(view.inputs);
  show(view.outputs);
  const std::vector<NodeId> nodes = order();
  SinceVersions since(graph_->opsets);
  base::TextNumbers labels(nodes.size());
  view.nodes.reserve(nodes.size());
  for (const NodeId id : nodes) {
    const Node& from = node(id);
    std::string_view label = from.source == nullptr ? std::string_view() : from.source->name;
    if (!is_label(label) || !labels.of(label).added)
      label = view.made_names.emplace_back("n" + std::to_string(view.nodes.size()));
    view.nodes.push_back(NodeView{label,
                                  from.domain,
                                  from.op,
                                  since.of(from),
                                  from.attribute_lists(),
                                  show(from.inputs.span()),
                                  show(from.outputs.span()),
                                  {},
                                  nullptr});
  }
  return view;
}

ir::Graph Net::graph() const {
  const GraphView view = this->view();
  ir::Graph left;
  left.name = graph_->name;
  left.opsets = graph_->opsets;
  left.nodes.reserve(view.nodes.size());
  left.tensors.reserve(graph_->tensors.size());
  std::vector<TensorId> ids(tensors_.size(), kNone);
  const auto list = [&](std::span<const TensorId> of, std::vector<TensorId>& to) {
    to.reserve(of.size());
    for (const TensorId id : of) {
      if (id != kNone && ids[index(id)] == kNone) {
        ids[index(id)] = static_cast<TensorId>(left.tensors.size());
        left.tensors.push_back(info_of(view.tensor(id), left.tensors.size()));
      }
      to.push_back(id == kNone ? kNone : ids[index(id)]);
    }
  };
  list(view.inputs, left.inputs);
  for (const NodeView& from : view.nodes) {
    ir::Node& to = left.nodes.emplace_back();
    to.name = from.name;
    to.domain = from.domain;
    to.op = from.op;
    to.since = from.since;
    for (const auto attributes : from.attributes)
      to.attributes.insert(to.attributes.end(), attributes.begin(), attributes.end());
    list(from.inputs, to.inputs);
    list(from.outputs, to.outputs);
  }
  list(view.outputs, left.outputs);
  return left;
}

}  // namespace oplat::plan::ort
