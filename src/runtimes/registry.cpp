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
namespace {

/// What a 90 % interval needs to hold networks like those of a page of docs/results: the ceil((n +
/// 1) * 0.9)-th smallest of n |log(predicted / measured)|, nothing fitted, over 1.645, the normal
/// distribution's 95 % quantile. For up to 18 networks that is the largest of them.
/// MNN, 1 thread: 14 networks, the largest 0.201 (efficientnet_b0), of a first, short measurement.
/// Later ones (mnn.md) found 0.061 and 0.045, hot rows on Zen 4 0.131 (experiments-workers.md).
constexpr double kMnnSd = 0.201 / 1.645;
/// 2 threads: 14 networks on each of two machines, Zen 5 (mnn-2-threads.md) and Zen 4
/// (experiments-workers.md). The 27th of 28 is 0.240, shufflenet_v2_x1_0 on Zen 4.
constexpr double kMnnTwoThreadsSd = 0.240 / 1.645;
/// A guess: networks with more threads took 1.5 to 3 times as long as their kernels, all of them
/// under load (docs/adr/0047-mnn-worker.md), so 90 % are within a factor of three.
constexpr double kMnnUnseenSd = 0.7;
/// paddle.md, 1 thread, oneDNN on: 10 networks, the largest 0.397 (mobilenet_v3_small).
constexpr double kPaddleSd = 0.397 / 1.645;
/// A guess: other settings are not better.
constexpr double kPaddleUnseenSd = kPaddleSd;

/// Fits of all networks of one machine found 0.010 to 0.021 (Zen 4: quiet, busy, two threads),
/// 0.012 (a large Xeon) and 0.012 (Zen 5, 76 networks, rows of 2026-11-29); 0 with rows of before
/// docs/adr/0085 (docs/adr/0090).
constexpr double kOnnxruntimeEvictedByteNs = 0.012;
/// Beyond its rows, each kernel of LeNet and DS-CNN (16 to 60 us) takes 16 to 150 ns more, 71 in
/// the mean of 13 times in the files of data/compositions with one thread. Kernels of 0.3 us
/// (small_layers, of the space) take 70 to 79 ns more, with one thread and with two
/// (docs/adr/0097).
constexpr double kOnnxruntimeKernelNs = 70;

bool is_of(const SumError& error, const table::Setting& setting) {
  return setting.precision == "model" && setting.threads == error.threads &&
         std::all_of(error.options.begin(), error.options.end(), [&](const auto& option) {
           const auto found = setting.options.find(option.first);
           return found == setting.options.end() || found->second == option.second;
         });
}

}  // namespace

const std::vector<RuntimeEntry>& runtimes() {
  static const std::vector<RuntimeEntry> entries{
#ifdef OPLAT_WITH_ONNXRUNTIME
      {"onnxruntime",
       "ONNX Runtime, CPU",
       "pip install onnxruntime",
       create_onnxruntime,
       {},
       false,
       {},
       0,
       {"onnx"}},
#endif
      {"mnn",
       "MNN, CPU",
       "python3 -m venv .venv-mnn && .venv-mnn/bin/pip install MNN==3.6.1",
       nullptr,
       {},
       true,
       {{kMnnSd, 1, {{"memory", "normal"}, {"power", "normal"}}},
        {kMnnTwoThreadsSd, 2, {{"memory", "normal"}, {"power", "normal"}}}},
       kMnnUnseenSd,
       {"mnn", "onnx"}},
      {"paddle",
       "Paddle Inference, CPU, with or without oneDNN",
       "python3 -m venv .venv-paddle && .venv-paddle/bin/pip install paddlepaddle==3.3.1",
       nullptr,
       {},
       true,
       {{kPaddleSd, 1, {{"onednn", "on"}}}},
       kPaddleUnseenSd,
       {"paddle"}},
      {"qnnpack",
       "QNNPACK behind libtorch, CPU: Caffe2's int8 operators",
       "apt-get install libtorch-dev && scripts/build release",
       nullptr,
       "oplat-qnnpack",
       false,
       {},
       0,
       {"caffe2"}},
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

KnownSumError sum_error(const table::Setting& setting) {
  if (setting.runtime == "onnxruntime")
    return {0, true, kOnnxruntimeEvictedByteNs, kOnnxruntimeKernelNs};
  const RuntimeEntry* entry = find_runtime(setting.runtime);
  if (entry == nullptr || entry->sum_errors.empty()) return {};
  const auto found = std::find_if(entry->sum_errors.begin(), entry->sum_errors.end(),
                                  [&](const SumError& error) { return is_of(error, setting); });
  if (found == entry->sum_errors.end()) return {entry->unseen_sd_log, false};
  return {found->sd_log, true};
}

}  // namespace oplat::runtimes
