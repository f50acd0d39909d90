// SPDX-License-Identifier: Apache-2.0
/// Structures: from literals to checked blocks.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "compat/tinynas/literal.hpp"
#include "compat/tinynas/op_profiler.hpp"
#include "compat/tinynas/walk.hpp"

namespace oplat::compat::tinynas {
namespace {

constexpr std::size_t kMaxBlocks = 10'000;
constexpr std::int64_t kMaxStructureChannels = 1'000'000;
constexpr std::int64_t kMaxKernel = 10'000;
constexpr std::int64_t kMaxRepeat = 10'000;
constexpr std::int64_t kMaxInnerBlocks = 50'000;

struct ClassInfo {
  std::string_view name;
  BlockKind kind;
  bool super = false;  ///< repeats its inner block L times
  bool squeeze_excite = false;
  bool three_d = false;
};

/// Those that TinyNAS registers. SuperQuantResK1DWK1 is SuperResK1DWK1 by another name.
constexpr std::array kClasses = {
    ClassInfo{"ConvKXBN", BlockKind::Conv},
    ClassInfo{"ConvKXBNRELU", BlockKind::Conv},
    ClassInfo{"ResKXKX", BlockKind::KxKx},
    ClassInfo{"ResK1KX", BlockKind::K1Kx},
    ClassInfo{"ResK1KXK1", BlockKind::K1KxK1},
    ClassInfo{"ResK1DWK1", BlockKind::K1DwK1},
    ClassInfo{"ResK1DWSEK1", BlockKind::K1DwK1, false, true},
    ClassInfo{"SuperResKXKX", BlockKind::KxKx, true},
    ClassInfo{"SuperResK1KX", BlockKind::K1Kx, true},
    ClassInfo{"SuperResK1KXK1", BlockKind::K1KxK1, true},
    ClassInfo{"SuperResK1DWK1", BlockKind::K1DwK1, true},
    ClassInfo{"SuperResK1DWSEK1", BlockKind::K1DwK1, true, true},
    ClassInfo{"SuperQuantResK1DWK1", BlockKind::K1DwK1, true},
    ClassInfo{"Conv3DKXBN", BlockKind::Conv, false, false, true},
    ClassInfo{"Conv3DKXBNRELU", BlockKind::Conv, false, false, true},
    ClassInfo{"Res3DK1DWK1", BlockKind::K1DwK1, false, false, true},
    ClassInfo{"SuperRes3DK1DWK1", BlockKind::K1DwK1, true, false, true},
};

/// The original's names, and further spellings of the same functions.
std::optional<Activation> parse_activation(std::string_view name) {
  if (name == "relu") return Activation::Relu;
  if (name == "relu6") return Activation::Relu6;
  if (name == "swish" || name == "silu") return Activation::Swish;
  if (name == "sigmoid") return Activation::Sigmoid;
  if (name == "learkyrelu" || name == "leakyrelu" || name == "leaky_relu")
    return Activation::LeakyRelu;
  return std::nullopt;
}
bool original_knows_activation(std::string_view name) {
  return name == "relu" || name == "relu6" || name == "swish" || name == "sigmoid" ||
         name == "learkyrelu";
}

/// Reads one dictionary of the list.
class BlockReader {
 public:
  BlockReader(const base::Source& source, const Literal& literal, std::size_t index)
      : source_(source), literal_(literal) {
    block_.index = index;
  }

  Result<Block> read() {
    entries_ = literal_.dictionary();
    if (entries_ == nullptr) return error("{}; expected a dictionary", literal_.shown());
    OPLAT_TRY(info, find_class());
    block_.kind = info->kind;
    block_.squeeze_excite = info->squeeze_excite;
    block_.three_d = info->three_d;
    block_.activates = info->name != "ConvKXBN" && info->name != "Conv3DKXBN";
    OPLAT_CHECK(read_sizes(*info));
    OPLAT_CHECK(read_padding());
    OPLAT_CHECK(read_activation());
    const Literal* force = entries_->find("force_resproj");
    // A Super block overwrites the key for its first inner block, by its class.
    block_.force_projection =
        info->super ? block_.kind == BlockKind::K1KxK1 : force != nullptr && force->truthy();
    if (!block_.original_raises) check_bits(info->super);
    return std::move(block_);
  }

 private:
  template <class... Args>
  tl::unexpected<Error> error(fmt::format_string<Args...> format, Args&&... args) const {
    const std::string what = fmt::format(format, std::forward<Args>(args)...);
    const std::string named =
        block_.class_name.empty() ? "" : fmt::format(" ({})", block_.class_name);
    return fail(Code::Input, "{}:{}: block {}{}: {}", source_.name(),
                place_of(source_.bytes(), literal_.offset), block_.index, named, what);
  }

  Result<const ClassInfo*> find_class() {
    const Literal* found = entries_->find("class");
    if (found == nullptr) return error("the key 'class' is missing");
    const std::string* name = found->text();
    if (name == nullptr) return error("'class' is {}; expected a string", found->shown());
    const auto* info = std::find_if(kClasses.begin(), kClasses.end(),
                                    [&](const ClassInfo& c) { return c.name == *name; });
    if (info == kClasses.end()) {
      std::vector<std::string> known;
      for (const ClassInfo& one : kClasses) known.emplace_back(one.name);
      const auto near = base::nearest_word(*name, known);
      return error("unknown class '{}'{}; expected one of {}", base::printable(*name, 40),
                   near ? fmt::format(" (do you mean {}?)", *near) : "", base::join(known, ", "));
    }
    block_.class_name = *name;
    return info;
  }

  /// An integer in [least, most]; std::nullopt if the key is missing.
  Result<std::optional<std::int64_t>> integer(std::string_view key, std::int64_t least,
                                              std::int64_t most) const {
    const Literal* found = entries_->find(key);
    if (found == nullptr) return std::optional<std::int64_t>();
    const std::int64_t* value = found->integer();
    if (value == nullptr || *value < least || *value > most) {
      return error("'{}' is {}; expected an integer from {} to {}", key, found->shown(), least,
                   most);
    }
    return std::optional(*value);
  }
  Status required(std::string_view key, std::int64_t least, std::int64_t most,
                  std::int64_t& to) const {
    OPLAT_TRY(found, integer(key, least, most));
    if (!found) return error("the key '{}' is missing", key);
    to = *found;
    return {};
  }

  Status read_sizes(const ClassInfo& info) {
    OPLAT_CHECK(required("in", 1, kMaxStructureChannels, block_.in));
    OPLAT_CHECK(required("out", 1, kMaxStructureChannels, block_.out));
    OPLAT_CHECK(required("k", 1, kMaxKernel, block_.kernel));
    if (info.three_d) {
      std::int64_t frames = 1;
      OPLAT_CHECK(required("kt", 1, kMaxKernel, frames));
    }
    const bool residual = info.kind != BlockKind::Conv;
    OPLAT_TRY(stride, integer("s", 1, residual ? 2 : kMaxKernel));
    block_.stride = stride.value_or(1);
    if (residual) OPLAT_CHECK(required("btn", 1, kMaxStructureChannels, block_.bottleneck));
    if (info.super) OPLAT_CHECK(required("L", 0, kMaxRepeat, block_.repeat));
    OPLAT_TRY(group, integer("g", 1, kMaxStructureChannels));
    block_.group = group.value_or(1);
    return {};
  }

  /// An integer, or one for each axis, all equal. Of a 3-D block it is not kept: nothing that reads
  /// it stays.
  Status read_padding() {
    const Literal* found = entries_->find("p");
    if (found == nullptr || block_.three_d) return {};
    const Literal* one = found;
    if (const Literal::Sequence* all = found->sequence();
        all != nullptr && all->kind != '{' && all->items.size() == 2) {
      one = &all->items[0];
      const bool equal = one->integer() != nullptr && all->items[1].integer() != nullptr &&
                         *one->integer() == *all->items[1].integer();
      if (!equal) return error("'p' differs between the axes; only square paddings are supported");
    }
    if (one->integer() == nullptr || *one->integer() < 0 || *one->integer() > kMaxKernel) {
      return error("'p' is {}; expected an integer from 0 to {}", found->shown(), kMaxKernel);
    }
    block_.padding = *one->integer();
    return {};
  }

  Status read_activation() {
    block_.activation = block_.squeeze_excite ? Activation::Swish : Activation::Relu;
    const Literal* found = entries_->find("act");
    if (found == nullptr || !block_.activates) return {};
    const std::string* name = found->text();
    if (name == nullptr) return error("'act' is {}; expected a string", found->shown());
    const auto activation = parse_activation(*name);
    if (!activation) {
      return error(
          "unknown activation '{}'; expected relu, relu6, swish, sigmoid or learkyrelu (as the "
          "original writes it)",
          base::printable(*name, 40));
    }
    block_.activation = *activation;
    if (!original_knows_activation(*name)) {
      block_.original_raises = fmt::format("AttributeError: Unsupported act type: {}", *name);
    }
    return {};
  }

  /// nbitsA and nbitsW change no convolution's size, but the original refuses lists of a wrong
  /// length.
  void check_bits(bool super) {
    const Literal* activations = entries_->find("nbitsA");
    const Literal* weights = entries_->find("nbitsW");
    if (activations == nullptr || weights == nullptr || block_.kind == BlockKind::Conv ||
        block_.three_d)
      return;
    if (activations->sequence() == nullptr || weights->sequence() == nullptr) {
      block_.original_raises = "TypeError: nbitsA and nbitsW of a residual block are lists";
      return;
    }
    const std::size_t wanted =
        block_.kind == BlockKind::K1KxK1 || block_.kind == BlockKind::K1DwK1 ? 3 : 2;
    const auto repeat = super ? static_cast<std::size_t>(block_.repeat) : std::size_t{1};
    const std::size_t a = activations->sequence()->items.size();
    const std::size_t w = weights->sequence()->items.size();
    if (repeat == 0) {
      block_.original_raises = "ZeroDivisionError: nbitsA of a block with L = 0";
    } else if (a / repeat != wanted || (super ? w < wanted * repeat : a != wanted || w != wanted)) {
      block_.original_raises = fmt::format(
          "ValueError: nbitsA/W must have {} elements for each inner block, found {} and {} for {}",
          wanted, a, w, repeat);
    }
  }

  const base::Source& source_;
  const Literal& literal_;
  const Literal::Dictionary* entries_ = nullptr;
  Block block_;
};

/// The list of blocks: the literal itself, or the first of 'best_structures'.
Result<const Literal*> block_list(const base::Source& source, const Literal& literal) {
  const auto wrong = [&](const Literal& at, std::string_view what) {
    return fail(Code::Input, "{}:{}: {}, found {}", source.name(),
                place_of(source.bytes(), at.offset), what, at.shown());
  };
  const Literal* list = &literal;
  if (const Literal::Dictionary* file = literal.dictionary()) {
    const Literal* best = file->find("best_structures");
    if (best == nullptr)
      return wrong(literal, "expected a list of blocks or a dictionary with 'best_structures'");
    if (best->sequence() == nullptr || best->sequence()->items.empty()) {
      return wrong(*best, "expected a list of structures as 'best_structures'");
    }
    list = &best->sequence()->items.front();
  }
  const Literal::Sequence* blocks = list->sequence();
  if (blocks == nullptr || blocks->kind == '{') return wrong(*list, "expected a list of blocks");
  if (blocks->items.empty()) return wrong(*list, "expected at least one block");
  if (blocks->items.size() > kMaxBlocks) {
    return fail(Code::Input, "{}: has {} blocks; the limit is {}", source.name(),
                blocks->items.size(), kMaxBlocks);
  }
  return list;
}

}  // namespace

Result<Structure> read_structure(const base::Source& source) {
  auto literal = parse_literal(source.bytes());
  if (!literal) return fail(literal.error().code, "{}:{}", source.name(), literal.error().message);
  OPLAT_TRY(list, block_list(source, *literal));
  Structure structure;
  structure.name = source.name();
  std::int64_t inner_blocks = 0;
  std::size_t line = 1;
  std::size_t counted = 0;  // bytes whose line ends `line` knows
  for (const Literal& one : list->sequence()->items) {
    OPLAT_TRY(block, BlockReader(source, one, structure.blocks.size()).read());
    const std::string_view between =
        std::string_view(source.bytes()).substr(counted, one.offset - counted);
    line += static_cast<std::size_t>(std::count(between.begin(), between.end(), '\n'));
    counted = one.offset;
    block.line = line;
    if (!structure.blocks.empty() && structure.blocks.front().three_d != block.three_d) {
      return fail(Code::Input, "{}: the structure mixes 2-D and 3-D blocks",
                  block_place(structure, block));
    }
    if ((inner_blocks += block.repeat) > kMaxInnerBlocks) {
      return fail(Code::Input, "{}: there are more than {} inner blocks (L) up to here",
                  block_place(structure, block), kMaxInnerBlocks);
    }
    structure.blocks.push_back(std::move(block));
  }
  return structure;
}

}  // namespace oplat::compat::tinynas
