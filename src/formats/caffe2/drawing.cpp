// SPDX-License-Identifier: Apache-2.0
/// A drawing of the net by Graphviz, whose nodes are titled `blob\n[64, 224, 224, 3]0`: name,
/// shape, and how often the blob was written before. Only the titles are looked at.
#include "base/lfs.hpp"
#include "base/text.hpp"
#include "formats/caffe2/net.hpp"

namespace oplat::formats::caffe2 {
namespace {

constexpr std::size_t kMaxTitleBytes = 4096;
constexpr std::size_t kMaxDrawnRank = 16;
constexpr std::int64_t kMaxDrawnDim = std::int64_t{1} << 30;

/// The entities that Graphviz writes.
std::string unescaped(std::string_view text) {
  static constexpr std::pair<std::string_view, char> kEntities[] = {
      {"&amp;", '&'},  {"&lt;", '<'},  {"&gt;", '>'},   {"&quot;", '"'},
      {"&#39;", '\''}, {"&#45;", '-'}, {"&#160;", ' '},
  };
  std::string out;
  while (!text.empty()) {
    std::size_t length = 1;
    char c = text.front();
    for (const auto& [entity, meant] : kEntities) {
      if (text.starts_with(entity)) length = entity.size(), c = meant;
    }
    out += c;
    text.remove_prefix(length);
  }
  return out;
}

std::optional<Dims> dims_of(std::string_view list) {
  Dims dims;
  for (std::string part : base::split(list, ',')) {
    part.erase(0, part.find_first_not_of(' ') == std::string::npos ? part.size()
                                                                   : part.find_first_not_of(' '));
    const auto dim = base::parse_int(part);
    if (!dim || *dim < 1 || *dim > kMaxDrawnDim || dims.size() == kMaxDrawnRank)
      return std::nullopt;
    dims.push_back(*dim);
  }
  if (!ir::Shape::of(dims).elements()) return std::nullopt;
  return dims;
}

/// A blob's title; std::nullopt for an operator's, or one that says no shape.
void add_title(std::string_view title, Drawing& drawing) {
  if (title.size() > kMaxTitleBytes) return;
  const std::size_t mark = title.rfind("\\n[");
  const std::size_t end = title.rfind(']');
  if (mark == std::string_view::npos || end == std::string_view::npos || end < mark + 3) return;
  auto dims = dims_of(title.substr(mark + 3, end - mark - 3));
  const auto times = base::parse_int(title.substr(end + 1));
  if (!dims || !times || *times < 0 || *times > (1 << 20)) return;
  drawing.emplace(std::pair(unescaped(title.substr(0, mark)), static_cast<int>(*times)),
                  std::move(*dims));
}

}  // namespace

Result<Drawing> read_drawing(const std::string& name, std::string_view svg) {
  if (base::is_lfs_pointer(svg)) {
    return fail(Code::Input,
                "{}: is a Git LFS pointer, not the drawing; fetch it with: git lfs pull", name);
  }
  constexpr std::string_view kNode = "class=\"node\"";
  constexpr std::string_view kOpen = "<title>";
  Drawing drawing;
  for (std::size_t at = svg.find(kNode); at != std::string_view::npos; at = svg.find(kNode, at)) {
    at += kNode.size();
    const std::size_t next = std::min(svg.find(kNode, at), svg.size());
    const std::string_view node = svg.substr(at, next - at);
    const std::size_t start = node.find(kOpen);
    const std::size_t end = start == std::string_view::npos ? start : node.find("</title>", start);
    if (end != std::string_view::npos)
      add_title(node.substr(start + kOpen.size(), end - start - kOpen.size()), drawing);
  }
  if (drawing.empty()) {
    return fail(Code::Input,
                "{}: is not a drawing of a Caffe2 net: no node has a title with a blob's shape, "
                "such as 'data\\n"
                "[1, 3, 224, 224]0'",
                name);
  }
  return drawing;
}

}  // namespace oplat::formats::caffe2
