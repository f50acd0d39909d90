// SPDX-License-Identifier: Apache-2.0
/// What the two forms of Paddle's programs have in common, and one function per step of reading
/// them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "formats/format_reader.hpp"
#include "ir/key.hpp"

namespace oplat::formats::paddle {

using Dims = std::vector<std::int64_t>;

/// A variable as its program describes it.
struct Variable {
  bool tensor = true;  ///< lists of feeds and fetches, scopes and readers are none
  bool persistable = false;
  bool stored = true;  ///< of a persistable one: its value is in the parameters' file
  bool fed = false;    ///< marked as input data
  std::optional<ir::Dtype> dtype;
  Dims dims;  ///< -1 where open
};

/// The variables of one parameter.
struct Argument {
  std::string slot;
  std::vector<std::string> variables;
};

struct Operator {
  std::string type;
  std::string shown;  ///< as the file spells it, for messages; empty where that is the type
  std::vector<Argument> inputs;
  std::vector<Argument> outputs;
  std::vector<ir::NamedValue> attributes;           ///< sorted by name
  std::vector<std::pair<std::string, int>> bodies;  ///< attribute and index of a block
};

struct Block {
  int parent = -1;
  std::map<std::string, Variable, std::less<>> variables;
  std::vector<Operator> operators;
};

/// In the words of ProgramDesc, whichever form the file has. Block 0 is the main one.
struct Program {
  std::vector<Block> blocks;
};

/// Bounds that no real program comes near.
inline constexpr std::int64_t kMaxDim = std::int64_t{1} << 30;
inline constexpr std::size_t kMaxRank = 16;
inline constexpr std::size_t kMaxOperators = 200'000;
inline constexpr std::size_t kMaxVariables = 1'000'000;
inline constexpr std::size_t kMaxParts = 4096;  ///< operands, results or attributes of one operator
inline constexpr std::size_t kMaxBodies = 256;

/// How sure one can be that the bytes are a program, 0 to 100.
int probe_desc(std::string_view bytes);
int probe_pir(std::string_view bytes);
/// Code::Input naming the place where the bytes stop making sense.
Result<Program> parse_desc(const std::string& name, const std::string& bytes);
Result<Program> parse_pir(const std::string& name, const std::string& bytes);
/// Whichever the bytes are.
Result<Program> parse_program(const std::string& name, const std::string& bytes);

/// Type of an element by its number in VarType; std::nullopt if it is none of a tensor's.
std::optional<ir::Dtype> dtype_of(int number);
std::optional<int> number_of(ir::Dtype dtype);
/// Whether an attribute says something of the computation, and can be told in a key.
bool is_telling(std::string_view op, const ir::NamedValue& attribute);

/// Whether the parameters' file holds it.
bool is_parameter(const Variable& variable);
/// Bytes of one tensor as Paddle saves it: version, level of detail, version, length and text of
/// its description, elements. std::nullopt if no such tensor can be.
std::optional<std::uint64_t> stored_bytes(const Variable& variable);
/// Names of the files with parameters next to the program.
std::vector<std::string> parameter_files(const base::Source& source, const Program& program);
/// Code::Input if the parameters' file is not as long as the program's parameters are, or none
/// of them is one.
Status check_parameters(const base::Source& source, const Program& program);

/// "net.pdmodel: operator 3 (conv2d)"
std::string place(const std::string& file, std::size_t index, const Operator& op);
/// "[-1,3,224,224]"
std::string dims_text(const Dims& dims);

}  // namespace oplat::formats::paddle
