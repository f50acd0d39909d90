// SPDX-License-Identifier: Apache-2.0
/// The structs of the Arrow C data and stream interfaces, as arrow.apache.org/docs/format defines
/// them, and columns as such. The receiver calls `release` of what it got; until then the columns
/// are kept.
#pragma once

#include <cstdint>
#include <memory>

#include "python/columns.hpp"

extern "C" {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

}  // extern "C"

namespace oplat::python {

/// A struct type with a field for each column.
void export_schema(std::shared_ptr<const Columns> columns, ArrowSchema* out);
/// One struct array of all rows.
void export_array(std::shared_ptr<const Columns> columns, ArrowArray* out);
/// A stream of that one array.
void export_stream(std::shared_ptr<const Columns> columns, ArrowArrayStream* out);

}  // namespace oplat::python
