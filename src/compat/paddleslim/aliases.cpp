// SPDX-License-Identifier: Apache-2.0
/// Aliases: the text that PaddleSlim would look up, and what else the same kernel may be called.
#include "compat/paddleslim/aliases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compat/paddleslim/key.hpp"

namespace oplat::compat::paddleslim {
namespace {

using namespace ir;  // NOLINT: the file is about keys

/// What is asked in place of a kernel's own text.
struct Question {
  Key key;
  std::string difference;
  bool open_batch = false;
};

TensorEntry* activation(Entry& entry) {
  auto* tensor = std::get_if<TensorEntry>(&entry);
  return tensor == nullptr || tensor->constant || tensor->shape.dims.empty() ? nullptr : tensor;
}

/// Sets the leading size of activations where it is `from`; false where there is none. `all`: of
/// the operands behind the first, too, which may be as large for every batch.
bool set_batch(Key& key, const Dim& from, const Dim& to, bool all) {
  bool any = false;
  const auto set = [&](Entry& entry) {
    TensorEntry* tensor = activation(entry);
    if (tensor == nullptr || tensor->shape.dims.front() != from) return;
    tensor->shape.dims.front() = to;
    any = true;
  };
  for (std::size_t i = 0;
       i < (all ? key.operands.size() : std::min<std::size_t>(1, key.operands.size())); ++i)
    set(key.operands[i]);
  for (Entry& entry : key.results) set(entry);
  return any;
}

void add_batches(std::vector<Question>& questions, const Key& key, const std::string& difference) {
  struct Twin {
    Dim from, to;
    const char* words;
  };
  for (const Twin& twin : {Twin{1, std::nullopt, "batch -1"}, Twin{std::nullopt, 1, "batch 1"}}) {
    for (const bool all : {true, false}) {
      Key other = key;
      if (!set_batch(other, twin.from, twin.to, all)) continue;
      questions.push_back({std::move(other),
                           difference.empty() ? twin.words : difference + ", " + twin.words, true});
    }
  }
}

std::size_t rank_of(const Key& key, std::size_t operand) {
  const TensorEntry* tensor = key.operand(operand);
  return tensor == nullptr ? 0 : tensor->shape.dims.size();
}

/// Of operators that broadcast their second operand, counted from the front: -1 aligns the ends.
/// Exporters write either.
std::optional<std::int64_t> other_axis(const Key& key) {
  const Value* axis = key.attribute("axis");
  const bool broadcasts = key.op.find("elementwise") != std::string::npos;
  if (!broadcasts || axis == nullptr || axis->integer() == nullptr) return std::nullopt;
  const auto x = static_cast<std::int64_t>(rank_of(key, 0));
  const auto y = static_cast<std::int64_t>(rank_of(key, 1));
  if (y > x) return std::nullopt;
  if (*axis->integer() == -1) return x - y;
  return *axis->integer() == x - y ? std::optional<std::int64_t>(-1) : std::nullopt;
}

/// The other way round, of sums and products of tensors of one rank and different sizes:
/// Paddle-Lite swaps the operands itself where the first is the smaller one
/// (lite/kernels/arm/elementwise_compute.cc), so that both ways run the same code.
bool swap_operands(Key& key) {
  const Value* axis = key.attribute("axis");
  if ((key.op != "elementwise_add" && key.op != "elementwise_mul") || axis == nullptr ||
      *axis != Value(-1))
    return false;
  const TensorEntry* x = key.operand(0);
  const TensorEntry* y = key.operand(1);
  if (x == nullptr || y == nullptr || x->shape == y->shape ||
      x->shape.dims.size() != y->shape.dims.size())
    return false;
  std::swap(key.operands[0], key.operands[1]);
  return true;
}

std::vector<Question> paddle_questions(const Key& key) {
  std::vector<Question> questions;
  questions.push_back({key, {}});
  if (const auto axis = other_axis(key)) {
    Key other = key;
    for (auto& [name, value] : other.attributes)
      if (name == "axis") value = Value(*axis);
    questions.push_back({std::move(other), fmt::format("axis {}, which is the same", *axis)});
  }
  if (Key other = key; swap_operands(other))
    questions.push_back({std::move(other), "operands swapped, which is the same"});
  const std::vector<Question> exact = questions;
  for (const Question& question : exact) add_batches(questions, question.key, question.difference);
  return questions;
}

/// Texts do not say what activations consist of; a table does for all of its rows.
std::vector<Dtype> activation_types(const Key& key) {
  const auto half = [](const Entry& entry) {
    const auto* tensor = std::get_if<TensorEntry>(&entry);
    return tensor != nullptr && tensor->dtype == Dtype::F16;
  };
  const bool any = std::any_of(key.operands.begin(), key.operands.end(), half) ||
                   std::any_of(key.results.begin(), key.results.end(), half);
  if (any) return {Dtype::F16, Dtype::F32};
  return {Dtype::F32};
}

}  // namespace

std::vector<KeyAlias> aliases_in_table(const Key& key) {
  std::vector<KeyAlias> aliases;
  const std::vector<Dtype> types = activation_types(key);
  for (const Question& question : paddle_questions(key)) {
    const auto text = paddle_text_of(question.key);
    if (!text) continue;
    for (const Dtype type : types) {
      KeyAlias one{paddle_key_of(*text, type), question.difference, question.open_batch};
      const auto same = [&](const KeyAlias& other) { return other.key == one.key; };
      if (std::none_of(aliases.begin(), aliases.end(), same)) aliases.push_back(std::move(one));
    }
  }
  return aliases;
}

std::optional<Key> table_form(const Key& key) {
  const auto text = paddle_text_of(key);
  if (!text) return std::nullopt;
  Key form = paddle_key_of(*text, activation_types(key).front());
  if (form == key) return std::nullopt;
  return form;
}

}  // namespace oplat::compat::paddleslim
