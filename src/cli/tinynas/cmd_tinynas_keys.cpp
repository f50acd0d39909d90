// SPDX-License-Identifier: Apache-2.0
/// oplat tinynas keys SAMPLES
#include <memory>

#include "app/session.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "cli/tinynas/commands.hpp"
#include "compat/tinynas/executed_conv.hpp"
#include "compat/tinynas/op_profiler.hpp"

namespace oplat::cli {
namespace {

namespace tinynas = compat::tinynas;

constexpr std::int64_t kBlockWithAvx512 = 16;
constexpr std::int64_t kBlockElse = 8;

struct TinynasKeysFlags {
  std::string samples;
  std::string out;
  std::int64_t block = 0;  ///< 0: this machine's
  bool skip_others = false;
  Verbosity verbosity;
};

/// As the runtime's kernel library chooses; see the planner of its worker.
Result<std::int64_t> block_of_this_machine(const Verbosity& verbosity) {
  app::RuntimeRequest request;
  request.runtime = "onnxruntime";
  TerminalEvents events(verbosity);
  const auto session = app::start_session(request, events);
  if (!session)
    return fail(session.error().code, "{}; or set --block 16 (with AVX-512) or --block 8",
                session.error().message);
  return session->device.isa.find("avx512f") != std::string::npos ? kBlockWithAvx512 : kBlockElse;
}

Result<int> run_tinynas_keys(const TinynasKeysFlags& flags) {
  OPLAT_CHECK(refuse_to_replace(flags.out, flags.samples));
  OPLAT_TRY(source, base::Source::open(flags.samples));
  OPLAT_TRY(samples, tinynas::read_conv_list(source));
  if (samples.empty()) return fail(Code::Input, "{}: holds no samples", flags.samples);
  std::int64_t block = flags.block;
  if (block == 0) {
    OPLAT_TRY(own, block_of_this_machine(flags.verbosity));
    block = own;
  }
  OPLAT_TRY(keys, compat::tinynas::executed_keys(samples, flags.samples, block, flags.skip_others));
  OPLAT_CHECK(put_text(flags.out, keys.text));
  if (!flags.verbosity.quiet) {
    print_message(
        fmt::format("{} keys of {} samples{}", keys.count, samples.size(),
                    keys.left_out > 0 ? fmt::format(", {} left out", keys.left_out) : ""));
  }
  return kDone;
}

}  // namespace

void add_tinynas_keys(const Command& group) {
  const Command command = group.add_subcommand(
      "keys", "list the keys of the ONNX Runtime kernels that execute samples");
  const auto flags = std::make_shared<TinynasKeysFlags>();
  command
      .add_option("SAMPLES", flags->samples,
                  "samples, a library or a list of tuples; one convolution a line")
      .required();
  command.add_option("--out", flags->out, "file to write (default: standard output)")
      .type_name("FILE");
  command
      .add_option("--block", flags->block,
                  "channels in a block: 16 with AVX-512, else 8 (default: that of this machine)")
      .one_of({std::to_string(kBlockElse), std::to_string(kBlockWithAvx512)});
  command.add_flag("--skip-others", flags->skip_others,
                   "skip samples that no such kernel executes");
  add_verbosity(command, flags->verbosity);
  command.footer({R"(
Prints one key a line, for 'oplat profile --keys'. Each convolution is as it appears inside a
network on a CPU: channels in blocks, normalisation folded in, Relu at its end, and the residual
added in place where fused. 'oplat export --format tinynas' writes the measured rows as a library.
Exit codes: 0 done; 2 usage; 3 the samples are missing or malformed; 4 a sample that another kernel
executes; 5 ONNX Runtime, which knows the size of blocks, is not installed; 8 could not write.
Example: oplat tinynas keys samples.txt --out keys.txt &&
         oplat profile --keys keys.txt --runtime onnxruntime --table t.oplat)"});
  command.runs([flags] { return run_tinynas_keys(*flags); });
}

}  // namespace oplat::cli
