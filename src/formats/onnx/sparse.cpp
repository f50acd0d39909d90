// SPDX-License-Identifier: Apache-2.0
/// Sparse initialisers and constants. A runtime on CPU makes them dense when it loads the model and
/// computes with that, so that a plan knows nothing but dense constants. What they announce is
/// checked first: a few bytes can ask for any amount.
#include "base/text.hpp"
#include "formats/onnx/model_impl.hpp"
#include "formats/onnx/types.hpp"

namespace oplat::formats::onnx {
namespace {

constexpr std::int64_t kMaxDenseBytes = std::int64_t{1} << 31;  // protobuf's limit of a message
constexpr std::int64_t kWrittenOut = 64;  // elements of small constants, whose values decide

/// Dimensions of a tensor without its data, for counting.
wire::Tensor dense_header(const wire::SparseTensor& sparse) {
  wire::Tensor dense;
  dense.set_name(sparse.values().name());
  dense.set_data_type(sparse.values().data_type());
  *dense.mutable_dims() = sparse.dims();
  return dense;
}

/// Calls visit(i, flat position) for each value; false if the indices are not as many as the values
/// say or lie outside. Index by index: there may be hundreds of millions.
template <class Visit>
bool each_position(const wire::SparseTensor& sparse, const Visit& visit) {
  const wire::Tensor& indices = sparse.indices();
  const auto values = element_count(sparse.values());
  const auto count = element_count(indices);
  const auto total = element_count(dense_header(sparse));
  if (!values || !count || !total || sparse.values().dims_size() != 1) return false;
  const int rank = sparse.dims_size();
  const bool flat = indices.dims_size() == 1 && *count == *values;
  const bool coordinates =
      indices.dims_size() == 2 && indices.dims(0) == *values && indices.dims(1) == rank;
  if (!flat && !coordinates) return false;
  const int steps = flat ? 1 : rank;
  for (std::int64_t v = 0; v < *values; ++v) {
    std::int64_t position = 0;
    for (int d = 0; d < steps; ++d) {
      const auto index = element_at(indices, v * steps + d);
      const std::int64_t size = flat ? *total : sparse.dims(d);
      if (!index || index->integer() == nullptr) return false;
      if (*index->integer() < 0 || *index->integer() >= size) return false;
      position = position * size + *index->integer();
    }
    visit(v, flat ? position % *total : position);
  }
  return true;
}

/// The bytes of value i, which is stored raw or in the typed field; empty if it is not there.
std::string element_bytes(const wire::Tensor& values, std::int64_t i, std::size_t width) {
  if (values.has_raw_data()) {
    const auto at = static_cast<std::size_t>(i) * width;
    return at + width <= values.raw_data().size() ? values.raw_data().substr(at, width)
                                                  : std::string();
  }
  const auto element = element_at(values, i);
  if (!element) return {};
  if (const double* real = element->real(); real != nullptr) {
    const auto single = static_cast<float>(*real);
    return width == sizeof single ? std::string(reinterpret_cast<const char*>(&single), width)
                                  : std::string(reinterpret_cast<const char*>(real), width);
  }
  const std::int64_t integer = *element->integer();
  return {reinterpret_cast<const char*>(&integer), width};
}

Status check_one(const wire::SparseTensor& sparse, const std::string& file) {
  const auto wrong = [&](std::string_view what) {
    return fail(Code::Input, "{}: sparse tensor '{}' of [{}]: {}", file,
                base::printable(sparse.values().name()), fmt::join(sparse.dims(), ","), what);
  };
  if (!dtype_of(sparse.values().data_type())) return wrong("its values have no known type");
  const auto bytes = dense_bytes(dense_header(sparse));
  const auto total = element_count(dense_header(sparse));
  if (!total) return wrong("its dimensions have no size");
  if (bytes && *bytes > kMaxDenseBytes) {
    return wrong(
        fmt::format("its dense form, which the runtime computes with, takes {} MiB; the "
                    "limit is {}",
                    *bytes >> 20, kMaxDenseBytes >> 20));
  }
  if (!bytes && *total > kMaxDenseBytes) return wrong("its dense form is too large");
  if (!each_position(sparse, [](std::int64_t, std::int64_t) {})) {
    return wrong(fmt::format(
        "its {} values and its indices of [{}] do not fit each other or lie "
        "outside its dimensions",
        element_count(sparse.values()).value_or(0), fmt::join(sparse.indices().dims(), ",")));
  }
  return {};
}

}  // namespace

void each_sparse(const wire::Graph& graph,
                 const std::function<void(const wire::SparseTensor&)>& visit) {
  for (const wire::SparseTensor& sparse : graph.sparse_initializer()) visit(sparse);
  for (const wire::Node& node : graph.node()) {
    for (const wire::Attribute& attribute : node.attribute()) {
      if (attribute.has_sparse_tensor()) visit(attribute.sparse_tensor());
      if (attribute.has_g()) each_sparse(attribute.g(), visit);
      for (const wire::Graph& body : attribute.graphs()) each_sparse(body, visit);
    }
  }
}

Status check_sparse(const wire::Model& model, const std::string& file) {
  Status status;
  each_sparse(model.graph(), [&](const wire::SparseTensor& sparse) {
    if (status) status = check_one(sparse, file);
  });
  return status;
}

wire::Tensor dense_form(const wire::SparseTensor& sparse) {
  wire::Tensor dense = dense_header(sparse);
  const auto total = element_count(dense);
  const auto dtype = dtype_of(dense.data_type());
  if (!total || *total > kWrittenOut || !dtype) return dense;
  const auto bits = ir::bits(*dtype);
  if (!bits || *bits % 8 != 0) return dense;
  const auto width = static_cast<std::size_t>(*bits / 8);
  std::string raw(width * static_cast<std::size_t>(*total), '\0');
  bool known = true;
  const bool fits = each_position(sparse, [&](std::int64_t i, std::int64_t position) {
    const std::string element = element_bytes(sparse.values(), i, width);
    known = known && element.size() == width;
    if (known) raw.replace(static_cast<std::size_t>(position) * width, width, element);
  });
  if (!fits || !known) return dense;
  dense.set_raw_data(std::move(raw));
  return dense;
}

}  // namespace oplat::formats::onnx
