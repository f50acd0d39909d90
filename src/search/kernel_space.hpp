// SPDX-License-Identifier: Apache-2.0
/// KernelSpace: which kernels networks consist of, and how often; what a device is profiled by if
/// nobody knows yet which models it will be asked about (docs/guide/spaces.md).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace oplat::search {

struct SpaceKernel {
  std::string key;
  std::size_t kind = 0;  ///< KernelSpace::kinds
  double count = 0;      ///< executions by all networks of the space, or as the file says
};

struct SpaceNetwork {
  std::string name;
  std::string family;  ///< networks of one family have much in common
  std::string precision;
  /// Position among the space's kernels, executions.
  std::vector<std::pair<std::size_t, double>> kernels;
};

struct KernelSpace {
  std::string name;
  std::string runtime;
  std::string description;
  std::vector<std::string> kinds;  ///< readable names of groups of kernels
  std::vector<SpaceKernel> kernels;
  std::vector<SpaceNetwork> networks;
};

/// Of a YAML text; `file` names it in messages. Code::Input with file, line and what is wrong: a
/// text that is not a key, a kernel twice, a network of kernels that are not there.
Result<KernelSpace> read_kernel_space(std::string_view file, std::string_view text);

/// A space that is part of the program.
struct BuiltInSpace {
  std::string_view name;
  std::string_view text;
};
std::span<const BuiltInSpace> built_in_spaces();

/// A network that is profiled end to end with a built-in space, so that a table knows how kernels
/// add up.
struct SmallNetwork {
  std::string_view space;
  std::string_view name;   ///< of its file
  std::string_view bytes;  ///< an ONNX model (scripts/space_networks)
};
std::span<const SmallNetwork> small_networks();

/// The space of this name, or of this file. Code::Input if there is neither, with the names that
/// there are.
Result<KernelSpace> find_kernel_space(const std::string& name_or_file);

}  // namespace oplat::search
