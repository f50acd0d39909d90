// SPDX-License-Identifier: Apache-2.0
/// Nets to graphs: blobs that are written again become tensors of their own, shapes flow from the
/// inputs.
#include "formats/caffe2/builder.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "formats/caffe2/operators.hpp"
#include "formats/caffe2/uses.hpp"

namespace oplat::formats::caffe2 {
namespace {

constexpr std::int64_t kMaxDim = std::int64_t{1} << 30;

std::optional<Dims> known_dims(const ir::Shape& shape) {
  if (!shape.ranked) return std::nullopt;
  Dims dims;
  for (const ir::Dim& dim : shape.dims) {
    if (!dim) return std::nullopt;
    dims.push_back(*dim);
  }
  return dims;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// Whether an argument belongs into a key: keys hold text as JSON strings, which know no other
/// bytes, and no weights.
bool fits_key(const ir::NamedValue& argument) {
  constexpr std::size_t kMaxElements = 64;
  constexpr std::size_t kMaxArgumentTextBytes = 4096;
  const auto plain = [](const ir::Value& v) {
    return v.text() == nullptr ||
           (is_ascii(*v.text()) && v.text()->size() <= kMaxArgumentTextBytes);
  };
  const ir::List* list = argument.second.list();
  return is_ascii(argument.first) && plain(argument.second) && !argument.second.unknown() &&
         (list == nullptr ||
          (list->size() <= kMaxElements && std::all_of(list->begin(), list->end(), plain)));
}

std::string names_text(const std::vector<std::string>& names) {
  if (names.empty()) return "none";
  constexpr std::size_t kMaxNames = 8;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(names.size(), kMaxNames); ++i)
    shown.push_back(base::printable(names[i]));
  if (names.size() > kMaxNames)
    shown.push_back(fmt::format("and {} more", names.size() - kMaxNames));
  return base::join(shown, ", ");
}

class Builder {
 public:
  Builder(const std::string& file, const wire::Net& net, const Companions& companions,
          const ShapeOptions& options)
      : file_(file), net_(net), companions_(companions), options_(options) {}

  Result<Built> run() {
    built_.graph.name = net_.name();
    OPLAT_TRY(uses, uses_of(file_, net_, companions_));
    OPLAT_TRY(fills, parameters_of(file_, net_));
    fills_ = std::move(fills);
    OPLAT_CHECK(add_outside(uses));
    for (int i = 0; i < net_.op_size(); ++i) OPLAT_CHECK(add_operator(i));
    OPLAT_CHECK(add_outputs());
    return std::move(built_);
  }

 private:
  ir::TensorInfo& tensor(ir::TensorId id) {
    return built_.graph.tensors[static_cast<std::size_t>(id)];
  }

  /// A new tensor for the blob, which from here on means this one.
  ir::TensorId define(const std::string& blob) {
    std::string name = blob;
    const auto [times, first] = written_.try_emplace(blob, 0);
    if (!first) name = fmt::format("{}.{}", blob, ++times->second);
    while (!names_.insert(name).second) name += '\'';
    const auto id = static_cast<ir::TensorId>(built_.graph.tensors.size());
    current_[blob] = id;
    ir::TensorInfo& info = built_.graph.tensors.emplace_back();
    info.name = std::move(name);
    info.shape.ranked = false;
    return id;
  }

  /// Whether the user may give its shape: what an init net fills is an input only where it is a
  /// placeholder for one.
  bool is_input(const std::string& blob, const Use& use) const {
    if (use.only_parameter) return false;
    return !companions_.parameters.contains(blob) || use.only_first ||
           options_.shapes.contains(blob);
  }

  Status add_outside(const Uses& uses) {
    std::vector<std::string> inputs;
    for (const std::string& blob : uses.order) {
      if (is_input(blob, uses.from_outside.at(blob))) inputs.push_back(blob);
    }
    for (const auto& [name, dims] : options_.shapes) {
      if (std::find(inputs.begin(), inputs.end(), name) != inputs.end()) continue;
      return fail(Code::Usage, "{}: has no input '{}'; its inputs are: {}", file_,
                  base::printable(name), names_text(inputs));
    }
    for (const std::string& blob : inputs) {
      OPLAT_TRY(dims, input_dims(blob));
      const ir::TensorId id = define(blob);
      tensor(id).dtype = uses.from_outside.at(blob).dtype;
      if (const auto fill = companions_.parameters.find(blob);
          fill != companions_.parameters.end() && fill->second.dtype) {
        tensor(id).dtype = fill->second.dtype;
      }
      tensor(id).shape = ir::Shape::of(dims);
      built_.graph.inputs.push_back(id);
      note_batch(blob, dims);
    }
    std::vector<std::string> lacking;
    for (const std::string& blob : uses.order) {
      if (!current_.contains(blob) && !add_parameter(blob, uses.from_outside.at(blob)))
        lacking.push_back(blob);
    }
    if (lacking.empty()) return {};
    if (companions_.found.empty()) {
      return fail(Code::Input,
                  "{}: the shapes of {} parameters ({}) are unknown, since none of {} is next to "
                  "the net; keep the files of a net together",
                  file_, lacking.size(), names_text(lacking),
                  base::join(companions_.looked_for, ", "));
    }
    return fail(Code::Input, "{}: {}, next to the net, gives no shape for {} parameters: {}", file_,
                base::join(companions_.found, ", "), lacking.size(), names_text(lacking));
  }

  const Dims* drawn(const std::string& blob, int times = 0) const {
    const auto at = companions_.drawing.find({blob, times});
    return at == companions_.drawing.end() ? nullptr : &at->second;
  }

  Result<Dims> input_dims(const std::string& blob) const {
    const auto refuse = [&](const Dims& dims, std::string_view why) {
      return fail(Code::Usage, "{}: --shape {}={}: {}", file_, base::printable(blob),
                  fmt::join(dims, "x"), why);
    };
    if (const auto given = options_.shapes.find(blob); given != options_.shapes.end()) {
      const Dims& dims = given->second;
      const bool sound = std::all_of(dims.begin(), dims.end(),
                                     [](std::int64_t d) { return d >= 1 && d <= kMaxDim; });
      if (!sound || !ir::Shape::of(dims).elements())
        return refuse(dims, "dimensions are from 1 to 2^30");
      if (options_.batch && (dims.empty() || dims.front() != *options_.batch)) {
        return refuse(dims, fmt::format("contradicts --batch {}", *options_.batch));
      }
      return dims;
    }
    const auto fill = companions_.parameters.find(blob);
    const Dims* noted = fill != companions_.parameters.end() ? &fill->second.dims : drawn(blob);
    if (noted != nullptr && options_.batch && !noted->empty()) {
      Dims dims = *noted;
      dims.front() = *options_.batch;
      if (dims.front() < 1 || dims.front() > kMaxDim || !ir::Shape::of(dims).elements()) {
        return fail(Code::Usage, "{}: --batch {}: expected 1 to 2^30", file_, dims.front());
      }
      return dims;
    }
    if (fill != companions_.parameters.end()) return *noted;
    return fail(Code::Usage,
                "{}: a Caffe2 net does not state the shape of its input '{}'; set it with --shape "
                "{}=1x3x224x224 (with its own numbers){}",
                file_, base::printable(blob), base::printable(blob),
                noted == nullptr
                    ? ""
                    : fmt::format("; its drawing has [{}], and --batch changes the first number",
                                  fmt::join(*noted, ", ")));
  }

  /// A drawing holds the net at another batch: where an input was drawn with the asked sizes
  /// otherwise, results are too.
  void note_batch(const std::string& blob, const Dims& dims) {
    const Dims* shown = drawn(blob);
    if (shown == nullptr) return;
    const bool alike = shown->size() == dims.size() && !dims.empty() &&
                       std::equal(dims.begin() + 1, dims.end(), shown->begin() + 1);
    drawing_holds_ = drawing_holds_ && alike;
    if (alike) drawn_batch_ = shown->front(), batch_ = dims.front();
  }

  bool add_parameter(const std::string& blob, const Use& use) {
    const auto fill = companions_.parameters.find(blob);
    const Dims* dims = fill != companions_.parameters.end() ? &fill->second.dims : drawn(blob);
    if (dims == nullptr) return false;
    const ir::TensorId id = define(blob);
    ir::TensorInfo& info = tensor(id);
    info.constant = true;
    info.shape = ir::Shape::of(*dims);
    info.dtype = fill != companions_.parameters.end() && fill->second.dtype ? *fill->second.dtype
                                                                            : use.dtype;
    const auto elements = info.shape.elements();
    const auto bits = ir::bits(*info.dtype);
    if (elements && bits)
      info.constant_bytes =
          (static_cast<std::uint64_t>(*elements) * static_cast<std::uint64_t>(*bits) + 7) / 8;
    info.constant_hash = base::hash64(blob);
    return true;
  }

  Result<std::vector<ir::NamedValue>> arguments(int i) const {
    std::vector<ir::NamedValue> list;
    for (const wire::Argument& each : net_.op(i).arg()) {
      auto argument = argument_of(each);
      if (!argument) return fail_in(place(file_, net_, i), std::move(argument).error());
      const auto same = std::find_if(list.begin(), list.end(), [&](const ir::NamedValue& a) {
        return a.first == argument->first;
      });
      if (same == list.end()) {
        list.push_back(std::move(*argument));
      } else if (*same != *argument) {
        return fail(Code::Input, "{}: argument '{}' appears twice with different values",
                    place(file_, net_, i), base::printable(same->first));
      }
    }
    std::sort(list.begin(), list.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    return list;
  }

  Status add_operator(int i) {
    const wire::Operator& op = net_.op(i);
    OPLAT_TRY(list, arguments(i));
    ir::Node node;
    node.domain = kCaffe2Domain;
    node.op = op.type();
    for (const std::string& blob : op.input()) node.inputs.push_back(current_.at(blob));
    const bool known = add_query(node, list);

    ir::Key key;
    key.domain = node.domain;
    key.op = node.op;
    for (ir::NamedValue& argument : list) {
      if (fits_key(argument) && !is_inert_argument(argument.first))
        key.attributes.push_back(std::move(argument));
    }
    for (const ir::TensorId id : node.inputs) {
      const ir::TensorInfo& info = tensor(id);
      key.operands.emplace_back(ir::TensorEntry{info.dtype.value_or(ir::Dtype::Any), info.constant,
                                                info.shape, std::nullopt});
    }
    take_shape_operand(op, key);
    std::optional<ir::TensorEntry> result;
    if (known && is_caffe2_operator(key.op) && !lacks_shape_argument(key)) {
      auto status = complete_caffe2(key);
      if (!status) {
        return fail(Code::Input, "{}: operator {}, which writes '{}': {}", file_, i,
                    op.output_size() > 0 ? base::printable(op.output(0)) : "nothing",
                    status.error().message);
      }
      result = *key.result(0);
    }
    node.attributes = std::move(key.attributes);
    for (int o = 0; o < op.output_size(); ++o) {
      const ir::TensorId id = define(op.output(o));
      node.outputs.push_back(id);
      if (o == 0 && result) {
        tensor(id).dtype = result->dtype;
        tensor(id).shape = result->shape;
      } else if (o == 0) {
        guess_result(op, node, id);
      }
    }
    node.name = node.outputs.empty() ? fmt::format("op{}", i) : tensor(node.outputs.front()).name;
    if (node.outputs.empty()) {
      while (!names_.insert(node.name).second) node.name += '\'';
    }
    built_.graph.nodes.push_back(std::move(node));
    return {};
  }

  /// Whether every operand's shape and type is known, so that runtime_lut's question can be asked.
  bool add_query(const ir::Node& node, const std::vector<ir::NamedValue>& list) {
    std::optional<LutQuery>& query = built_.queries.emplace_back(std::in_place);
    query->op_type = node.op;
    for (const ir::NamedValue& argument : list) {
      if (!is_inert_argument(argument.first))
        query->op_args.push_back(caffe2_argument_text(argument));
    }
    for (const ir::TensorId id : node.inputs) {
      auto dims = known_dims(tensor(id).shape);
      const auto number = tensor(id).dtype ? caffe2_number(*tensor(id).dtype) : std::nullopt;
      if (!dims || !number) {
        query.reset();
        return false;
      }
      query->input_shapes.push_back(std::move(*dims));
      query->input_dtypes.push_back(*number);
    }
    return true;
  }

  /// Reshape may read the shape it makes from a constant.
  void take_shape_operand(const wire::Operator& op, ir::Key& key) const {
    if ((key.op != "Reshape" && key.op != "Int8Reshape") || op.input_size() != 2 ||
        key.attribute("shape") != nullptr)
      return;
    const auto fill = companions_.parameters.find(op.input(1));
    if (fill != companions_.parameters.end() && fill->second.values) {
      key.attributes.emplace_back("shape", ir::Value::ints(*fill->second.values));
    }
  }
  static bool lacks_shape_argument(const ir::Key& key) {
    return (key.op == "Reshape" || key.op == "Int8Reshape") && key.operands.size() == 2 &&
           key.attribute("shape") == nullptr;
  }

  /// What no inference tells: a fill's own shape, or what the drawing shows.
  void guess_result(const wire::Operator& op, const ir::Node& node, ir::TensorId id) {
    const std::string& blob = op.output(0);
    ir::TensorInfo& info = tensor(id);
    if (const auto fill = fills_.find(blob); op.input_size() == 0 && fill != fills_.end()) {
      info.dtype = fill->second.dtype;
      info.shape = ir::Shape::of(fill->second.dims);
      return;
    }
    const Dims* shown = drawing_holds_ && drawn_batch_ ? drawn(blob, written_.at(blob)) : nullptr;
    if (shown == nullptr || op.input_size() == 0) return;
    Dims dims = *shown;
    if (dims.empty() || dims.front() != *drawn_batch_) return;
    dims.front() = batch_;
    info.shape = ir::Shape::of(dims);
    info.dtype = op.type().starts_with("Int8") ? std::optional(ir::Dtype::U8)
                                               : tensor(node.inputs.front()).dtype;
  }

  Status add_outputs() {
    ir::Graph& graph = built_.graph;
    std::unordered_set<ir::TensorId> read;
    std::unordered_set<ir::TensorId> leaving;
    for (const ir::Node& node : graph.nodes) read.insert(node.inputs.begin(), node.inputs.end());
    for (const std::string& blob : net_.external_output()) {
      const auto at = current_.find(blob);
      if (at == current_.end()) {
        return fail(Code::Input, "{}: no operator writes the net's output '{}'", file_,
                    base::printable(blob));
      }
      read.insert(at->second);
      if (leaving.insert(at->second).second) graph.outputs.push_back(at->second);
    }
    for (ir::Node& node : graph.nodes) {
      // Masks, saved statistics, former shapes: nobody reads them, and a query says nothing of
      // them.
      while (node.outputs.size() > 1 && !read.contains(node.outputs.back()))
        node.outputs.pop_back();
      // What nobody reads stays in the workspace, where the caller finds it.
      if (!node.outputs.empty() && read.insert(node.outputs.front()).second)
        graph.outputs.push_back(node.outputs.front());
    }
    return {};
  }

  const std::string& file_;
  const wire::Net& net_;
  const Companions& companions_;
  const ShapeOptions& options_;
  Built built_;
  std::map<std::string, Parameter> fills_;  ///< by operators of the net itself
  std::unordered_map<std::string, ir::TensorId> current_;
  std::unordered_map<std::string, int> written_;  ///< how often each blob was written again
  std::unordered_set<std::string> names_;
  std::optional<std::int64_t> drawn_batch_;
  std::int64_t batch_ = 1;
  bool drawing_holds_ = true;
};

}  // namespace

Result<Built> build(const std::string& file, const wire::Net& net, const Companions& companions,
                    const ShapeOptions& options) {
  return Builder(file, net, companions, options).run();
}

}  // namespace oplat::formats::caffe2
