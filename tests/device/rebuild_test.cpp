// SPDX-License-Identifier: Apache-2.0
/// plan(build(key)) == key: a key alone re-creates its kernel, checked against the runtime's own
/// plan of what was built.
#include <algorithm>
#include <set>

#include "base/files.hpp"
#include "device/runtime_fixture.hpp"
#include "formats/onnx.hpp"
#include "ir/catalogue.hpp"

namespace oplat::device_test {
namespace {

constexpr std::int64_t kCopies = 3;

class Rebuild : public OnnxRuntimeTest, public testing::WithParamInterface<const char*> {};

TEST_P(Rebuild, EveryKeyOfTheNetworkComesBack) {
  const std::string path = network(GetParam());
  if (path.empty())
    GTEST_SKIP() << "no models/tests/" << GetParam() << ".onnx; make it with scripts/models tests";
  runtimes::PlanRequest request;
  request.model = path;
  request.setting = setting_;
  if (std::string(GetParam()) == "tiny_dynamic") request.shapes = {{"input", {2, 3, 37, 29}}};
  const auto plan = worker_->plan(request);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_GE(plan->kernels.size(), 4U);

  const auto folder = base::TemporaryFolder::create("oplat-rebuild");
  ASSERT_TRUE(folder);
  std::set<std::string> keys;
  for (const auto& kernel : plan->kernels) keys.insert(kernel.key);
  for (const std::string& text : keys) {
    SCOPED_TRACE(text);
    const auto key = ir::parse(text);
    ASSERT_TRUE(key) << key.error().message;
    EXPECT_EQ(ir::print(*key), text);
    formats::onnx::KernelModelOptions options;
    options.copies = kCopies;
    options.consume_results = true;
    const auto model = formats::onnx::write_kernel_model(*key, options);
    ASSERT_TRUE(model) << model.error().message;
    const std::string file = (folder->path() / "kernel.onnx").string();
    ASSERT_TRUE(base::write_file(file, model->bytes));
    runtimes::PlanRequest again;
    again.model = file;
    again.setting = setting_;
    again.setting.options["level"] = "0";
    const auto rebuilt = worker_->plan(again);
    ASSERT_TRUE(rebuilt) << rebuilt.error().message;
    const auto matches = std::count_if(rebuilt->kernels.begin(), rebuilt->kernels.end(),
                                       [&](const auto& k) { return k.key == text; });
    std::string found;
    for (const auto& kernel : rebuilt->kernels) found += "\n  " + kernel.key;
    // The first copy of a chain reads an input of the graph, which nothing may overwrite.
    const std::int64_t expected =
        model->wiring == formats::onnx::Wiring::Chain ? kCopies - 1 : kCopies;
    EXPECT_GE(matches, expected) << "the rebuilt model's plan is:" << found;
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, Rebuild,
                         testing::Values("tiny_cnn", "tiny_transformer", "tiny_int8",
                                         "tiny_external", "tiny_dynamic", "tiny_lstm", "tiny_if",
                                         "tiny_loop"));

}  // namespace
}  // namespace oplat::device_test
