// SPDX-License-Identifier: Apache-2.0
/// What core code asks of Paddle's keys, and who answers.
#include "compat/paddleslim/domains.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "compat/paddleslim/aliases.hpp"
#include "compat/paddleslim/kernel.hpp"
#include "compat/paddleslim/key.hpp"
#include "compat/paddleslim/operators.hpp"
#include "compat/paddleslim/sizes.hpp"

namespace oplat::compat::paddleslim {
namespace {

/// Of strides and the like the system's texts say one number of two: [?,2] for [2,2].
ir::Value filled(const ir::Value& value) {
  const ir::List* list = value.list();
  if (list == nullptr) return value;
  const auto known =
      std::find_if(list->begin(), list->end(), [](const auto& one) { return !one.unknown(); });
  if (known == list->end()) return value;
  ir::List all = *list;
  for (ir::Value& one : all)
    if (one.unknown()) one = *known;
  return {std::move(all)};
}

class LiteDomain final : public ir::KeyDomain {
 public:
  std::string_view name() const override { return "paddle_lite"; }
  std::vector<ir::OperatorInfo> operators() const override { return lite_operators(); }
  bool has_aliases() const override { return true; }
  std::vector<ir::KeyAlias> aliases(const ir::Key& key) const override {
    return aliases_in_table(key);
  }
  std::optional<ir::Key> table_form(const ir::Key& key) const override {
    return paddleslim::table_form(key);
  }
  std::optional<ir::KernelWords> words(const ir::Key& key) const override {
    if (is_paddle_text_alone(key)) {
      const ir::Value* text = key.attribute("text");
      if (text == nullptr || text->text() == nullptr) return std::nullopt;
      const std::string_view whole = *text->text();
      return ir::KernelWords{base::printable(whole.substr(0, whole.find(' '))),
                             base::printable(whole, 200), "", ""};
    }
    ir::Key known = key;
    for (auto& [name, value] : known.attributes) value = filled(value);
    return ir::common_words(known);
  }
  std::optional<std::string> native_text(const ir::Key& key) const override {
    return paddle_text_of(key);
  }
  std::optional<std::string> wrong_sizes(const ir::Key& key) const override {
    return paddleslim::wrong_sizes(key);
  }
  Result<ir::Key> kernel_key(const ir::Graph& graph, const ir::Node& node) const override {
    return paddle_kernel_key(graph, node);
  }
};

/// The runtime names its kernels itself: only their work is to be known.
class RuntimeDomain final : public ir::KeyDomain {
 public:
  explicit RuntimeDomain(std::string_view name) : name_(name) {}
  std::string_view name() const override { return name_; }
  std::vector<ir::OperatorInfo> operators() const override { return runtime_operators(name_); }

 private:
  std::string_view name_;
};

}  // namespace

const ir::KeyDomain& lite_domain() {
  static const LiteDomain domain;
  return domain;
}

const ir::KeyDomain& runtime_domain() {
  static const RuntimeDomain domain("paddle");
  return domain;
}

const ir::KeyDomain& onednn_domain() {
  static const RuntimeDomain domain("paddle.onednn");
  return domain;
}

}  // namespace oplat::compat::paddleslim
