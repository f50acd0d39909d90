// SPDX-License-Identifier: Apache-2.0
/// oplat tinynas onnx STRUCTURE
#include <filesystem>
#include <memory>

#include "base/folders.hpp"
#include "base/without_repeats.hpp"
#include "cli/exit_code.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/tinynas/commands.hpp"
#include "compat/tinynas/op_profiler.hpp"

namespace oplat::cli {
namespace {

namespace tinynas = compat::tinynas;

struct TinynasOnnxFlags {
  std::string structure;
  std::int64_t resolution = 224;
  std::vector<std::int64_t> batches = {1};
  std::string folder;
};

Result<int> run_tinynas_onnx(const TinynasOnnxFlags& flags) {
  OPLAT_TRY(source, base::Source::open(flags.structure));
  OPLAT_TRY(structure, tinynas::read_structure(source));
  const std::filesystem::path folder(flags.folder);
  const std::string stem = std::filesystem::path(flags.structure).stem().string();
  for (const std::int64_t batch : base::without_repeats(flags.batches)) {
    OPLAT_TRY(bytes, tinynas::structure_model(structure, flags.resolution, batch));
    OPLAT_CHECK(base::make_folder(flags.folder));
    const std::string file = (folder / fmt::format("{}_bs{}.onnx", stem, batch)).string();
    OPLAT_CHECK(base::write_file(file, bytes));
    OPLAT_CHECK(put_text("", file + "\n"));
  }
  return kDone;
}

}  // namespace

void add_tinynas_onnx(const Command& group) {
  const Command command = group.add_subcommand("onnx", "write a network structure as ONNX models");
  const auto flags = std::make_shared<TinynasOnnxFlags>();
  command
      .add_option("STRUCTURE", flags->structure,
                  "structure file: a Python literal of block dictionaries")
      .required();
  command.add_option("--resolution", flags->resolution, "height and width of the input image")
      .range(std::int64_t{1}, std::int64_t{1'000'000})
      .capture_default_str();
  command.add_option("--batch", flags->batches, "batch sizes, with one model for each: 1,8,32")
      .comma_separated()
      .repeatable()
      .range(std::int64_t{1}, std::int64_t{1'000'000})
      .capture_default_str();
  command.add_option("--out", flags->folder, "folder to write into").type_name("DIR").required();
  command.footer({R"(
Writes DIR/NAME_bsN.onnx for each batch N and prints the names. NAME is the name of the structure
file without its extension. The models compute in float32. Weights are random, and the same in every
run. A stride-2 shortcut is pooled as in the network; at an odd size the pool keeps the remainder,
where PyTorch's network could not run.
Exit codes: 0 done; 2 usage; 3 the file is missing, not a structure, or a network that cannot run; 8
could not write.
Example: oplat tinynas onnx R50.txt --resolution 224 --batch 1,8 --out models)"});
  command.runs([flags] { return run_tinynas_onnx(*flags); });
}

}  // namespace oplat::cli
