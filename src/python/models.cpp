// SPDX-License-Identifier: Apache-2.0
#include "python/models.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "python/errors.hpp"

namespace oplat::python {

namespace nb = nanobind;

namespace {

constexpr const char* kModelName = "model.onnx";
constexpr const char* kGraphMethod = "_oplat_model";

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

ModelFile model_file(nb::handle model) {
  if (PyUnicode_Check(model.ptr())) {
    Path path;
    if (!nb::try_cast(model, path))
      throw nb::value_error("the path of a model has a character that no file's name has");
    return {path.text, path.text, std::nullopt};
  }
  if (PyBytes_Check(model.ptr())) return model_of_bytes(nb::borrow<nb::bytes>(model));
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
  return PyUnicode_Check(models.ptr()) || PyBytes_Check(models.ptr()) ||
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

void warn_of_models(const std::vector<ModelFile>& files, app::Events& events) {
  for (const ModelFile& file : files)
    for (const std::string& text : file.warnings) events.warn(text);
}

}  // namespace oplat::python
