// SPDX-License-Identifier: Apache-2.0
/// The templates, one an operator of Paddle-Lite that PaddleSlim knows.
#include "compat/paddleslim/templates.hpp"

#include <algorithm>
#include <iterator>

namespace oplat::compat::paddleslim::templates {

using namespace ir;  // NOLINT: the file is about keys

namespace {

constexpr Field kSparseConv[] = {{" in=", Kind::Operand},
                                 {" weight=", Kind::Weights},
                                 {" out=", Kind::Result},
                                 {" pad=", Kind::Pad},
                                 {" stride=", Kind::Stride},
                                 {" group=", Kind::Attribute, "group"},
                                 {" dilation=", Kind::Dilation},
                                 {" quant=", Kind::Attribute, kQuant},
                                 {" bit_length=", Kind::Attribute, kBitLength},
                                 {" NonZeroWeights=", Kind::Attribute, "NonZeroWeights"}};
/// The same but for the last.
constexpr auto kConv = std::span(kSparseConv).first<std::size(kSparseConv) - 1>();
constexpr Field kMatmul[] = {{" X=", Kind::Operand},
                             {" Y=", Kind::Operand},
                             {" out=", Kind::Result},
                             {" quant=", Kind::Attribute, kQuant},
                             {" bit_length=", Kind::Attribute, kBitLength}};
constexpr Field kPool[] = {{" in=", Kind::Operand},
                           {" out=", Kind::Result},
                           {" stride=", Kind::Stride},
                           {" kernel=", Kind::Kernel},
                           {" pad=", Kind::Pad},
                           {" flag_global=", Kind::Attribute, "global_pooling"},
                           {" type=", Kind::Attribute, "pooling_type"},
                           {")", Kind::End}};
constexpr Field kInOut[] = {{" in=", Kind::Operand}, {" out=", Kind::Result}};
constexpr Field kIn[] = {{" in=", Kind::Operand}};
constexpr Field kElementwise[] = {{" X=", Kind::Operand},
                                  {" Y=", Kind::Operand},
                                  {" axis=", Kind::Attribute, "axis"},
                                  {" out=", Kind::Result}};
constexpr Field kJoin[] = {
    {" in=", Kind::Operands}, {" axis=", Kind::Attribute, "axis"}, {" out=", Kind::Result}};
constexpr Field kYoloBox[] = {{" in=", Kind::Operand},
                              {" out=", Kind::Result},
                              {" class_num=", Kind::Attribute, "class_num"}};
constexpr Field kPriorBox[] = {{" in=", Kind::Operand},
                               {" out=", Kind::Result},
                               {" aspect_ratios=", Kind::Attribute, "aspect_ratios"},
                               {" max_sizes=", Kind::Attribute, "max_sizes"},
                               {" min_sizes=", Kind::Attribute, "min_sizes"}};
constexpr Field kSlice[] = {{" in=", Kind::Operand}, {" axes=", Kind::Attribute, "axes"}};
constexpr Field kExp[] = {{" in=", Kind::Operand},
                          {" out=", Kind::Result},
                          {" axes=", Kind::Attribute, "axes"},
                          {" decrease_axis=", Kind::Attribute, "decrease_axis"},
                          {" ends=", Kind::Attribute, "ends"}};
constexpr Field kSuppression[] = {{" boxs=", Kind::Operand},
                                  {" scores=", Kind::Operand},
                                  {" keep_top_k=", Kind::Attribute, "keep_top_k"},
                                  {" nms_top_k=", Kind::Attribute, "nms_top_k"}};
constexpr Field kFc[] = {
    {" in=", Kind::Operand}, {" weight=", Kind::Weights}, {" out=", Kind::Result}};
constexpr Field kShuffle[] = {
    {" in=", Kind::Operand}, {" group=", Kind::Attribute, "group"}, {"  out=", Kind::Result}};
constexpr Field kSplit[] = {{" in=", Kind::Operand},
                            {" axis=", Kind::Attribute, "axis"},
                            {" sections=", Kind::Attribute, "sections"}};
constexpr Field kSqueeze[] = {
    {" in=", Kind::Operand}, {" axes=", Kind::Attribute, "axes"}, {"  out=", Kind::Result}};
constexpr Field kFlatten[] = {{" in=", Kind::Operand},
                              {" start_axis=", Kind::Attribute, "start_axis"},
                              {" stop_axis=", Kind::Nothing, "stop_axis"},
                              {" out=", Kind::Result}};
constexpr Field kSum[] = {{" X=", Kind::Operand}, {" Y=", Kind::Operand}, {"  out=", Kind::Result}};
constexpr Field kUniform[] = {{" shape=", Kind::Attribute, "shape"}};
constexpr Field kCompare[] = {
    {" X=", Kind::Operand}, {" Y=", Kind::Operand}, {" out=", Kind::Result}};
constexpr Field kReduce[] = {
    {" in=", Kind::Operand}, {" out=", Kind::Result}, {" dim=", Kind::Attribute, "dim"}};
constexpr Field kPad3d[] = {
    {" in=", Kind::Operand}, {" out=", Kind::Result}, {" paddings=", Kind::Attribute, "paddings"}};
constexpr Field kArgMax[] = {
    {" in=", Kind::Operand}, {" axis=", Kind::Attribute, "axis"}, {"  out=", Kind::Result}};
constexpr Field kFillLike[] = {
    {" in=", Kind::Operand}, {" shape=", Kind::Attribute, "shape"}, {"  out=", Kind::Result}};

/// The first that fits counts, as in the original: "conv2d" within a type comes before what
/// follows.
constexpr Rule kRules[] = {
    {"sparse_conv2d", kSparseConv},
    {"conv2d", kConv, true},
    {"matmul", kMatmul},
    {"matmul_v2", kMatmul},
    {"batch_norm", kInOut, true},
    {"layer_norm", kInOut, true},
    {"pool2d", kPool, true},
    {"hard_swish", kInOut},
    {"relu", kInOut},
    {"leaky_relu", kInOut},
    {"tanh", kInOut},
    {"swish", kInOut},
    {"softmax", kInOut},
    {"hard_sigmoid", kInOut},
    {"sigmoid", kInOut},
    {"gelu", kInOut},
    {"clip", kInOut},
    {"shape", kInOut},
    {"sqrt", kInOut},
    {"transpose", kInOut, true},
    {"interp_v2", kInOut, true},
    {"fill_constant", {}},
    {"range", {}},
    {"cast", {}},
    {"expand", {}, true},
    {"scale", kInOut},
    {"reshape", kInOut, true},
    {"elementwise", kElementwise, true},
    {"concat", kJoin},
    {"yolo_box", kYoloBox},
    {"prior_box", kPriorBox},
    {"slice", kSlice},
    {"stack", kJoin},
    {"exp", kExp},
    {"multiclass_nms3", kSuppression},
    {"matrix_nms", kSuppression},
    {"dropout", kIn},
    {"fc", kFc},
    {"shuffle_channel", kShuffle},
    {"split", kSplit},
    {"unsqueeze2", kSqueeze},
    {"squeeze2", kSqueeze},
    {"flatten_contiguous_range", kFlatten},
    {"sum", kSum},
    {"calib", kInOut},
    {"floor", kInOut},
    {"uniform_random", kUniform},
    {"greater_equal", kCompare},
    {"reduce_mean", kReduce},
    {"pad3d", kPad3d, true},
    {"arg_max", kArgMax},
    {"fill_constant_batch_size_like", kFillLike},
    {"rnn", kInOut},
};

}  // namespace

const Rule* rule_of(std::string_view type) {
  const auto found = std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& rule) {
    return rule.part ? type.find(rule.type) != std::string_view::npos : type == rule.type;
  });
  return found == std::end(kRules) ? nullptr : &*found;
}

}  // namespace oplat::compat::paddleslim::templates
