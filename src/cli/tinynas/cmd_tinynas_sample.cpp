// SPDX-License-Identifier: Apache-2.0
/// oplat tinynas sample CONFIG
#include <memory>

#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "cli/tinynas/commands.hpp"
#include "compat/tinynas/op_profiler.hpp"

namespace oplat::cli {
namespace {

namespace tinynas = compat::tinynas;

struct TinynasSampleFlags {
  std::string config;
  std::optional<std::int64_t> bits;
  std::int64_t channel_multiple = tinynas::SamplingRules{}.channel_multiple;
  std::string out;
  bool quiet = false;
};

Result<int> run_tinynas_sample(const TinynasSampleFlags& flags) {
  if (flags.bits && flags.out.empty())
    return fail(Code::Usage, "--nbits {}: is part of a file's name; also set --out FILE",
                *flags.bits);
  OPLAT_TRY(source, base::Source::open(flags.config));
  OPLAT_TRY(space, tinynas::read_sampling_space(source));
  auto samples = tinynas::sample(space, {flags.channel_multiple});
  if (!samples) return fail_in(flags.config, samples.error());
  std::string text;
  for (const compat::tinynas::ConvTuple& conv : *samples) text += tinynas::sample_text(conv) + "\n";
  const std::string file = flags.out.empty() || !flags.bits
                               ? flags.out
                               : fmt::format("{}.int{}.txt", flags.out, *flags.bits);
  OPLAT_CHECK(refuse_to_replace(file, flags.config));
  OPLAT_CHECK(put_text(file, text));
  if (!flags.quiet) {
    print_message(fmt::format("{} samples{}", samples->size(),
                              file.empty() ? "" : fmt::format(" in {}", file)));
    if (samples->empty()) {
      print_message(
          fmt::format("warning: no combination satisfies the rules; use --channel-multiple 1 to "
                      "drop the rule about multiples of {}",
                      flags.channel_multiple));
    }
  }
  return kDone;
}

}  // namespace

void add_tinynas_sample(const Command& group) {
  const Command command =
      group.add_subcommand("sample", "list the convolutions of a search space that need measuring");
  const auto flags = std::make_shared<TinynasSampleFlags>();
  command
      .add_option("CONFIG", flags->config,
                  "search space in the form of the original's config.in: lines 'key value ...'")
      .required();
  command.add_option("--out", flags->out, "file to write (default: standard output)")
      .type_name("FILE");
  command
      .add_option("--nbits", flags->bits,
                  "add the original's suffix to the file's name: FILE.intN.txt")
      .range(1, 64);
  command
      .add_option("--channel-multiple", flags->channel_multiple,
                  "keep only channel counts that are multiples of this number (1 keeps all)")
      .range(std::int64_t{1}, std::int64_t{1'000'000})
      .capture_default_str();
  command.add_flag("--quiet", flags->quiet, "print no count on stderr");
  command.footer({R"(
Prints the original's list, in its order and with its duplicates: lines 'Conv_type Batch In_C In_H
In_W Out_C Kernel Stride ElmtFused 0'. Keys of CONFIG: batch, elmt_fused, filter_size,
min_feature_size, max_feature_size, number_feature_size, output_channel, stride, type (0 Regular, 1
Depthwise), channel_ratio (In_C / Out_C). The original keeps only channel counts that are multiples
of 32. That rule of one device also drops In_C = 3, the first layer of every network.
Exit codes: 0 done; 2 usage; 3 the configuration is missing or malformed; 8 could not write.
Example: oplat tinynas sample config.in --channel-multiple 1 --out samples.txt)"});
  command.runs([flags] { return run_tinynas_sample(*flags); });
}

}  // namespace oplat::cli
