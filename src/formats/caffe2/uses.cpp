// SPDX-License-Identifier: Apache-2.0
/// Blobs from outside a net.
#include "formats/caffe2/uses.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "formats/caffe2/operators.hpp"

namespace oplat::formats::caffe2 {
namespace {

/// Int8 operators read bytes, but for their biases and what is yet to be quantised.
ir::Dtype expected_dtype(std::string_view op, int operand) {
  if (!op.starts_with("Int8") || op == "Int8Quantize") return ir::Dtype::F32;
  return is_caffe2_parameter(op, static_cast<std::size_t>(operand)) && operand == 2 ? ir::Dtype::I32
                                                                                    : ir::Dtype::U8;
}

/// Of operands, results or arguments of one operator; the largest Concat of real nets joins some
/// hundreds.
constexpr int kMaxParts = 4096;

Status check_operator(const std::string& file, const wire::Net& net, int i) {
  const wire::Operator& op = net.op(i);
  if (op.type().empty()) return fail(Code::Input, "{}: operator {} has no type", file, i);
  if (op.input_size() > kMaxParts || op.output_size() > kMaxParts || op.arg_size() > kMaxParts) {
    return fail(Code::Input,
                "{} has {} operands, {} results and {} arguments; the limit is {} each",
                place(file, net, i), op.input_size(), op.output_size(), op.arg_size(), kMaxParts);
  }
  std::set<std::string> outputs;
  for (const std::string& blob : op.output()) {
    if (blob.empty())
      return fail(Code::Input, "{} writes a blob without a name", place(file, net, i));
    if (!outputs.insert(blob).second) {
      return fail(Code::Input, "{} writes '{}' twice", place(file, net, i), base::printable(blob));
    }
  }
  return {};
}

}  // namespace

std::string place(const std::string& file, const wire::Net& net, int op) {
  return fmt::format("{}: operator {} ({})", file, op, base::printable(net.op(op).type()));
}

Result<Uses> uses_of(const std::string& file, const wire::Net& net, const Companions& companions) {
  const std::set<std::string> listed(net.external_input().begin(), net.external_input().end());
  std::map<std::string, int> first_writer;
  for (int i = 0; i < net.op_size(); ++i) {
    for (const std::string& blob : net.op(i).output()) first_writer.emplace(blob, i);
  }
  Uses uses;
  std::set<std::string> written;
  std::vector<std::string> read;
  for (int i = 0; i < net.op_size(); ++i) {
    OPLAT_CHECK(check_operator(file, net, i));
    const wire::Operator& op = net.op(i);
    for (int operand = 0; operand < op.input_size(); ++operand) {
      const std::string& blob = op.input(operand);
      if (written.contains(blob)) continue;
      const bool filled = companions.parameters.contains(blob);
      const auto writer = first_writer.find(blob);
      if (!listed.contains(blob) && !filled && writer != first_writer.end()) {
        return fail(Code::Input,
                    "{} reads '{}', which only operator {} writes: the operators are not in order "
                    "of execution",
                    place(file, net, i), base::printable(blob), writer->second);
      }
      // A net that lists no inputs at all leaves them to the reader.
      if (blob.empty() || (!listed.contains(blob) && !filled && !listed.empty())) {
        return fail(Code::Input,
                    "{} reads '{}', which no operator writes and the net does not list as an input",
                    place(file, net, i), base::printable(blob));
      }
      const auto [use, added] = uses.from_outside.try_emplace(blob);
      if (added) use->second.dtype = expected_dtype(op.type(), operand);
      if (added && !listed.contains(blob)) read.push_back(blob);
      use->second.only_first = use->second.only_first && operand == 0;
      use->second.only_parameter =
          use->second.only_parameter &&
          is_caffe2_parameter(op.type(), static_cast<std::size_t>(operand));
    }
    written.insert(op.output().begin(), op.output().end());
  }
  std::set<std::string> placed;
  for (const std::string& blob : net.external_input()) {
    if (uses.from_outside.contains(blob) && placed.insert(blob).second) uses.order.push_back(blob);
  }
  uses.order.insert(uses.order.end(), read.begin(), read.end());
  return uses;
}

}  // namespace oplat::formats::caffe2
