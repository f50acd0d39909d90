// SPDX-License-Identifier: Apache-2.0
/// A search space from its file.
#include <algorithm>
#include <array>
#include <set>

#include "base/yaml_fields.hpp"
#include "search/search_space.hpp"

namespace oplat::search {
namespace {

using base::Bounds;
using base::Fields;
using base::name_of;
using base::numbers_of;
using base::Yaml;
using base::YamlEntry;

constexpr std::string_view kFormat = "oplat.space/1";
constexpr std::size_t kMaxLayers = 1000;
constexpr std::size_t kMaxBlocks = 256;
constexpr std::size_t kMaxChannelChoices = 32;
constexpr std::size_t kMaxResolutions = 64;
constexpr Bounds kChannels{1, 1 << 20};
constexpr Bounds kBatch{1, 4096};
constexpr Bounds kKernel{1, 255};
constexpr Bounds kExpansion{1, 64};
constexpr Bounds kGroup{1, 1 << 20};
constexpr Bounds kStride{1, 64};
constexpr Bounds kRepeat{1, 256};

constexpr std::array kKinds = {
    BlockKind::Input, BlockKind::Conv,        BlockKind::InvertedResidual,
    BlockKind::Skip,  BlockKind::AveragePool, BlockKind::FullyConnected,
    BlockKind::Output};
/// Columns of the written table that no choice and no layer may be mistaken for.
constexpr std::array<std::string_view, 6> kReserved = {"resolution",   "layer", "in_channels",
                                                       "out_channels", "fixed", "overhead"};

std::vector<std::string> fields_of(BlockKind kind) {
  switch (kind) {
    case BlockKind::Conv:
      return {"kind", "kernel", "group", "relu"};
    case BlockKind::InvertedResidual:
      return {"kind",    "kernel", "expansion",      "group",
              "shuffle", "relu",   "depthwise_relu", "residual"};
    case BlockKind::Skip:
      return {"kind", "projection"};
    case BlockKind::AveragePool:
      return {"kind", "kernel"};
    case BlockKind::Input:
    case BlockKind::FullyConnected:
    case BlockKind::Output:
      return {"kind"};
  }
  return {"kind"};
}

/// One of an enumeration by its name.
template <class T, std::size_t N>
Result<T> one_of(const std::string& file, const Yaml& node, std::string_view what,
                 const std::array<T, N>& all) {
  std::vector<std::string> names;
  for (const T one : all) {
    names.emplace_back(name(one));
    if (node.text() != nullptr && *node.text() == names.back()) return one;
  }
  return fail(Code::Input, "{}:{}: {} is {}; expected one of {}", file, node.line, what,
              node.described(), base::join(names, ", "));
}

class Reader {
 public:
  Reader(std::string file, std::span<const Family* const> families) : families_(families) {
    space_.file = std::move(file);
  }

  Result<SearchSpace> read(const Yaml& root) {
    OPLAT_TRY(top,
              Fields::of(space_.file, root, "a space",
                         {"format", "name", "family", "input", "resolutions", "blocks", "layers"}));
    OPLAT_CHECK(read_head(top));
    if (const Yaml* blocks = top.find("blocks")) OPLAT_CHECK(read_blocks(*blocks));
    listed_ = space_.blocks.size();
    OPLAT_TRY(layers, top.need("layers"));
    OPLAT_CHECK(read_layers(*layers));
    return std::move(space_);
  }

 private:
  Status read_head(const Fields& top) {
    OPLAT_TRY(format, top.need("format"));
    if (format->text() == nullptr || *format->text() != kFormat) {
      return fail(Code::Input, "{}:{}: 'format' is {}; expected {}", space_.file, format->line,
                  format->described(), kFormat);
    }
    OPLAT_TRY(title, top.need("name"));
    OPLAT_TRY(title_text, name_of(space_.file, *title, "'name' of the space"));
    space_.name = std::move(title_text);
    OPLAT_TRY(family, top.need("family"));
    OPLAT_TRY(family_value, family_of(*family));
    space_.family = family_value;
    if (const Yaml* input = top.find("input")) {
      OPLAT_TRY(fields, Fields::of(space_.file, *input, "'input'", {"batch", "channels"}));
      OPLAT_TRY(batch, fields.number("batch", kBatch, 1));
      OPLAT_TRY(channels, fields.number("channels", kChannels, 3));
      space_.batch = batch;
      space_.channels = channels;
    }
    OPLAT_TRY(resolutions, top.need("resolutions"));
    OPLAT_TRY(numbers, numbers_of(space_.file, *resolutions, "'resolutions'", {1, kMaxResolution},
                                  kMaxResolutions));
    space_.resolutions = std::move(numbers);
    return {};
  }

  Result<const Family*> family_of(const Yaml& node) const {
    std::vector<std::string> names;
    for (const Family* family : families_) {
      names.emplace_back(family->name());
      if (node.text() != nullptr && *node.text() == names.back()) return family;
    }
    return fail(Code::Input, "{}:{}: 'family' is {}; expected one of {}", space_.file, node.line,
                node.described(), base::join(names, ", "));
  }

  Status read_blocks(const Yaml& node) {
    if (node.map() == nullptr)
      return fail(Code::Input, "{}:{}: 'blocks' is {}; expected a map", space_.file, node.line,
                  node.described());
    for (const YamlEntry& entry : *node.map()) {
      OPLAT_TRY(block_name,
                name_of(space_.file, Yaml{entry.name, entry.line}, "the name of a block"));
      OPLAT_CHECK(refuse_reserved(block_name, entry.line));
      OPLAT_TRY(block, read_block(entry.value, block_name));
      OPLAT_CHECK(add_block(std::move(block), entry.line));
    }
    return {};
  }

  Status refuse_reserved(const std::string& text, int line) const {
    if (std::find(kReserved.begin(), kReserved.end(), text) == kReserved.end()) return {};
    return fail(Code::Input,
                "{}:{}: '{}' is the name of a column of the output; choose another name",
                space_.file, line, text);
  }

  Status add_block(Block block, int line) {
    if (space_.blocks.size() >= kMaxBlocks)
      return fail(Code::Input, "{}:{}: more than {} blocks", space_.file, line, kMaxBlocks);
    for (const Block& before : space_.blocks) {
      if (before.name == block.name)
        return fail(Code::Input, "{}:{}: block {} is defined twice", space_.file, line, block.name);
    }
    space_.blocks.push_back(std::move(block));
    return {};
  }

  Result<Block> read_block(const Yaml& node, const std::string& block_name) const {
    const std::string what = fmt::format("block {}", block_name);
    if (node.map() == nullptr) {
      return fail(Code::Input, "{}:{}: {} is {}; expected a map such as {{kind: conv, kernel: 3}}",
                  space_.file, node.line, what, node.described());
    }
    const auto kind_at = std::find_if(node.map()->begin(), node.map()->end(),
                                      [](const YamlEntry& entry) { return entry.name == "kind"; });
    if (kind_at == node.map()->end())
      return fail(Code::Input, "{}:{}: {} lacks 'kind'", space_.file, node.line, what);
    OPLAT_TRY(kind, one_of(space_.file, kind_at->value, fmt::format("'kind' of {}", what), kKinds));
    Block block;
    block.name = block_name;
    block.kind = kind;
    OPLAT_TRY(fields, Fields::of(space_.file, node, fmt::format("{} ({})", what, name(kind)),
                                 fields_of(kind)));
    const bool convolves = kind == BlockKind::Conv || kind == BlockKind::InvertedResidual;
    if (convolves || fields.find("kernel") != nullptr) {
      OPLAT_TRY(kernel, fields.number("kernel", kKernel, 3));
      if (convolves && kernel % 2 == 0) {
        return fail(Code::Input, "{}:{}: 'kernel' of {} is {}; expected an odd number", space_.file,
                    node.line, what, kernel);
      }
      block.kernel = kernel;
    }
    OPLAT_TRY(expansion, fields.number("expansion", kExpansion, 1));
    OPLAT_TRY(group, fields.number("group", kGroup, 1));
    OPLAT_TRY(shuffle, fields.truth("shuffle", kind == BlockKind::InvertedResidual && group > 1));
    OPLAT_TRY(relu, fields.truth("relu", true));
    OPLAT_TRY(depthwise_relu, fields.truth("depthwise_relu", false));
    OPLAT_TRY(residual, fields.truth("residual", true));
    OPLAT_TRY(projection, fields.truth("projection", false));
    block.expansion = expansion;
    block.group = group;
    block.shuffle = shuffle;
    block.relu = relu;
    block.depthwise_relu = depthwise_relu;
    block.residual = residual;
    block.projection = projection;
    if (block.shuffle && block.group == 1) {
      return fail(Code::Input,
                  "{}:{}: {} shuffles channels of a single group; set 'group' or omit 'shuffle'",
                  space_.file, node.line, what);
    }
    return block;
  }

  Status read_layers(const Yaml& node) {
    if (node.list() == nullptr || node.list()->empty()) {
      return fail(
          Code::Input, "{}:{}: 'layers' is {}; expected a list with one entry for each layer",
          space_.file, node.line, node.list() != nullptr ? "an empty list" : node.described());
    }
    for (const Yaml& one : *node.list()) OPLAT_CHECK(read_layer(one));
    return {};
  }

  Status read_layer(const Yaml& node) {
    const std::string what = fmt::format("layer {}", space_.layers.size() + 1);
    OPLAT_TRY(fields, Fields::of(space_.file, node, what,
                                 {"name", "repeat", "channels", "stride", "choices", "block"}));
    Layer layer;
    layer.name = fmt::format("layer{}", space_.layers.size() + 1);
    if (const Yaml* title = fields.find("name")) {
      OPLAT_TRY(text, name_of(space_.file, *title, fmt::format("'name' of {}", what)));
      layer.name = std::move(text);
    }
    if (const Yaml* channels = fields.find("channels")) {
      OPLAT_TRY(numbers, numbers_of(space_.file, *channels, fmt::format("'channels' of {}", what),
                                    kChannels, kMaxChannelChoices));
      layer.channels = std::move(numbers);
    }
    OPLAT_TRY(stride, fields.number("stride", kStride, 1));
    layer.stride = stride;
    OPLAT_CHECK(read_choices(fields, layer));
    OPLAT_TRY(repeat, fields.number("repeat", kRepeat, 1));
    for (std::int64_t i = 0; i < repeat; ++i) {
      Layer one = layer;
      if (repeat > 1) one.name += fmt::format("_{}", i + 1);
      if (i > 0) one.stride = 1;
      one.as_input = i > 0;
      OPLAT_CHECK(refuse_reserved(one.name, fields.line()));
      if (!names_.insert(one.name).second)
        return fail(Code::Input, "{}:{}: layer {} is defined twice", space_.file, fields.line(),
                    one.name);
      if (space_.layers.size() >= kMaxLayers)
        return fail(Code::Input, "{}:{}: more than {} layers", space_.file, fields.line(),
                    kMaxLayers);
      space_.layers.push_back(std::move(one));
    }
    return {};
  }

  Status read_choices(const Fields& fields, Layer& layer) {
    const Yaml* choices = fields.find("choices");
    const Yaml* block = fields.find("block");
    if ((choices == nullptr) == (block == nullptr)) {
      return fail(Code::Input,
                  "{}:{}: {} has {} 'choices' (searched) and 'block' (fixed); expected one of them",
                  space_.file, fields.line(), fields.what(),
                  choices == nullptr ? "neither" : "both");
    }
    if (block != nullptr && block->map() != nullptr) {
      OPLAT_TRY(own, read_block(*block, layer.name));
      layer.choices.push_back(space_.blocks.size());
      return add_block(std::move(own), block->line);
    }
    if (block != nullptr) return add_choice(*block, layer);
    layer.searched = true;
    if (choices->text() != nullptr && *choices->text() == "all") {
      for (std::size_t i = 0; i < listed_; ++i) layer.choices.push_back(i);
    } else if (choices->list() != nullptr) {
      for (const Yaml& one : *choices->list()) OPLAT_CHECK(add_choice(one, layer));
    } else {
      return fail(Code::Input, "{}:{}: 'choices' of {} is {}; expected a list of blocks, or all",
                  space_.file, choices->line, fields.what(), choices->described());
    }
    if (layer.choices.empty())
      return fail(Code::Input, "{}:{}: {} has no choices", space_.file, choices->line,
                  fields.what());
    return {};
  }

  Status add_choice(const Yaml& node, Layer& layer) const {
    std::vector<std::string> known;
    for (std::size_t i = 0; i < listed_; ++i) {
      known.push_back(space_.blocks[i].name);
      if (node.text() == nullptr || *node.text() != known.back()) continue;
      if (std::find(layer.choices.begin(), layer.choices.end(), i) != layer.choices.end()) {
        return fail(Code::Input, "{}:{}: block {} is listed twice", space_.file, node.line,
                    known.back());
      }
      layer.choices.push_back(i);
      return {};
    }
    const auto meant =
        node.text() != nullptr ? base::nearest_word(*node.text(), known) : std::nullopt;
    return fail(Code::Input, "{}:{}: {} is not a block of 'blocks'{}", space_.file, node.line,
                node.described(), meant ? fmt::format(" (do you mean {}?)", *meant) : "");
  }

  std::span<const Family* const> families_;
  SearchSpace space_;
  std::size_t listed_ = 0;  ///< blocks under 'blocks'; those written within a layer follow
  std::set<std::string> names_;
};

}  // namespace

std::string_view name(BlockKind kind) {
  switch (kind) {
    case BlockKind::Input:
      return "input";
    case BlockKind::Conv:
      return "conv";
    case BlockKind::InvertedResidual:
      return "inverted_residual";
    case BlockKind::Skip:
      return "skip";
    case BlockKind::AveragePool:
      return "average_pool";
    case BlockKind::FullyConnected:
      return "fully_connected";
    case BlockKind::Output:
      return "output";
  }
  return "";
}

Result<SearchSpace> read_space(const base::Source& source,
                               std::span<const Family* const> families) {
  OPLAT_TRY(root, base::parse_yaml(source.name(), source.bytes()));
  return Reader(source.name(), families).read(root);
}

}  // namespace oplat::search
