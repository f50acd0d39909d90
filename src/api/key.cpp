// SPDX-License-Identifier: Apache-2.0
#include "oplat/key.hpp"

#include <utility>

#include "api/values.hpp"
#include "base/message.hpp"
#include "compat/registry.hpp"
#include "ir/work.hpp"

namespace oplat {

struct Key::Impl {
  std::string text;
  std::string op;
  std::vector<std::optional<Tensor>> operands;
  std::vector<std::optional<Tensor>> results;
  std::optional<double> flops;
};

namespace {

std::optional<Tensor> tensor_of_entry(const ir::TensorEntry* entry) {
  if (entry == nullptr) return std::nullopt;
  return api::tensor_of(entry->dtype, entry->constant, entry->shape);
}

}  // namespace

Result<Key> Key::parse(std::string_view text) {
  auto parsed = ir::parse(text);
  if (!parsed) return fail(Code::Usage, "{}", base::printable_message(parsed.error().message));
  auto impl = std::make_shared<Impl>();
  impl->text = ir::print(*parsed);
  impl->op = api::qualified_op(parsed->domain, parsed->op);
  for (std::size_t i = 0; i < parsed->operands.size(); ++i)
    impl->operands.push_back(tensor_of_entry(parsed->operand(i)));
  for (std::size_t i = 0; i < parsed->results.size(); ++i)
    impl->results.push_back(tensor_of_entry(parsed->result(i)));
  impl->flops = ir::work(*parsed, compat::catalogue()).flops;
  return Key(std::move(impl));
}

Key::Key(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
const std::string& Key::text() const { return impl_->text; }
const std::string& Key::op() const { return impl_->op; }
const std::vector<std::optional<Tensor>>& Key::operands() const { return impl_->operands; }
const std::vector<std::optional<Tensor>>& Key::results() const { return impl_->results; }
std::optional<double> Key::flops() const { return impl_->flops; }

}  // namespace oplat
