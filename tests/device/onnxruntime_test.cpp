// SPDX-License-Identifier: Apache-2.0
/// What the ONNX Runtime worker does on real input: plans, kernels, whole models, refusals.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "base/files.hpp"
#include "device/runtime_fixture.hpp"
#include "plan/records.hpp"

namespace oplat::device_test {
namespace {

using measure::BlockRequest;
using measure::OpenRequest;

class OnnxRuntime : public OnnxRuntimeTest {
 protected:
  Result<table::Plan> plan(const std::string& path, std::optional<std::int64_t> batch = {}) {
    runtimes::PlanRequest request;
    request.model = path;
    request.setting = setting_;
    request.batch = batch;
    return worker_->plan(request);
  }
};

#define NETWORK_OR_SKIP(variable, name)       \
  const std::string variable = network(name); \
  if (variable.empty())                       \
  GTEST_SKIP() << "no models/tests/" << name << ".onnx; make it with scripts/models tests"

TEST_F(OnnxRuntime, FusesResidualsAndActivationsIntoBlockedConvolutions) {
  NETWORK_OR_SKIP(path, "tiny_cnn");
  const auto made = plan(path);
  ASSERT_TRUE(made) << made.error().message;
  const auto residual = std::find_if(made->kernels.begin(), made->kernels.end(),
                                     [](const auto& k) { return k.key.ends_with("->(&3)"); });
  if (worker_->hello().device.isa.find("avx") == std::string::npos)
    GTEST_SKIP() << "no blocked layout on this processor";
  ASSERT_NE(residual, made->kernels.end()) << "no convolution writes over its residual operand";
  EXPECT_TRUE(residual->key.starts_with("com.microsoft.nchwc:Conv/1@block=")) << residual->key;
  EXPECT_GT(made->weight_bytes, 0);
}

TEST_F(OnnxRuntime, TellsWhatItPutInFromWhatTheModelHas) {
  NETWORK_OR_SKIP(path, "tiny_cnn");
  const auto blocked = plan(path);
  ASSERT_TRUE(blocked) << blocked.error().message;
  for (const auto& kernel : blocked->kernels) {
    const bool reorders = kernel.key.find(":Reorder") != std::string::npos;
    EXPECT_EQ(kernel.inserted_by_runtime, reorders ? std::optional(true) : std::nullopt)
        << kernel.key;
  }
  NETWORK_OR_SKIP(quantised, "tiny_int8");
  const auto int8 = plan(quantised);
  ASSERT_TRUE(int8) << int8.error().message;
  std::size_t own = 0;
  for (const auto& kernel : int8->kernels) {
    if (kernel.key.find("antizeLinear/") == std::string::npos) continue;
    EXPECT_EQ(kernel.inserted_by_runtime, false) << kernel.key;
    ++own;
  }
  EXPECT_GT(own, 0U);
}

TEST_F(OnnxRuntime, CountsTheIterationsOfALoop) {
  NETWORK_OR_SKIP(path, "tiny_loop");
  const auto made = plan(path);
  ASSERT_TRUE(made) << made.error().message;
  const auto loop = std::find_if(made->kernels.begin(), made->kernels.end(),
                                 [](const auto& k) { return k.key.starts_with("Loop"); });
  ASSERT_NE(loop, made->kernels.end()) << "what the loop itself takes";
  EXPECT_NE(loop->key.find("@steps=5{"), std::string::npos) << loop->key;
  const auto body = std::find_if(made->kernels.begin(), made->kernels.end(), [](const auto& k) {
    return k.key.find("Gemm") != std::string::npos;
  });
  ASSERT_NE(body, made->kernels.end());
  EXPECT_EQ(body->count, 5);  // the trip count of scripts/zoo's tiny_loop
}

TEST_F(OnnxRuntime, TheSameQuestionHasTheSameIdentityHoweverItIsAsked) {
  NETWORK_OR_SKIP(path, "tiny_cnn");
  const auto first = plan(path);
  const auto second = plan(path);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->identity, second->identity);
  EXPECT_EQ(first->kernels, second->kernels);
  const auto fixed = plan(path, 1);
  ASSERT_TRUE(fixed) << fixed.error().message;
  EXPECT_EQ(fixed->identity, first->identity) << "the model fixes its batch to 1";
}

TEST_F(OnnxRuntime, OtherShapesAndOtherDataAreOtherQuestions) {
  NETWORK_OR_SKIP(path, "tiny_dynamic");
  runtimes::PlanRequest request;
  request.model = path;
  request.setting = setting_;
  request.shapes = {{"input", {1, 3, 32, 32}}};
  const auto one = worker_->plan(request);
  request.shapes = {{"input", {2, 3, 32, 32}}};
  const auto two = worker_->plan(request);
  request.inputs = {{"input", "zeros"}};
  const auto zeros = worker_->plan(request);
  ASSERT_TRUE(one && two && zeros);
  EXPECT_NE(one->identity, two->identity);
  EXPECT_NE(two->identity, zeros->identity);
}

TEST_F(OnnxRuntime, OpenDimensionsAreAskedForByName) {
  NETWORK_OR_SKIP(path, "tiny_dynamic");
  const auto refused = plan(path);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Usage);
  EXPECT_NE(refused.error().message.find("--shape input="), std::string::npos)
      << refused.error().message;
}

TEST_F(OnnxRuntime, AKernelRunsFromItsKeyAloneAndMoreCopiesTakeLonger) {
  OpenRequest request;
  request.key =
      "Gemm/"
      "13{alpha=1.0,beta=1.0,transA=0,transB=0}(f32[64,256],f32c[256,256],f32c[256])->(f32[64,256]"
      ")";
  request.setting = setting_;
  request.copies = 1;
  const auto one = worker_->open(request);
  ASSERT_TRUE(one && std::holds_alternative<measure::Opened>(*one));
  request.copies = 32;
  const auto many = worker_->open(request);
  ASSERT_TRUE(many && std::holds_alternative<measure::Opened>(*many));
  EXPECT_EQ(std::get<measure::Opened>(*many).topology, "chain");
  BlockRequest block;
  block.handles = {std::get<measure::Opened>(*one).handle, std::get<measure::Opened>(*many).handle};
  block.duration = std::chrono::milliseconds(50);
  const auto samples = worker_->block(block);
  ASSERT_TRUE(samples && std::holds_alternative<measure::BlockSamples>(*samples));
  const auto& ns = std::get<measure::BlockSamples>(*samples).ns;
  ASSERT_EQ(ns.size(), 2U);
  ASSERT_GE(ns[0].size(), 3U);
  // 32 times the work takes several times as long on any machine, however busy: the least of each
  // is compared.
  EXPECT_GT(*std::min_element(ns[1].begin(), ns[1].end()),
            4 * *std::min_element(ns[0].begin(), ns[0].end()));
}

/// Resident bytes of the worker processes, those of files left out: where the system has huge pages
/// of the runtime's library, they come 2 MiB at a time.
std::int64_t resident_bytes_of_children() {
  std::int64_t pages = 0;
  std::ifstream children("/proc/thread-self/children");
  for (std::string pid; children >> pid;) {
    std::ifstream statm("/proc/" + pid + "/statm");
    std::int64_t total = 0;
    std::int64_t resident = 0;
    std::int64_t of_files = 0;
    if (statm >> total >> resident >> of_files) pages += resident - of_files;
  }
  return pages * ::sysconf(_SC_PAGESIZE);
}

TEST_F(OnnxRuntime, ResultsThatWereReadMakeRoomForTheNextCopys) {
  OpenRequest request;
  request.key = "Transpose/13{perm=[1,0]}(f32[1024,512])->(f32[512,1024])";
  request.setting = setting_;
  request.copies = 64;
  // 2 MiB each.
  constexpr std::int64_t kResults = std::int64_t{64} << 21;
  std::vector<std::int64_t> grown;
  for (const std::int64_t reads : {64, 0}) {
    request.reads = reads;
    const std::int64_t before = resident_bytes_of_children();
    const auto opened = worker_->open(request);
    ASSERT_TRUE(opened && std::holds_alternative<measure::Opened>(*opened));
    EXPECT_EQ(std::get<measure::Opened>(*opened).topology, "fan");
    grown.push_back(resident_bytes_of_children() - before);
  }
  EXPECT_LT(grown[0], kResults / 2);
  EXPECT_GT(grown[1], kResults * 3 / 4);
}

// The runtime makes one DequantizeLinear for each reader of its result.
TEST_F(OnnxRuntime, OneCopyIsOneNodeHoweverManyReadsBalanceIt) {
  OpenRequest request;
  request.setting = setting_;
  request.reads = 16;
  for (const char* key : {"DequantizeLinear/13{axis=1}(u8[1,64,64,64],f32c[],u8c[])->"
                          "(f32[1,64,64,64])",
                          "DequantizeLinear/13{axis=1}(i8c[256,64,3,3],f32c[64],i8c[64])->"
                          "(f32[256,64,3,3])",
                          "Transpose/13{perm=[1,0]}(f32[1024,256])->(f32[256,1024])"}) {
    request.key = key;
    BlockRequest block;
    for (const std::int64_t copies : {1, 16}) {
      request.copies = copies;
      const auto opened = worker_->open(request);
      ASSERT_TRUE(opened && std::holds_alternative<measure::Opened>(*opened)) << key;
      block.handles.push_back(std::get<measure::Opened>(*opened).handle);
    }
    block.duration = std::chrono::milliseconds(20);
    block.core_exclusive = false;
    const auto outcome = worker_->block(block);
    ASSERT_TRUE(outcome && std::holds_alternative<measure::BlockSamples>(*outcome)) << key;
    const auto& ns = std::get<measure::BlockSamples>(*outcome).ns;
    // Sixteen times the work, or as much.
    EXPECT_LT(4 * std::ranges::min(ns[0]), std::ranges::min(ns[1])) << key;
  }
}

TEST_F(OnnxRuntime, AnEmptyCallIsOpenedWithItsResultAsOutput) {
  OpenRequest request;
  request.key = plan::kDispatchKey;
  request.setting = setting_;
  request.results_as_outputs = true;
  for (const std::int64_t copies : {1, 64}) {
    request.copies = copies;
    const auto opened = worker_->open(request);
    ASSERT_TRUE(opened && std::holds_alternative<measure::Opened>(*opened));
    EXPECT_EQ(std::get<measure::Opened>(*opened).topology, copies == 1 ? "single" : "fan");
  }
}

/// Threads of this process's children that may run on one CPU alone.
std::size_t threads_kept_on_one_cpu() {
  std::size_t kept = 0;
  std::ifstream children("/proc/thread-self/children");
  for (std::string pid; children >> pid;) {
    for (const auto& thread : std::filesystem::directory_iterator("/proc/" + pid + "/task")) {
      cpu_set_t cpus;
      CPU_ZERO(&cpus);
      if (::sched_getaffinity(std::stoi(thread.path().filename()), sizeof cpus, &cpus) == 0 &&
          CPU_COUNT(&cpus) == 1)
        ++kept;
    }
  }
  return kept;
}

TEST_F(OnnxRuntime, ThreadsOfAPoolMayRunOnAnyCpuWhateverWasOpenedBefore) {
  NETWORK_OR_SKIP(path, "tiny_cnn");
  if (std::thread::hardware_concurrency() < 2 || worker_->hello().max_threads < 2)
    GTEST_SKIP() << "one CPU";
  OpenRequest kernel;
  kernel.key = "Relu/14{}(f32[64,64])->(f32[64,64])";
  kernel.setting = setting_;
  kernel.setting.threads = 2;
  OpenRequest model;
  model.model = path;
  model.setting = kernel.setting;
  for (const OpenRequest* request : {&model, &kernel, &model, &kernel}) {
    const auto opened = worker_->open(*request);
    ASSERT_TRUE(opened && std::holds_alternative<measure::Opened>(*opened));
  }
  // The caller's, once a kernel is open.
  EXPECT_EQ(threads_kept_on_one_cpu(), 1U);
}

TEST_F(OnnxRuntime, WhatTheRuntimeHasNoKernelForIsUnsupportedAndTheWorkerLives) {
  OpenRequest request;
  request.key = "NoSuchOperator/1{}(f32[1,8])->(f32[1,8])";
  request.setting = setting_;
  const auto opened = worker_->open(request);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_FALSE(std::holds_alternative<measure::Opened>(*opened));
  EXPECT_FALSE(worker_->dead());
  request.key = "Reshape/14{allowzero=0}(f32[1,8],i64c[2])->(f32[2,4])";  // the value that decides
                                                                          // the shape is missing
  const auto without_value = worker_->open(request);
  ASSERT_TRUE(without_value);
  EXPECT_FALSE(std::holds_alternative<measure::Opened>(*without_value));
  request.key = "Relu/14{}(f32[?,8])->(f32[?,8])";
  const auto unknown = worker_->open(request);
  ASSERT_TRUE(unknown);
  // Not the runtime lacks something, but the key.
  ASSERT_TRUE(std::holds_alternative<table::Skipped>(*unknown));
  EXPECT_NE(std::get<table::Skipped>(*unknown).reason.find("unknown dimension"), std::string::npos);
}

TEST_F(OnnxRuntime, ATooLargeKernelIsSkippedBeforeMemoryIsTouched) {
  OpenRequest request;
  request.key = "MatMul/13{}(f32[1,1000000],f32c[1000000,1000000])->(f32[1,1000000])";
  request.setting = setting_;
  const auto opened = worker_->open(request);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_TRUE(std::holds_alternative<table::Skipped>(*opened));
}

TEST_F(OnnxRuntime, ExternalDataIsReadFromBesideTheModelOnly) {
  NETWORK_OR_SKIP(path, "tiny_external");
  const auto folder = base::TemporaryFolder::create("oplat-external");
  ASSERT_TRUE(folder);
  const auto lone = folder->path() / "tiny_external.onnx";
  std::filesystem::copy_file(path, lone);
  const auto refused = plan(lone.string());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Input);
  EXPECT_NE(refused.error().message.find("tiny_external.onnx.data"), std::string::npos)
      << refused.error().message;
  const auto complete = plan(path);
  EXPECT_TRUE(complete) << complete.error().message;
}

TEST_F(OnnxRuntime, TruncatedModelsAreInputErrorsAtEveryLength) {
  NETWORK_OR_SKIP(path, "tiny_lstm");
  const auto bytes = base::read_file(path);
  const auto folder = base::TemporaryFolder::create("oplat-truncated");
  ASSERT_TRUE(bytes && folder);
  for (std::size_t eighth = 0; eighth < 8; ++eighth) {
    const std::string file = (folder->path() / "cut.onnx").string();
    ASSERT_TRUE(
        base::write_file(file, std::string_view(*bytes).substr(0, bytes->size() * eighth / 8)));
    const auto refused = plan(file);
    ASSERT_FALSE(refused) << eighth;
    EXPECT_EQ(refused.error().code, Code::Input) << refused.error().message;
    EXPECT_FALSE(worker_->dead());
  }
}

}  // namespace
}  // namespace oplat::device_test
