// SPDX-License-Identifier: Apache-2.0
#include "python/models.hpp"

#include "python/errors.hpp"

namespace oplat::python {

namespace nb = nanobind;

namespace {

constexpr const char* kModelName = "model.onnx";

ModelFile model_of_bytes(const nb::bytes& bytes) {
  auto folder = value_of(base::TemporaryFolder::create("oplat-model"));
  const std::string path = (folder.path() / kModelName).string();
  check(base::write_file(path, std::string_view(bytes.c_str(), bytes.size())));
  return {path, kModelName, std::move(folder)};
}

}  // namespace

ModelFile model_file(nb::handle model) {
  if (PyUnicode_Check(model.ptr())) {
    std::string path = nb::cast<Path>(model).text;
    return {path, path, std::nullopt};
  }
  if (PyBytes_Check(model.ptr())) return model_of_bytes(nb::borrow<nb::bytes>(model));
  if (nb::hasattr(model, "SerializeToString"))
    return model_of_bytes(nb::cast<nb::bytes>(model.attr("SerializeToString")()));
  Path path;
  if (!nb::try_cast(model, path))
    throw nb::type_error(
        "a model is the path of a file, the bytes of an ONNX model, or an object with "
        "SerializeToString()");
  return {path.text, path.text, std::nullopt};
}

std::vector<ModelFile> model_files(nb::handle models) {
  std::vector<ModelFile> files;
  const bool several = PyList_Check(models.ptr()) || PyTuple_Check(models.ptr());
  if (!several) {
    Path path;
    const bool single = PyBytes_Check(models.ptr()) || nb::hasattr(models, "SerializeToString") ||
                        nb::try_cast(models, path);
    if (single) {
      files.push_back(model_file(models));
      return files;
    }
  }
  for (const nb::handle model : nb::iter(models)) files.push_back(model_file(model));
  return files;
}

}  // namespace oplat::python
