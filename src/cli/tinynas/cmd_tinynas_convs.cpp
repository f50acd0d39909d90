// SPDX-License-Identifier: Apache-2.0
/// oplat tinynas convs STRUCTURE
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/text_output.hpp"
#include "cli/tinynas/commands.hpp"
#include "compat/tinynas/op_profiler.hpp"

namespace oplat::cli {
namespace {

namespace tinynas = compat::tinynas;

struct TinynasConvsFlags {
  std::string structure;
  std::int64_t resolution = 224;
  std::string rules = "corrected";
  bool json = false;
};

void print_json_document(const TinynasConvsFlags& flags,
                         const std::vector<tinynas::NamedConv>& convs) {
  nlohmann::ordered_json document;
  document["schema"] = "oplat.tinynas.convs/1";
  document["structure"] = flags.structure;
  document["resolution"] = flags.resolution;
  document["rules"] = flags.rules;
  document["convs"] = nlohmann::ordered_json::array();
  for (const tinynas::NamedConv& one : convs) {
    const compat::tinynas::ConvTuple& conv = one.conv;
    nlohmann::ordered_json entry;
    entry["name"] = one.name;
    entry["tuple"] = {compat::tinynas::name(conv.type),
                      conv.stride,
                      conv.fused ? 1 : 0,
                      conv.kernel,
                      conv.batch,
                      conv.in_c,
                      conv.in_h,
                      conv.out_c};
    entry["group"] = conv.group;
    document["convs"].push_back(std::move(entry));
  }
  print_json(document);
}

Result<int> run_tinynas_convs(const TinynasConvsFlags& flags) {
  OPLAT_TRY(source, base::Source::open(flags.structure));
  OPLAT_TRY(structure, tinynas::read_structure(source));
  OPLAT_TRY(convs,
            tinynas::convolutions(structure, flags.resolution, *tinynas::parse_rules(flags.rules)));
  if (flags.json) {
    print_json_document(flags, convs);
    return kDone;
  }
  std::string text;
  for (const tinynas::NamedConv& one : convs) text += tinynas::tuple_text(one.conv) + "\n";
  OPLAT_CHECK(put_text("", text));
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
  command.add_flag("--json", flags->json, "print JSON, with the place of each convolution");
  command.footer(
      R"(
Prints one convolution a line, with tabs between the fields: Conv_type Stride ElmtFused Kernel Batch
In_C In_H Out_C. The batch is 1. A grouped convolution, which the original refuses, gets a ninth
field group=G.
--rules original divides sizes by strides, counts squeeze and excitation at full size and all that
follows at 1x1, and exits with 3 where the original raises. --rules corrected counts squeeze and
excitation at 1x1 and keeps the size. A convolution is fused only where the network adds its input.
Exit codes: 0 done; 2 usage; 3 the file is missing, not a structure, or has a block that cannot be
counted.
Example: oplat tinynas convs R50.txt --resolution 224 --rules original)");
  command.runs([flags] { return run_tinynas_convs(*flags); });
}

}  // namespace oplat::cli
