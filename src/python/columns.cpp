// SPDX-License-Identifier: Apache-2.0
#include "python/columns.hpp"

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "python/arrow.hpp"
#include "python/documents.hpp"

namespace oplat::python {

namespace nb = nanobind;
using namespace nb::literals;

void Column::add_validity(bool valid) {
  if (size_ % 8 == 0) valid_.push_back(0);
  if (valid) valid_.back() = static_cast<std::uint8_t>(valid_.back() | 1U << (size_ % 8));
  if (!valid) ++nulls_;
  ++size_;
}

void Column::add(std::int64_t value) {
  ints_.push_back(value);
  add_validity(true);
}

void Column::add(const std::optional<double>& value) {
  doubles_.push_back(value.value_or(std::numeric_limits<double>::quiet_NaN()));
  add_validity(value.has_value());
}

void Column::add(const std::optional<std::string_view>& value) {
  // A file's texts may be any bytes; Arrow and Python want UTF-8.
  if (value) bytes_ += base::printable(*value, std::string::npos);
  offsets_.push_back(static_cast<std::int64_t>(bytes_.size()));
  add_validity(value.has_value());
}

std::string_view Column::text(std::int64_t at) const {
  const auto begin = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(at)]);
  const auto end = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(at) + 1]);
  return std::string_view(bytes_).substr(begin, end - begin);
}

const void* Column::values() const {
  return kind_ == Kind::Int64 ? static_cast<const void*>(ints_.data()) : doubles_.data();
}

std::vector<const void*> Column::buffers() const {
  const void* valid = nulls_ > 0 ? valid_.data() : nullptr;
  if (kind_ == Kind::Text) return {valid, offsets_.data(), bytes_.data()};
  return {valid, values()};
}

namespace {

using Shared = std::shared_ptr<const Columns>;

/// A read-only array of one column of numbers, without a copy.
template <class T>
nb::object number_array(const Shared& data, const Column& column) {
  const nb::capsule owner(new Shared(data),
                          [](void* kept) noexcept { delete static_cast<Shared*>(kept); });
  // An empty vector has no buffer, and numpy takes none.
  static const T kNothing{};
  const void* values = column.size() > 0 ? column.values() : &kNothing;
  return nb::cast(nb::ndarray<nb::numpy, const T, nb::ndim<1>>(
      static_cast<const T*>(values), {static_cast<std::size_t>(column.size())}, owner));
}

/// An array of str and None.
nb::object text_array(const Column& column) {
  nb::list texts;
  for (std::int64_t i = 0; i < column.size(); ++i) {
    const std::string_view text = column.text(i);
    if (column.is_valid(i))
      texts.append(nb::str(text.data(), text.size()));
    else
      texts.append(nb::none());
  }
  return nb::module_::import_("numpy").attr("array")(texts, "dtype"_a = "object");
}

nb::object array_of(const Rows& rows, const Column& column) {
  switch (column.kind()) {
    case Column::Kind::Int64:
      return number_array<std::int64_t>(rows.data, column);
    case Column::Kind::Float64:
      return number_array<double>(rows.data, column);
    case Column::Kind::Text:
      break;
  }
  return text_array(column);
}

nb::object array_named(const Rows& rows, const std::string& name) {
  for (const Column& column : rows.data->columns) {
    if (column.name() == name) return array_of(rows, column);
  }
  throw nb::key_error(name.c_str());
}

std::vector<std::string> names_of(const Rows& rows) {
  std::vector<std::string> names;
  for (const Column& column : rows.data->columns) names.push_back(column.name());
  return names;
}

/// A capsule of one of the Arrow structs, which releases what nobody took.
template <class T>
nb::object arrow_capsule(std::unique_ptr<T> value, const char* name) {
  PyObject* capsule = PyCapsule_New(value.get(), name, [](PyObject* self) {
    auto* kept = static_cast<T*>(PyCapsule_GetPointer(self, PyCapsule_GetName(self)));
    if (kept->release != nullptr) kept->release(kept);
    delete kept;
  });
  if (capsule == nullptr) {
    value->release(value.get());
    throw nb::python_error();
  }
  static_cast<void>(value.release());
  return nb::steal(capsule);
}

nb::object schema_capsule(const Rows& rows) {
  auto schema = std::make_unique<ArrowSchema>();
  export_schema(rows.data, schema.get());
  return arrow_capsule(std::move(schema), "arrow_schema");
}

nb::object array_capsule(const Rows& rows) {
  auto array = std::make_unique<ArrowArray>();
  export_array(rows.data, array.get());
  return arrow_capsule(std::move(array), "arrow_array");
}

nb::object stream_capsule(const Rows& rows) {
  auto stream = std::make_unique<ArrowArrayStream>();
  export_stream(rows.data, stream.get());
  return arrow_capsule(std::move(stream), "arrow_array_stream");
}

}  // namespace

void bind_columns(nb::module_& module) {
  nb::class_<Rows> bound(module, "Rows",
                         "Columns of equal length: numpy arrays by name, and Arrow data.\n\n"
                         "`pandas.DataFrame(rows.to_numpy())`, `polars.DataFrame(rows)` and\n"
                         "`pyarrow.table(rows)` make a frame; the last two copy nothing.");
  def_result(bound);
  bound.def("__len__", [](const Rows& rows) { return rows.data->length; })
      .def_prop_ro("columns", names_of, "Names of the columns, in order.")
      .def("keys", names_of, "As `columns`: Rows can be used as a mapping.")
      .def(
          "__iter__", [](const Rows& rows) { return nb::iter(nb::cast(names_of(rows))); },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[str]"))
      .def("__getitem__", array_named, "name"_a,
           nb::sig("def __getitem__(self, name: str) -> numpy.typing.NDArray[typing.Any]"),
           "The column as an array: numbers without a copy and read-only, texts as objects.")
      .def(
          "to_numpy",
          [](const Rows& rows) {
            nb::dict all;
            for (const Column& column : rows.data->columns)
              all[column.name().c_str()] = array_of(rows, column);
            return all;
          },
          nb::sig("def to_numpy(self) -> dict[str, numpy.typing.NDArray[typing.Any]]"),
          "All columns by name.")
      .def(
          "__array__",
          [](const Rows&, const nb::args&, const nb::kwargs&) -> nb::object {
            throw nb::type_error(
                "Rows are columns of several types, not one array: take one of them, such as "
                "rows['median_ms'], or to_numpy()");
          },
          nb::sig("def __array__(self, *args: object, **named: object) -> typing.NoReturn"),
          "A TypeError: pandas would make a frame of the columns' names.")
      .def("__arrow_c_schema__", schema_capsule, nb::sig("def __arrow_c_schema__(self) -> object"))
      .def(
          "__arrow_c_array__",
          [](const Rows& rows, const nb::object&) {
            return nb::make_tuple(schema_capsule(rows), array_capsule(rows));
          },
          "requested_schema"_a = nb::none(),
          nb::sig("def __arrow_c_array__(self, requested_schema: object | None = None) -> "
                  "tuple[object, object]"))
      .def(
          "__arrow_c_stream__",
          [](const Rows& rows, const nb::object&) { return stream_capsule(rows); },
          "requested_schema"_a = nb::none(),
          nb::sig("def __arrow_c_stream__(self, requested_schema: object | None = None) -> object"))
      .def("__repr__", [](const Rows& rows) {
        return fmt::format("<oplat.Rows: {} rows of {}>", rows.data->length,
                           fmt::join(names_of(rows), ", "));
      });
}

}  // namespace oplat::python
