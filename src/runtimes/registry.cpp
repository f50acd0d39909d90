// SPDX-License-Identifier: Apache-2.0
/// The runtimes that this executable can be a worker of.
#include <algorithm>

#include "runtimes/protocol.hpp"
#include "runtimes/reference/reference.hpp"
#include "runtimes/replay/replay.hpp"
#ifdef OPLAT_WITH_ONNXRUNTIME
#include "runtimes/onnxruntime/onnxruntime.hpp"
#endif

namespace oplat::runtimes {

const std::vector<RuntimeEntry>& runtimes() {
  static const std::vector<RuntimeEntry> entries{
#ifdef OPLAT_WITH_ONNXRUNTIME
      {"onnxruntime", "ONNX Runtime, CPU", "pip install onnxruntime", create_onnxruntime},
#endif
      {"mnn",
       "MNN, CPU",
       "python3 -m venv .venv-mnn && .venv-mnn/bin/pip install MNN==3.6.1",
       nullptr,
       {},
       true},
      {"paddle",
       "Paddle Inference, CPU, with or without oneDNN",
       "python3 -m venv .venv-paddle && .venv-paddle/bin/pip install paddlepaddle==3.3.1",
       nullptr,
       {},
       true},
      {"qnnpack", "QNNPACK behind libtorch, CPU: Caffe2's int8 operators",
       "apt-get install libtorch-dev && scripts/build release", nullptr, "oplat-qnnpack"},
      {"reference", "plain loops over single operators, for checks", "", create_reference},
      {"replay",
       "answers from a recorded table: replay TABLE [device=NAME] [runtime=NAME] [version=V]", "",
       create_replay},
  };
  return entries;
}

const RuntimeEntry* find_runtime(std::string_view name) {
  const auto& entries = runtimes();
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const auto& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace oplat::runtimes
