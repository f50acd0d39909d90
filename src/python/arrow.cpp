// SPDX-License-Identifier: Apache-2.0
/// A receiver may take a child out of its parent and release the parent first, so each schema and
/// each array owns what it points to by itself.
#include "python/arrow.hpp"

#include <new>
#include <string>
#include <vector>

namespace oplat::python {
namespace {

constexpr std::int64_t kNullable = 2;  // ARROW_FLAG_NULLABLE

const char* format_of(Column::Kind kind) {
  switch (kind) {
    case Column::Kind::Int64:
      return "l";
    case Column::Kind::Float64:
      return "g";
    case Column::Kind::Text:
      break;
  }
  return "U";
}

/// Behind a schema or an array: what keeps its pointers alive. `Node` is ArrowSchema or ArrowArray.
template <class Node>
struct Owned {
  std::shared_ptr<const Columns> columns;
  std::vector<const void*> buffers;
  std::vector<Node> children;
  std::vector<Node*> pointers;
};

template <class Node>
void release_node(Node* node) {
  auto* owned = static_cast<Owned<Node>*>(node->private_data);
  for (Node& child : owned->children) {
    if (child.release != nullptr) child.release(&child);
  }
  node->release = nullptr;
  delete owned;
}

/// Children without content; their addresses stay.
template <class Node>
Owned<Node>* make_owned(std::shared_ptr<const Columns> columns, std::size_t children) {
  auto owned = std::make_unique<Owned<Node>>();
  owned->columns = std::move(columns);
  owned->children.resize(children);
  for (Node& child : owned->children) owned->pointers.push_back(&child);
  return owned.release();
}

struct Stream {
  std::shared_ptr<const Columns> columns;
  bool done = false;
};

}  // namespace

void export_schema(std::shared_ptr<const Columns> columns, ArrowSchema* out) {
  const auto& all = columns->columns;
  auto* owned = make_owned<ArrowSchema>(columns, all.size());
  *out = {"+s",
          "",
          nullptr,
          0,
          static_cast<std::int64_t>(all.size()),
          owned->pointers.data(),
          nullptr,
          release_node<ArrowSchema>,
          owned};
  for (std::size_t i = 0; i < all.size(); ++i) {
    owned->children[i] = {format_of(all[i].kind()),
                          all[i].name().c_str(),
                          nullptr,
                          kNullable,
                          0,
                          nullptr,
                          nullptr,
                          release_node<ArrowSchema>,
                          make_owned<ArrowSchema>(columns, 0)};
  }
}

void export_array(std::shared_ptr<const Columns> columns, ArrowArray* out) {
  const auto& all = columns->columns;
  auto* owned = make_owned<ArrowArray>(columns, all.size());
  owned->buffers = {nullptr};  // no row is missing as a whole
  *out = {columns->length,
          0,
          0,
          1,
          static_cast<std::int64_t>(all.size()),
          owned->buffers.data(),
          owned->pointers.data(),
          nullptr,
          release_node<ArrowArray>,
          owned};
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto* of_column = make_owned<ArrowArray>(columns, 0);
    of_column->buffers = all[i].buffers();
    owned->children[i] = {all[i].size(),
                          all[i].nulls(),
                          0,
                          static_cast<std::int64_t>(of_column->buffers.size()),
                          0,
                          of_column->buffers.data(),
                          nullptr,
                          nullptr,
                          release_node<ArrowArray>,
                          of_column};
  }
}

void export_stream(std::shared_ptr<const Columns> columns, ArrowArrayStream* out) {
  out->get_schema = [](ArrowArrayStream* self, ArrowSchema* schema) {
    export_schema(static_cast<Stream*>(self->private_data)->columns, schema);
    return 0;
  };
  out->get_next = [](ArrowArrayStream* self, ArrowArray* array) {
    auto* stream = static_cast<Stream*>(self->private_data);
    if (stream->done) {
      *array = {};  // the end: an array that is released already
    } else {
      export_array(stream->columns, array);
      stream->done = true;
    }
    return 0;
  };
  out->get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
  out->release = [](ArrowArrayStream* self) {
    delete static_cast<Stream*>(self->private_data);
    self->release = nullptr;
  };
  out->private_data = new Stream{std::move(columns)};
}

}  // namespace oplat::python
