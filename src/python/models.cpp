// SPDX-License-Identifier: Apache-2.0
#include "python/models.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "base/text.hpp"
#include "python/errors.hpp"

namespace oplat::python {

namespace nb = nanobind;

namespace {

constexpr const char* kModelName = "model.onnx";
constexpr const char* kGraphMethod = "_oplat_model";

/// Not of any buffer: an array of numpy may be a list of paths.
bool is_content(nb::handle model) {
  return PyBytes_Check(model.ptr()) || PyByteArray_Check(model.ptr()) ||
         PyMemoryView_Check(model.ptr());
}

ModelFile model_of_bytes(const nb::bytes& bytes) {
  auto folder = value_of(base::TemporaryFolder::create("oplat-model"));
  const std::string path = (folder.path() / kModelName).string();
  check(base::write_file(path, std::string_view(bytes.c_str(), bytes.size())));
  return {path, kModelName, std::move(folder)};
}

/// What oplat.torch.Graph and the like say of themselves.
ModelFile model_of_graph(nb::handle graph) {
  const auto [path, name, warnings] =
      nb::cast<std::tuple<std::string, std::string, std::vector<std::string>>>(
          graph.attr(kGraphMethod)());
  return {path, name, std::nullopt, warnings, nb::borrow(graph)};
}

}  // namespace

std::string found_text(nb::handle value) {
  constexpr std::size_t kMaxRepr = 80;
  const nb::object text = nb::steal(PyObject_Repr(value.ptr()));
  if (!text.is_valid()) PyErr_Clear();
  return fmt::format(
      "{} {}", Py_TYPE(value.ptr())->tp_name,
      text.is_valid() ? base::printable(nb::cast<std::string>(nb::str(text)), kMaxRepr) : "");
}

ModelFile model_file(nb::handle model) {
  if (PyUnicode_Check(model.ptr())) {
    Path path;
    if (!nb::try_cast(model, path))
      throw nb::value_error("the path of a model has a character that no file's name has");
    return {path.text, path.text, std::nullopt};
  }
  if (is_content(model)) {
    const nb::object bytes = nb::steal(PyBytes_FromObject(model.ptr()));
    if (!bytes.is_valid()) throw nb::python_error();
    return model_of_bytes(nb::borrow<nb::bytes>(bytes));
  }
  if (nb::hasattr(model, kGraphMethod)) return model_of_graph(model);
  if (nb::hasattr(model, "SerializeToString")) {
    const nb::object content = model.attr("SerializeToString")();
    if (!PyBytes_Check(content.ptr()))
      throw nb::type_error(fmt::format("SerializeToString() of a model gave {}, not bytes",
                                       Py_TYPE(content.ptr())->tp_name)
                               .c_str());
    return model_of_bytes(nb::borrow<nb::bytes>(content));
  }
  Path path;
  if (!nb::try_cast(model, path))
    throw nb::type_error(
        "a model is the path of a file, the bytes of an ONNX model, an object with "
        "SerializeToString(), or what oplat.torch.export() made of a torch.nn.Module");
  return {path.text, path.text, std::nullopt};
}

bool is_one_model(nb::handle models) {
  if (PyList_Check(models.ptr()) || PyTuple_Check(models.ptr())) return false;
  Path path;
  return PyUnicode_Check(models.ptr()) || is_content(models) ||
         nb::hasattr(models, "SerializeToString") || nb::try_cast(models, path);
}

std::vector<ModelFile> model_files(nb::handle models) {
  std::vector<ModelFile> files;
  if (is_one_model(models)) {
    files.push_back(model_file(models));
    return files;
  }
  for (const nb::handle model : nb::iter(models)) files.push_back(model_file(model));
  return files;
}

std::vector<std::string> paths_of(const std::vector<ModelFile>& files) {
  std::vector<std::string> paths;
  for (const ModelFile& file : files) paths.push_back(file.path);
  return paths;
}

void check_given(const std::vector<ModelFile>& files) {
  if (files.empty()) raise({Code::Usage, "models: the list is empty; give one or more"});
}

void warn_of_models(const std::vector<ModelFile>& files, app::Events& events) {
  for (const ModelFile& file : files)
    for (const std::string& text : file.warnings) events.warn(text);
}

}  // namespace oplat::python
