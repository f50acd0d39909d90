// SPDX-License-Identifier: Apache-2.0
#include "python/mmt.hpp"

#include <nanobind/stl/string.h>

#include "app/mmt.hpp"
#include "python/errors.hpp"
#include "python/models.hpp"

namespace oplat::python {
namespace {

namespace nb = nanobind;
using nb::literals::operator""_a;

std::string space(const Path& path) { return value_of(app::expand_mmt_space(path.text)).json; }
std::string read(const Path& path) { return value_of(app::read_mmt_operators(path.text)); }
void write(const Path& path, const std::string& json) {
  check(app::write_mmt_operators(path.text, json));
}

}  // namespace

void bind_mmt(nb::module_& module) {
  module.def("mmt_space", space, "path"_a, "The operators of an ops.yaml, as JSON (oplat.mmt).");
  module.def("mmt_read", read, "path"_a, "The operators of a meta.pkl, as JSON (oplat.mmt).");
  module.def("mmt_write", write, "path"_a, "json"_a, "A meta.pkl of operators (oplat.mmt).");
}

}  // namespace oplat::python
