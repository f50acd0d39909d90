// SPDX-License-Identifier: Apache-2.0
/// What TinyNAS's op_profiler reads and writes besides its library: network structures and the
/// convolutions in them, lists of convolutions, samples of a space, device logs, and what measures
/// samples with TensorRT.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "compat/tinynas/conv_tuple.hpp"

namespace oplat::compat::tinynas {

// ---- Structures: a Python literal of block dictionaries.

/// What an inner block is made of; a Super block repeats one of them `repeat` times.
enum class BlockKind : std::uint8_t {
  Conv,    ///< ConvKXBN, ConvKXBNRELU: one convolution
  KxKx,    ///< two kxk
  K1Kx,    ///< 1x1, kxk
  K1KxK1,  ///< 1x1, kxk, 1x1
  K1DwK1,  ///< 1x1, depthwise kxk, [squeeze and excitation], 1x1
};

enum class Activation : std::uint8_t { Relu, Relu6, Swish, Sigmoid, LeakyRelu };

/// One dictionary of the list, checked.
struct Block {
  std::size_t index = 0;   ///< in the list, from 0
  std::size_t line = 0;    ///< of the file, from 1
  std::string class_name;  ///< as written
  BlockKind kind = BlockKind::Conv;
  bool squeeze_excite = false;
  bool three_d = false;   ///< of a network of videos; kt, its extent in time, is not in any tuple
  bool activates = true;  ///< all but ConvKXBN do
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t repeat = 1;  ///< L; the first inner block takes stride and `in`, the others neither
  std::int64_t bottleneck = 0;          ///< btn; 0 where the kind has none
  std::int64_t group = 1;               ///< g; a depthwise convolution has its own
  std::optional<std::int64_t> padding;  ///< p; else (kernel - 1) / 2
  bool force_projection = false;        ///< of the first inner block
  Activation activation = Activation::Relu;
  /// What the original raises when it reads this block, where it does.
  std::optional<std::string> original_raises;
};

struct Structure {
  std::string name;  ///< the file's, for messages
  std::vector<Block> blocks;
};

/// The structure that a file holds, of several 'best_structures' the first. Code::Input with line
/// and column of a text that is not a literal, or with the number of the block that is off.
Result<Structure> read_structure(const base::Source& source);

/// How a structure becomes convolutions.
enum class Rules : std::uint8_t {
  Original,   ///< as op_profiler counts, its defects included: what it cannot count is Code::Input
  Corrected,  ///< what the network executes
};
std::string_view name(Rules rules);
/// "original", "corrected".
std::optional<Rules> parse_rules(std::string_view text);

struct NamedConv {
  std::string name;  ///< of the place in the network: "block1.2.conv3", "block1.0.projection",
                     ///< "block2.0.se1"
  ConvTuple conv;
};

/// The convolutions of one image of resolution x resolution, in the order in which the original
/// counts them; batch 1. Code::Input names the block that cannot be counted.
Result<std::vector<NamedConv>> convolutions(const Structure& structure, std::int64_t resolution,
                                            Rules rules);

/// One line of the original's form of a tuple, no line end: Conv_type Stride ElmtFused Kernel Batch
/// In_C In_H Out_C, separated by tabs.
std::string tuple_text(const ConvTuple& conv);

/// The network as an ONNX model: Conv, BatchNormalization, activation, Add, pooled projections,
/// squeeze and excitation; weights random and seeded. The input is called "input", float32, [batch,
/// channels, resolution, resolution].
Result<std::string> structure_model(const Structure& structure, std::int64_t resolution,
                                    std::int64_t batch);

// ---- Lists of convolutions.

/// One line of a list.
struct ListedConv {
  ConvTuple conv;
  std::optional<double> ms;  ///< the time next to it; std::nullopt if there is none. -1 of a
                             ///< failed profile stays -1
  std::size_t line = 0;      ///< from 1
  bool library_row = false;  ///< in the library's form, whose time is that of its own batch
};

/// Reads any of the original's lists, told apart line by line; empty lines and lines that begin
/// with # are skipped:
///   library  {Regular,1,16,5,5,8,1,1,0} 0.011776
///   sample   Regular 1 16 5 5 8 1 1 0 0          (ten fields, the last 0; one size for In_H and
///   In_W) tests    Regular 1 0 1 1 16 5 8 [ms]         (tabs or blanks; group=G before or behind
///   the time)
/// Code::Input names file, line, what was found and what was expected.
Result<std::vector<ListedConv>> read_conv_list(const base::Source& source);

// ---- Sampling a space.

/// config.in.
struct SamplingSpace {
  std::vector<std::int64_t> batch;
  std::vector<std::int64_t> fused;
  std::vector<std::int64_t> kernel;
  std::int64_t min_size = 0;
  std::int64_t max_size = 0;
  std::int64_t sizes = 0;
  std::vector<std::int64_t> out_c;
  std::vector<std::int64_t> stride;
  std::vector<std::int64_t> type;  ///< 0 Regular, 1 Depthwise
  std::vector<double> ratio;       ///< In_C / Out_C
};

struct SamplingRules {
  /// The original samples for a device whose channels come in multiples of 32, and so never In_C
  /// = 3.
  std::int64_t channel_multiple = 32;
};

Result<SamplingSpace> read_sampling_space(const base::Source& source);
/// The input sizes of a space, ascending.
std::vector<std::int64_t> size_grid(const SamplingSpace& space);
/// The samples in the original's order, duplicates kept. Code::Input above 10,000,000.
Result<std::vector<ConvTuple>> sample(const SamplingSpace& space, const SamplingRules& rules);
/// "Regular 1 3 224 224 32 3 2 0 0", no line end.
std::string sample_text(const ConvTuple& conv);
/// "{Regular,1,3,224,224,32,3,2,0}", the key of a library line.
std::string library_key_text(const ConvTuple& conv);

// ---- Device logs.

struct CollectedLog {
  std::string library;       ///< lines `{...} ms`, six decimals, -1 where no time came
  std::size_t samples = 0;   ///< lines of the library
  std::size_t failed = 0;    ///< of them -1
  std::size_t repeated = 0;  ///< samples whose first try left no time and that were tried again
  /// what was odd and did no harm, with line numbers; at most 20, then a count
  std::vector<std::string> notes;
  /// lines that announce a sample and hold none, with line numbers and reasons; as many
  std::vector<std::string> bad;
};

/// Pairs `iter-N: SAMPLE` with the `run time_ms: X ms` or the `failed: REASON` that follows it;
/// other lines are the measured program's own. A sample without a time is a failed row; one that
/// comes again under its number after a try without a time takes its place. Any line with `iter-`
/// in it ends the sample before it, be it understood or not, so that no time goes to the wrong one.
CollectedLog collect_log(const base::Source& source);

// ---- TensorRT.

/// One convolution with batch normalisation and ReLU (and the sum with a second input where fused)
/// as an ONNX model. Code::Input if In_H differs from In_W, which is not a sample.
Result<std::string> sample_model(const ConvTuple& conv);
/// Bytes of its weights.
double sample_weight_bytes(const ConvTuple& conv);
/// Flags of trtexec for "FP32", "FP16", "FP16_DAMOYOLO" and "INT8" (any case); std::nullopt for
/// another word.
std::optional<std::string> trtexec_flags(std::string_view precision);
/// One line of what the script measures: "iter-12: Regular 1 3 224 224 32 3 2 0 0".
std::string iteration_text(std::size_t number, const ConvTuple& conv);
/// A POSIX shell script next to models/sample-N.onnx and samples.txt (a line iteration_text() each)
/// that runs trtexec on every model and appends to log.txt; run again, it goes on where it stopped.
/// `library`: the file that it names for what is collected.
std::string bench_script(std::string_view precision_flags, std::string_view library);

}  // namespace oplat::compat::tinynas
