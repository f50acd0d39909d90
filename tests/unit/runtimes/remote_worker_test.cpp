// SPDX-License-Identifier: Apache-2.0
/// Workers that do not see the client's files: they get models, weights and input data by `put`, in
/// a process whose current folder is empty and which keeps uploads in a cache of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/files.hpp"
#include "base/version.hpp"
#include "runtimes/worker_client.hpp"

namespace oplat::runtimes {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A program of Paddle 3 with one parameter, which is in net.pdiparams next to it.
constexpr const char* kProgram =
    R"({"base_code":{"magic":"pir","trainable":true,"version":4},"program":{"regions":[{"#")"
    R"(:"region_0","blocks":[{"#":"block_0","args":[],"ops":[{"#":"1.data","A":[{"N":"name")"
    R"(,"AT":{"#":"0.a_str","D":"x0"}},{"N":"shape","AT":{"#":"1.a_intarray","D":[1,4,16,16)"
    R"(]}},{"N":"dtype","AT":{"#":"1.a_dtype","D":"float32"}},{"N":"place","AT":{"#":"1.a_p)"
    R"(lace","D":[0,0,""]}}],"I":[],"O":[{"%":1,"TT":{"#":"0.t_dtensor","D":[{"#":"0.t_f32")"
    R"(},[1,4,16,16],"NCHW",[],0]}}],"OA":[{"N":"stop_gradient","AT":{"#":"0.a_array","D":[)"
    R"({"#":"0.a_bool","D":true}]}}]},{"#":"p","A":[0,1,1,"w00000"],"DA":[],"OA":[1,0,1],"O)"
    R"(":{"%":2,"TT":{"#":"0.t_dtensor","D":[{"#":"0.t_f32"},[1],"NCHW",[],0]}},"QA":[]},{")"
    R"(#":"1.relu","A":[],"I":[{"%":1}],"O":[{"%":3,"TT":{"#":"0.t_dtensor","D":[{"#":"0.t_)"
    R"(f32"},[1,4,16,16],"NCHW",[],0]}}],"OA":[{"N":"stop_gradient","AT":{"#":"0.a_array",")"
    R"(D":[{"#":"0.a_bool","D":true}]}}]},{"#":"1.fetch","A":[{"N":"name","AT":{"#":"0.a_st)"
    R"(r","D":"y"}},{"N":"col","AT":{"#":"0.a_i32","D":0}}],"I":[{"%":3}],"O":[{"%":6,"TT":)"
    R"({"#":"0.t_dtensor","D":[{"#":"0.t_f32"},[1,4,16,16],"NCHW",[],0]}}],"OA":[{"N":"stop)"
    R"(_gradient","AT":{"#":"0.a_array","D":[{"#":"0.a_bool","D":true}]}}]}]}]}]}})";
const std::string kWeights = "weights of the model";

class RemoteWorkerTest : public testing::Test {
 protected:
  RemoteWorkerTest() : folder_(base::TemporaryFolder::create("oplat-test")) {
    fs::create_directory(ours());
    fs::create_directory(theirs());
    EXPECT_TRUE(base::write_file(ours() / "net.json", kProgram));
    EXPECT_TRUE(base::write_file(ours() / "net.pdiparams", kWeights));
    EXPECT_TRUE(base::write_file(ours() / "x.npy", "data of an input"));
    ::setenv("XDG_CACHE_HOME", cache().c_str(), 1);
  }
  ~RemoteWorkerTest() override { ::unsetenv("XDG_CACHE_HOME"); }

  [[nodiscard]] fs::path ours() const { return folder_->path() / "ours"; }
  [[nodiscard]] fs::path theirs() const { return folder_->path() / "theirs"; }
  [[nodiscard]] fs::path cache() const { return folder_->path() / "cache"; }
  [[nodiscard]] std::string model() const { return (ours() / "net.json").string(); }

  [[nodiscard]] WorkerOptions options(const std::string& mode, bool shares_files) const {
    WorkerOptions options;
    options.command = {"env", "-C", theirs().string(), OPLAT_FAKE_WORKER};
    options.arguments = {mode};
    options.shares_files = shares_files;
    return options;
  }
  /// The path under which the worker plans our model.
  [[nodiscard]] static std::string planned(WorkerClient& client, const std::string& model) {
    PlanRequest request;
    request.model = model;
    const auto plan = client.plan(request);
    return plan ? plan->model : "error: " + plan.error().message;
  }

  Result<base::TemporaryFolder> folder_;
};

TEST_F(RemoteWorkerTest, AFileBehindALinkArrivesUnderTheNameThatTheModelGivesIt) {
  fs::rename(ours() / "net.pdiparams", ours() / "0123abcd");
  fs::create_symlink("0123abcd", ours() / "net.pdiparams");
  const auto client = WorkerClient::start("fake", options("good", false));
  ASSERT_TRUE(client) << client.error().message;
  const fs::path path = planned(**client, model());
  EXPECT_EQ(base::read_file(path.parent_path() / "net.pdiparams").value_or(""), kWeights) << path;
}

TEST_F(RemoteWorkerTest, AModelArrivesWithTheFilesThatItRefersTo) {
  const auto client = WorkerClient::start("fake", options("good", false));
  ASSERT_TRUE(client) << client.error().message;
  const fs::path path = planned(**client, model());
  EXPECT_EQ(path.parent_path().parent_path(), cache() / "oplat" / "uploads");
  EXPECT_EQ(path.filename(), "net.json");
  EXPECT_EQ(base::read_file(path).value_or(""), kProgram);
  EXPECT_EQ(base::read_file(path.parent_path() / "net.pdiparams").value_or(""), kWeights);
  EXPECT_TRUE(fs::is_empty(theirs()));
}

TEST_F(RemoteWorkerTest, AWorkerThatSaysThatItSharesNothingGetsThemToo) {
  const auto client = WorkerClient::start("fake", options("elsewhere", true));
  ASSERT_TRUE(client) << client.error().message;
  EXPECT_THAT(planned(**client, model()), HasSubstr((cache() / "oplat").string()));
}

TEST_F(RemoteWorkerTest, OneThatSharesOurFilesGetsOurPath) {
  const auto client = WorkerClient::start("fake", options("good", true));
  ASSERT_TRUE(client) << client.error().message;
  EXPECT_EQ(planned(**client, model()), model());
  EXPECT_FALSE(fs::exists(cache()));
}

TEST_F(RemoteWorkerTest, WhatItHasIsNotSentAgain) {
  fs::path path;
  fs::file_time_type sent;
  for (int start = 0; start < 2; ++start) {
    const auto client = WorkerClient::start("fake", options("good", false));
    ASSERT_TRUE(client) << client.error().message;
    path = planned(**client, model());
    ASSERT_TRUE(fs::exists(path)) << path;
    if (start == 0) sent = fs::last_write_time(path);
    ASSERT_TRUE((*client)->restart());
    EXPECT_EQ(planned(**client, model()), path.string());
  }
  EXPECT_EQ(fs::last_write_time(path), sent);
  EXPECT_FALSE(fs::exists(path.string() + ".part"));
}

TEST_F(RemoteWorkerTest, AnotherModelUnderTheSameNameIsAnotherFile) {
  const auto client = WorkerClient::start("fake", options("good", false));
  ASSERT_TRUE(client) << client.error().message;
  const fs::path first = planned(**client, model());
  ASSERT_TRUE(base::write_file(ours() / "net.pdiparams", "other weights"));
  ASSERT_TRUE((*client)->restart());
  const fs::path second = planned(**client, model());
  EXPECT_NE(first, second);
  EXPECT_EQ(base::read_file(first.parent_path() / "net.pdiparams").value_or(""), kWeights);
  EXPECT_EQ(base::read_file(second.parent_path() / "net.pdiparams").value_or(""), "other weights");
}

TEST_F(RemoteWorkerTest, DataOfInputsArrive) {
  const auto client = WorkerClient::start("fake", options("good", false));
  ASSERT_TRUE(client) << client.error().message;
  measure::OpenRequest request;
  request.model = model();
  request.inputs = {{"x", (ours() / "x.npy").string()}, {"y", "zeros"}, {"z", "uniform:0:1"}};
  const auto opened = (*client)->open(request);
  ASSERT_TRUE(opened && std::holds_alternative<measure::Opened>(*opened));
  int found = 0;
  for (const auto& entry : fs::recursive_directory_iterator(cache())) {
    if (entry.path().filename() != "x.npy") continue;
    ++found;
    EXPECT_EQ(base::read_file(entry.path()).value_or(""), "data of an input");
  }
  EXPECT_EQ(found, 1);
}

TEST_F(RemoteWorkerTest, AWorkerLostInAnUploadIsAFailureOfThisModelAlone) {
  const auto client = WorkerClient::start("fake", options("rubbish-to-put", false));
  ASSERT_TRUE(client) << client.error().message;
  measure::OpenRequest request;
  request.model = model();
  const auto opened = (*client)->open(request);
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_TRUE(std::holds_alternative<table::Failed>(*opened));
  EXPECT_THAT(std::get<table::Failed>(*opened).reason, HasSubstr("net.pdiparams"));
  EXPECT_TRUE((*client)->dead());
  ASSERT_TRUE((*client)->restart());
  EXPECT_THAT(planned(**client, model()), HasSubstr("sending net.pdiparams to the worker"));
}

TEST_F(RemoteWorkerTest, AModelThatIsNotThereIsOurErrorAndCostsNoWorker) {
  const auto client = WorkerClient::start("fake", options("good", false));
  ASSERT_TRUE(client) << client.error().message;
  measure::OpenRequest request;
  request.model = (ours() / "absent.json").string();
  const auto opened = (*client)->open(request);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::Input);
  EXPECT_FALSE((*client)->dead());
}

TEST_F(RemoteWorkerTest, AnotherVersionOfOplatIsRefusedWithBothNamed) {
  const auto client = WorkerClient::start("fake", options("old-release", false));
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, Code::Runtime);
  EXPECT_THAT(client.error().message, HasSubstr("the worker is oplat 0.0.9"));
  EXPECT_THAT(client.error().message, HasSubstr("this is oplat " + std::string(base::version())));
}

}  // namespace
}  // namespace oplat::runtimes
