// SPDX-License-Identifier: Apache-2.0
/// oplat tinynas convs STRUCTURE
#include <memory>

#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/tinynas/commands.hpp"
#include "compat/tinynas/conv_document.hpp"

namespace oplat::cli {
namespace {

namespace tinynas = compat::tinynas;

struct TinynasConvsFlags {
  std::string structure;
  std::int64_t resolution = 224;
  std::string rules = "corrected";
  FormOptions form;
};

Result<int> run_tinynas_convs(const TinynasConvsFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, {flags.structure}));
  OPLAT_TRY(source, base::Source::open(flags.structure));
  OPLAT_TRY(structure, tinynas::read_structure(source));
  const tinynas::Rules rules = *tinynas::parse_rules(flags.rules);
  OPLAT_TRY(convs, tinynas::convolutions(structure, flags.resolution, rules));
  OPLAT_CHECK(print_report(
      flags.form,
      report::ReportModel{std::make_shared<const tinynas::ConvListDocument>(
                              flags.structure, flags.resolution, rules, std::move(convs)),
                          {}}));
  return kDone;
}

}  // namespace

void add_tinynas_convs(const Command& group) {
  const Command command =
      group.add_subcommand("convs", "list the convolutions of a network structure");
  const auto flags = std::make_shared<TinynasConvsFlags>();
  command
      .add_option("STRUCTURE", flags->structure,
                  "structure file: a Python literal of block dictionaries")
      .required();
  command.add_option("--resolution", flags->resolution, "height and width of the input image")
      .range(std::int64_t{1}, std::int64_t{1'000'000})
      .capture_default_str();
  command
      .add_option(
          "--rules", flags->rules,
          "how to count: original (as op_profiler does) or corrected (what the network executes)")
      .one_of({"original", "corrected"})
      .capture_default_str();
  add_form<report::ForeignReport>(command, flags->form);
  command.footer({R"(
Prints one convolution a line, with tabs between the fields: Conv_type Stride ElmtFused Kernel Batch
In_C In_H Out_C. The batch is 1. A grouped convolution, which the original refuses, gets a ninth
field group=G.
--rules original divides sizes by strides, counts squeeze and excitation at full size and all that
follows at 1x1, and exits with 3 where the original raises. --rules corrected counts squeeze and
excitation at 1x1 and keeps the size. A convolution is fused only where the network adds its input.
Exit codes: 0 done; 2 usage; 3 the file is missing, not a structure, or has a block that cannot be
counted.
Example: oplat tinynas convs R50.txt --resolution 224 --rules original)"});
  command.runs([flags] { return run_tinynas_convs(*flags); });
}

}  // namespace oplat::cli
