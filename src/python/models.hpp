// SPDX-License-Identifier: Apache-2.0
/// A model as Python gives it: the path of a file, the bytes of an ONNX model, an object that gives
/// them, or an oplat.torch.Graph.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <vector>

#include "app/events.hpp"
#include "base/files.hpp"

namespace oplat::python {

/// A path, or anything that has one (`os.PathLike`), as the system has it: bytes that Python keeps
/// in surrogates are themselves.
struct Path {
  std::string text;
};

/// A model's file. Bytes are in a temporary one, which is removed with this.
struct ModelFile {
  std::string path;
  std::string name;  ///< as results name it
  std::optional<base::TemporaryFolder> folder;
  std::vector<std::string> warnings = {};  ///< of whoever made it
  nanobind::object owner = {};             ///< who removes the file at its own end
};

/// A value in a message about it: its type, and the beginning of its repr().
std::string found_text(nanobind::handle value);

/// `bytes` and the like, an object with SerializeToString() (`onnx.ModelProto`), an
/// oplat.torch.Graph, else a path. Throws TypeError for anything else, and WriteError if no
/// temporary file can be made.
ModelFile model_file(nanobind::handle model);
/// Whether it is a model, not a list of them: a path's text could be taken for a list of letters.
bool is_one_model(nanobind::handle models);
/// The files of a list of models, or of a single one.
std::vector<ModelFile> model_files(nanobind::handle models);
std::vector<std::string> paths_of(const std::vector<ModelFile>& files);
/// Throws UsageError if there is none.
void check_given(const std::vector<ModelFile>& files);
/// Says what the makers of models warn of.
void warn_of_models(const std::vector<ModelFile>& files, app::Events& events);

}  // namespace oplat::python

namespace nanobind::detail {

template <>
struct type_caster<oplat::python::Path> {
  NB_TYPE_CASTER(oplat::python::Path, const_name("str | os.PathLike[str]"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    PyObject* path = PyOS_FSPath(source.ptr());
    if (path == nullptr) return PyErr_Clear(), false;
    const object kept = steal(path);
    if (!PyUnicode_Check(path)) return false;
    PyObject* bytes = PyUnicode_EncodeFSDefault(path);
    if (bytes == nullptr) return PyErr_Clear(), false;
    const object kept_bytes = steal(bytes);
    value.text.assign(PyBytes_AS_STRING(bytes), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes)));
    // The system would read up to there, and find another file.
    return value.text.find('\0') == std::string::npos;
  }
  static handle from_cpp(const oplat::python::Path& path, rv_policy, cleanup_list*) noexcept {
    return PyUnicode_DecodeFSDefaultAndSize(path.text.data(),
                                            static_cast<Py_ssize_t>(path.text.size()));
  }
};

}  // namespace nanobind::detail
