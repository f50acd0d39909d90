// SPDX-License-Identifier: Apache-2.0
/// The search for the library.
#include "runtimes/onnxruntime/library.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "runtimes/onnxruntime/onnxruntime.hpp"

namespace oplat::runtimes::onnxruntime {
namespace {

namespace fs = std::filesystem;

/// The library of the wheel in these folders of packages.
std::optional<fs::path> in_packages(const std::vector<fs::path>& packages) {
  std::vector<fs::path> found;
  for (const fs::path& folder : packages) {
    std::error_code error;
    for (const auto& file : fs::directory_iterator(folder / "onnxruntime/capi", error)) {
      if (file.path().filename().string().starts_with("libonnxruntime.so"))
        found.push_back(file.path());
    }
  }
  if (found.empty()) return std::nullopt;
  return *std::max_element(found.begin(), found.end());
}

/// The library of the wheel in a virtual environment.
std::optional<fs::path> in_environment(const fs::path& root) {
  std::vector<fs::path> packages;
  std::error_code error;
  for (const auto& python : fs::directory_iterator(root / "lib", error))
    packages.push_back(python.path() / "site-packages");
  return in_packages(packages);
}

/// The folder of packages that oplat's own wheel is in: PACKAGES/oplat/bin/oplat.
std::optional<fs::path> own_packages(const fs::path& executable) {
  const fs::path package = executable.parent_path().parent_path();
  std::error_code error;
  const bool is_package =
      package.filename() == "oplat" && fs::exists(package / "_program.py", error);
  return is_package ? std::optional(package.parent_path()) : std::nullopt;
}

}  // namespace

Result<fs::path> find_library() {
  if (const char* named = std::getenv("OPLAT_ONNXRUNTIME"); named != nullptr && *named != '\0') {
    std::error_code error;
    if (fs::is_regular_file(named, error)) return fs::path(named);
    return fail(Code::Runtime, "onnxruntime: $OPLAT_ONNXRUNTIME names '{}', which is not a file",
                named);
  }
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (const auto packages = own_packages(executable)) {
    if (auto found = in_packages({*packages})) return *found;
  }
  std::vector<fs::path> roots;
  if (const char* environment = std::getenv("VIRTUAL_ENV");
      environment != nullptr && *environment != '\0')
    roots.emplace_back(environment);
  for (fs::path folder = executable.parent_path(); folder.has_relative_path();
       folder = folder.parent_path())
    roots.push_back(folder / ".venv");
  roots.push_back(fs::current_path(error) / ".venv");
  for (const fs::path& root : roots) {
    if (auto found = in_environment(root)) return *found;
  }
  for (const char* system : {"/usr/lib/libonnxruntime.so", "/usr/local/lib/libonnxruntime.so",
                             "/usr/lib/x86_64-linux-gnu/libonnxruntime.so",
                             "/usr/lib/aarch64-linux-gnu/libonnxruntime.so"}) {
    if (fs::exists(system, error)) return fs::path(system);
  }
  return fail(Code::Runtime,
              "onnxruntime: libonnxruntime.so not found in a virtual environment or on the system; "
              "install it with '{}' "
              "or name the file in $OPLAT_ONNXRUNTIME",
              kOnnxruntimeInstall);
}

}  // namespace oplat::runtimes::onnxruntime
