// SPDX-License-Identifier: Apache-2.0
/// A kernel space from its file.
#include "search/kernel_space.hpp"

#include <filesystem>
#include <optional>
#include <unordered_set>

#include "base/files.hpp"
#include "base/yaml_fields.hpp"
#include "ir/key.hpp"

namespace oplat::search {
namespace {

using base::Fields;
using base::Yaml;

constexpr std::string_view kSpaceFormat = "oplat.kernel-space/1";
constexpr std::size_t kMaxKernels = 10'000;
constexpr std::size_t kMaxNetworks = 2000;
constexpr std::int64_t kMaxCount = 1'000'000;

class SpaceReader {
 public:
  explicit SpaceReader(std::string_view file) : file_(file) {}

  Result<KernelSpace> read(const Yaml& root) {
    OPLAT_TRY(top, Fields::of(file_, root, "a kernel space",
                              {"format", "name", "runtime", "description", "classes", "networks"}));
    OPLAT_TRY(format, top.need("format"));
    if (format->text() == nullptr || *format->text() != kSpaceFormat)
      return fail(Code::Input, "{}:{}: 'format' is {}; expected {}", file_, format->line,
                  format->described(), kSpaceFormat);
    OPLAT_TRY(title, top.need("name"));
    OPLAT_TRY(name, base::name_of(file_, *title, "'name' of the space"));
    space_.name = std::move(name);
    OPLAT_TRY(runtime, top.need("runtime"));
    OPLAT_TRY(runtime_name, base::name_of(file_, *runtime, "'runtime' of the space"));
    space_.runtime = std::move(runtime_name);
    if (const Yaml* text = top.find("description"); text != nullptr && text->text() != nullptr)
      space_.description = *text->text();
    OPLAT_TRY(classes, top.need("classes"));
    OPLAT_CHECK(read_classes(*classes));
    if (space_.kernels.empty())
      return fail(Code::Input, "{}:{}: the space holds no kernel", file_, classes->line);
    if (const Yaml* networks = top.find("networks")) OPLAT_CHECK(read_networks(*networks));
    return std::move(space_);
  }

 private:
  Status read_classes(const Yaml& node) {
    if (node.list() == nullptr)
      return fail(Code::Input, "{}:{}: 'classes' is {}; expected a list", file_, node.line,
                  node.described());
    for (const Yaml& one : *node.list()) {
      OPLAT_TRY(fields, Fields::of(file_, one, "a class", {"name", "kernels"}));
      OPLAT_TRY(name, fields.need("name"));
      if (name->text() == nullptr || name->text()->empty())
        return fail(Code::Input, "{}:{}: 'name' of a class is {}; expected a text", file_,
                    name->line, name->described());
      space_.kinds.push_back(*name->text());
      OPLAT_TRY(kernels, fields.need("kernels"));
      if (kernels->list() == nullptr)
        return fail(Code::Input, "{}:{}: 'kernels' is {}; expected a list of keys", file_,
                    kernels->line, kernels->described());
      for (const Yaml& kernel : *kernels->list()) OPLAT_CHECK(read_kernel(kernel));
    }
    return {};
  }

  Status read_kernel(const Yaml& node) {
    const Yaml* key = &node;
    double count = 0;
    if (node.map() != nullptr) {
      OPLAT_TRY(fields, Fields::of(file_, node, "a kernel", {"key", "count"}));
      OPLAT_TRY(text, fields.need("key"));
      OPLAT_TRY(number, fields.number("count", {1, kMaxCount}, 1));
      key = text;
      count = static_cast<double>(number);
    }
    if (key->text() == nullptr)
      return fail(Code::Input, "{}:{}: a kernel is {}; expected a key", file_, key->line,
                  key->described());
    const auto parsed = ir::parse(*key->text());
    if (!parsed)
      return fail(Code::Input, "{}:{}: is not a key: {}", file_, key->line, parsed.error().message);
    if (ir::has_unknown(*parsed))
      return fail(Code::Input, "{}:{}: the key says '?' or '*', and such a kernel has no time",
                  file_, key->line);
    std::string text = ir::print(*parsed);
    if (!seen_.insert(text).second)
      return fail(Code::Input, "{}:{}: the space holds this kernel twice: {}", file_, key->line,
                  base::printable(text, 400));
    if (space_.kernels.size() == kMaxKernels)
      return fail(Code::Input, "{}:{}: the space holds more than {} kernels", file_, key->line,
                  kMaxKernels);
    space_.kernels.push_back({std::move(text), space_.kinds.size() - 1, count});
    return {};
  }

  Status read_networks(const Yaml& node) {
    if (node.list() == nullptr)
      return fail(Code::Input, "{}:{}: 'networks' is {}; expected a list", file_, node.line,
                  node.described());
    for (const Yaml& one : *node.list()) {
      if (space_.networks.size() == kMaxNetworks)
        return fail(Code::Input, "{}:{}: the space holds more than {} networks", file_, one.line,
                    kMaxNetworks);
      OPLAT_TRY(fields,
                Fields::of(file_, one, "a network", {"name", "family", "precision", "kernels"}));
      SpaceNetwork network;
      OPLAT_TRY(name, fields.need("name"));
      OPLAT_TRY(name_text, base::name_of(file_, *name, "'name' of a network"));
      network.name = network.family = name_text;
      if (const Yaml* family = fields.find("family")) {
        OPLAT_TRY(text, base::name_of(file_, *family, "'family' of a network"));
        network.family = std::move(text);
      }
      if (const Yaml* precision = fields.find("precision")) {
        OPLAT_TRY(text, base::name_of(file_, *precision, "'precision' of a network"));
        network.precision = std::move(text);
      }
      OPLAT_TRY(kernels, fields.need("kernels"));
      OPLAT_CHECK(read_uses(*kernels, network));
      space_.networks.push_back(std::move(network));
    }
    return {};
  }

  /// "0 1*3 17": positions, and executions where there are several.
  Status read_uses(const Yaml& node, SpaceNetwork& network) {
    const auto refuse = [&](std::string_view found) {
      return fail(Code::Input,
                  "{}:{}: 'kernels' of network {} holds '{}'; expected numbers from 0 to {}, each "
                  "with *COUNT where it is executed several times",
                  file_, node.line, network.name, base::printable(found, 60),
                  space_.kernels.size() - 1);
    };
    if (node.text() == nullptr) return refuse(node.described());
    for (const std::string& word : base::split(*node.text(), ' ')) {
      if (word.empty()) continue;
      const std::size_t star = word.find('*');
      const auto position = base::parse_int(word.substr(0, star));
      const auto count = star == std::string::npos ? std::optional<std::int64_t>(1)
                                                   : base::parse_int(word.substr(star + 1));
      if (!position || *position < 0 ||
          *position >= static_cast<std::int64_t>(space_.kernels.size()) || !count || *count < 1 ||
          *count > kMaxCount)
        return refuse(word);
      const auto at = static_cast<std::size_t>(*position);
      network.kernels.emplace_back(at, static_cast<double>(*count));
      space_.kernels[at].count += static_cast<double>(*count);
    }
    if (network.kernels.empty()) return refuse("");
    return {};
  }

  std::string file_;
  KernelSpace space_;
  std::unordered_set<std::string> seen_;
};

}  // namespace

Result<KernelSpace> read_kernel_space(std::string_view file, std::string_view text) {
  OPLAT_TRY(root, base::parse_yaml(file, text));
  OPLAT_TRY(space, SpaceReader(file).read(root));
  for (SpaceKernel& kernel : space.kernels) {
    if (kernel.count == 0) kernel.count = 1;
  }
  return space;
}

Result<KernelSpace> find_kernel_space(const std::string& name_or_file) {
  std::vector<std::string> names;
  for (const BuiltInSpace& space : built_in_spaces()) {
    if (space.name == name_or_file) return read_kernel_space(space.name, space.text);
    names.emplace_back(space.name);
  }
  std::error_code error;
  if (!std::filesystem::exists(name_or_file, error))
    return fail(Code::Input,
                "{}: there is no such file, and no space of that name; the spaces of oplat are {}",
                base::printable(name_or_file, 400), base::join(names, ", "));
  OPLAT_TRY(text, base::read_file(name_or_file, base::kMaxYamlBytes));
  return read_kernel_space(name_or_file, text);
}

}  // namespace oplat::search
