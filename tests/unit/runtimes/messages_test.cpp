// SPDX-License-Identifier: Apache-2.0
/// Every value of the protocol comes back from its text; what is not such a text is refused, never
/// misread.
#include "runtimes/messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>

namespace oplat::runtimes {
namespace {

using testing::HasSubstr;

/// As it travels: to text and back.
Json wire(const Json& json) { return Json::parse(json.dump()); }

/// One seed for every run: a failure is then the same on every machine.
std::mt19937_64 generator(20240229);

std::int64_t any_integer(std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(generator() % static_cast<std::uint64_t>(high - low));
}
bool any_bool() { return any_integer(0, 2) == 1; }
/// Any bytes but NUL that are UTF-8, those that JSON escapes among them.
std::string any_text() {
  static const std::vector<std::string> pieces{"a",          "=",    "\"",   "\\",     "\n",
                                               "\t",         "\x01", "\x7f", "\u00e9", "\u20ac",
                                               "\U0001f600", "/",    "[0.5]"};
  std::string text;
  for (std::int64_t i = any_integer(0, 6); i > 0; --i)
    text += pieces[static_cast<std::size_t>(any_integer(0, 13))];
  return text;
}
std::string some_text() { return any_text().append("t"); }
std::string any_bytes() {
  std::string bytes;
  for (std::int64_t i = any_integer(0, 9); i > 0; --i)
    bytes += static_cast<char>(any_integer(0, 256));
  return bytes;
}
std::int64_t any_size() { return any_integer(0, std::int64_t{1} << 40); }
double any_time() { return static_cast<double>(any_size()) / 7.0; }

std::map<std::string, std::string> any_map() {
  std::map<std::string, std::string> map;
  for (std::int64_t i = any_integer(0, 4); i > 0; --i) map[any_text()] = any_text();
  return map;
}

std::vector<std::int64_t> any_integers(std::int64_t high) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = any_integer(0, 6); i > 0; --i) numbers.push_back(any_integer(0, high));
  return numbers;
}

std::map<std::string, std::vector<std::int64_t>> any_shapes() {
  std::map<std::string, std::vector<std::int64_t>> map;
  for (std::int64_t i = any_integer(0, 4); i > 0; --i) map[any_text()] = any_integers(4096);
  return map;
}

std::optional<std::int64_t> any_batch() {
  if (any_bool()) return std::nullopt;
  return any_integer(1, 1000);
}

/// Many values of a property, up to the first that breaks it.
void often(const std::function<void()>& property) {
  for (int i = 0; i < 200 && !testing::Test::HasFailure(); ++i) property();
}

table::Setting any_setting() {
  table::Setting setting;
  setting.runtime = any_text();
  setting.version = any_text();
  setting.build = any_text();
  setting.precision = any_text();
  setting.threads = any_integer(1, 256);
  setting.options = any_map();
  return setting;
}

TEST(MessagesTest, HelloRoundTrip) {
  often([] {
    Hello hello;
    hello.protocol = static_cast<int>(any_integer(0, 100));
    hello.runtime = some_text();
    hello.version = any_text();
    hello.build = any_text();
    hello.options[any_text()] = SettingOption{{any_text(), any_text()}, any_text()};
    hello.precisions = {any_text(), any_text()};
    hello.max_threads = any_integer(1, 256);
    hello.device = {any_text(), any_text(), any_text(), 8,         any_size(),
                    any_size(), any_size(), any_size(), any_text()};
    hello.shared_file_system = any_bool();
    hello.rewrites_batch = any_bool();
    const auto back = decode_hello(wire(encode(hello)));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->protocol, hello.protocol);
    EXPECT_EQ(back->runtime, hello.runtime);
    EXPECT_EQ(back->version, hello.version);
    EXPECT_EQ(back->build, hello.build);
    EXPECT_EQ(back->precisions, hello.precisions);
    EXPECT_EQ(back->max_threads, hello.max_threads);
    EXPECT_EQ(back->device, hello.device);
    EXPECT_EQ(back->shared_file_system, hello.shared_file_system);
    EXPECT_EQ(back->rewrites_batch, hello.rewrites_batch);
    EXPECT_EQ(back->options.size(), 1U);
    EXPECT_EQ(back->options.begin()->first, hello.options.begin()->first);
    EXPECT_EQ(back->options.begin()->second.values, hello.options.begin()->second.values);
    EXPECT_EQ(back->options.begin()->second.default_value,
              hello.options.begin()->second.default_value);
  });
}

TEST(MessagesTest, PlanRequestRoundTrip) {
  often([] {
    const PlanRequest request{some_text(), any_shapes(), any_batch(), any_map(), any_setting()};
    const auto back = decode_plan_request(wire(encode(request)));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->model, request.model);
    EXPECT_EQ(back->shapes, request.shapes);
    EXPECT_EQ(back->batch, request.batch);
    EXPECT_EQ(back->inputs, request.inputs);
    EXPECT_EQ(back->setting, request.setting);
  });
}

TEST(MessagesTest, PlanRoundTrip) {
  often([] {
    table::Plan plan;
    plan.model = any_text();
    plan.identity = any_text();
    plan.source = any_text();
    plan.batch = any_integer(1, 1000);
    plan.weight_bytes = any_time();
    plan.activation_bytes = any_time();
    const auto count = any_integer(0, 5);
    for (std::int64_t i = 0; i < count; ++i) {
      plan.kernels.push_back(
          {any_text(), "Mul/14{}(f32[1,64,56,56],&0)->(&0)", any_integer(1, 99)});
      if (i > 0) plan.kernels.back().inserted_by_runtime = i % 2 == 0;
      if (i > 1) plan.kernels.back().input_bytes = any_time();
    }
    const auto back = decode_plan(wire(encode(plan)));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->model, plan.model);
    EXPECT_EQ(back->identity, plan.identity);
    EXPECT_EQ(back->source, plan.source);
    EXPECT_EQ(back->batch, plan.batch);
    EXPECT_EQ(back->weight_bytes, plan.weight_bytes);
    EXPECT_EQ(back->activation_bytes, plan.activation_bytes);
    EXPECT_EQ(back->kernels, plan.kernels);
  });
}

TEST(MessagesTest, OpenRequestRoundTrip) {
  often([] {
    measure::OpenRequest request;
    (any_bool() ? request.key : request.model) = some_text();
    request.shapes = any_shapes();
    request.batch = any_batch();
    request.inputs = any_map();
    request.setting = any_setting();
    request.copies = any_integer(1, 512);
    request.topology = static_cast<measure::Topology>(any_integer(0, 4));
    request.distinct_weights = any_bool();
    request.results_as_outputs = any_bool();
    request.reads = any_integer(0, 512);
    request.seed = generator();
    const auto back = decode_open_request(wire(encode(request)));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->key, request.key);
    EXPECT_EQ(back->model, request.model);
    EXPECT_EQ(back->shapes, request.shapes);
    EXPECT_EQ(back->batch, request.batch);
    EXPECT_EQ(back->inputs, request.inputs);
    EXPECT_EQ(back->setting, request.setting);
    EXPECT_EQ(back->copies, request.copies);
    EXPECT_EQ(back->topology, request.topology);
    EXPECT_EQ(back->distinct_weights, request.distinct_weights);
    EXPECT_EQ(back->results_as_outputs, request.results_as_outputs);
    EXPECT_EQ(back->reads, request.reads);
    EXPECT_EQ(back->seed, request.seed);
  });
}

TEST(MessagesTest, BlockRequestRoundTrip) {
  often([] {
    measure::BlockRequest request;
    request.handles = any_integers(1000);
    request.duration = std::chrono::nanoseconds(any_integer(0, 1'000'000'000));
    request.min_rounds = any_integer(1, 10);
    request.max_rounds = any_integer(10, 1000);
    request.warmup_rounds = any_integer(0, 10);
    request.scrub_bytes = any_size();
    request.scrub_threads = 3;
    if (any_bool()) request.wake = 17;
    request.references = any_bool();
    request.core_exclusive = any_bool();
    request.cores_distinct = any_integer(1, 64);
    request.max_wait = std::chrono::nanoseconds(any_integer(0, 1'000'000'000));
    request.best_cores = {any_time(), any_time()};
    const auto back = decode_block_request(wire(encode(request)));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->handles, request.handles);
    EXPECT_EQ(back->duration, request.duration);
    EXPECT_EQ(back->min_rounds, request.min_rounds);
    EXPECT_EQ(back->max_rounds, request.max_rounds);
    EXPECT_EQ(back->warmup_rounds, request.warmup_rounds);
    EXPECT_EQ(back->scrub_bytes, request.scrub_bytes);
    EXPECT_EQ(back->scrub_threads, request.scrub_threads);
    EXPECT_EQ(back->wake, request.wake);
    EXPECT_EQ(back->references, request.references);
    EXPECT_EQ(back->core_exclusive, request.core_exclusive);
    EXPECT_EQ(back->cores_distinct, request.cores_distinct);
    EXPECT_EQ(back->max_wait, request.max_wait);
    EXPECT_EQ(back->best_cores, request.best_cores);
  });
}

TEST(MessagesTest, BlockSamplesRoundTrip) {
  often([] {
    measure::BlockSamples samples;
    const auto handles = any_integer(1, 5);
    const auto rounds = any_integer(1, 20);
    samples.ns.resize(static_cast<std::size_t>(handles));
    for (auto& times : samples.ns) {
      for (std::int64_t round = 0; round < rounds; ++round) times.push_back(any_time());
    }
    if (any_bool()) samples.reference_compute_ns = any_time();
    if (any_bool()) samples.reference_memory_ns = any_time();
    samples.faults = any_size();
    samples.switches = any_size();
    samples.steal_ticks = any_size();
    samples.waited_ns = any_size();
    samples.best_cores = {any_time(), any_time()};
    samples.other_load = 0.25;
    const auto back =
        decode_block_outcome(wire(encode(measure::BlockOutcome(samples))), samples.ns.size());
    ASSERT_TRUE(back) << back.error().message;
    const auto& found = std::get<measure::BlockSamples>(*back);
    EXPECT_EQ(found.ns, samples.ns);
    EXPECT_EQ(found.reference_compute_ns, samples.reference_compute_ns);
    EXPECT_EQ(found.reference_memory_ns, samples.reference_memory_ns);
    EXPECT_EQ(found.faults, samples.faults);
    EXPECT_EQ(found.switches, samples.switches);
    EXPECT_EQ(found.steal_ticks, samples.steal_ticks);
    EXPECT_EQ(found.waited_ns, samples.waited_ns);
    EXPECT_EQ(found.best_cores, samples.best_cores);
    EXPECT_EQ(found.other_load, samples.other_load);
  });
}

TEST(MessagesTest, OpenOutcomesRoundTrip) {
  const auto back = [](measure::OpenOutcome outcome) {
    return decode_open_outcome(wire(encode(outcome)));
  };
  const auto opened = back(measure::Opened{5, 1024, "chain"});
  ASSERT_TRUE(opened);
  EXPECT_EQ(std::get<measure::Opened>(*opened).handle, 5);
  EXPECT_EQ(std::get<measure::Opened>(*opened).bytes, 1024);
  EXPECT_EQ(std::get<measure::Opened>(*opened).topology, "chain");
  EXPECT_EQ(std::get<table::Unsupported>(*back(table::Unsupported{"a"})).reason, "a");
  EXPECT_EQ(std::get<table::Skipped>(*back(table::Skipped{"b"})).reason, "b");
  EXPECT_EQ(std::get<table::Failed>(*back(table::Failed{"c"})).reason, "c");
}

TEST(MessagesTest, PutRoundTrip) {
  often([] {
    PutRequest request;
    request.folder = std::string(32, 'a');
    request.hash = std::string(32, '0');
    request.name = some_text();
    request.bytes = any_bytes();
    request.offset = any_size();
    request.size = request.offset + static_cast<std::int64_t>(request.bytes.size()) + any_size();
    const auto back = decode_put_request(wire(encode(request)));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->bytes, request.bytes);
    EXPECT_EQ(back->name, request.name);
    EXPECT_EQ(back->offset, request.offset);
    EXPECT_EQ(back->size, request.size);
  });
}

/// A valid open request with one field replaced.
Json open_with(const char* field, const Json& value) {
  Json json = {{"key", "Relu{}()->()"}, {"setting", {{"threads", 1}}}};
  json[field] = value;
  return json;
}

TEST(MessagesTest, WrongTypesAndRangesAreNamed) {
  EXPECT_TRUE(decode_open_request(open_with("unknown_field", Json{{"of", "later"}})));
  const std::vector<std::pair<const char*, Json>> wrong{
      {"key", 5},
      {"key", ""},
      {"copies", 0},
      {"copies", -1},
      {"copies", 1.5},
      {"copies", "1"},
      {"copies", 1e30},
      {"topology", "ring"},
      {"topology", 1},
      {"seed", -1},
      {"seed", "1"},
      {"distinct_weights", 1},
      {"results_as_outputs", 1},
      {"reads", -1},
      {"reads", 1e9},
      {"setting", "x"},
      {"setting", {{"threads", 0}}},
      {"setting", {{"options", {{"a", 1}}}}},
      {"batch", 0},
      {"batch", "two"},
      {"shapes", {{"x", "1x3"}}},
      {"shapes", {{"x", {-1}}}},
      {"shapes", {{"x", std::vector<int>(65, 1)}}},
      {"inputs", Json::array({1})},
      {"model", "a.onnx"},
      {"key", std::string("Relu\0{}", 7)}};
  for (const auto& [field, value] : wrong) {
    const auto decoded = decode_open_request(open_with(field, value));
    ASSERT_FALSE(decoded) << field << " " << value;
    EXPECT_EQ(decoded.error().code, Code::Input);
  }
  EXPECT_THAT(decode_open_request(open_with("copies", "1")).error().message,
              HasSubstr("\"copies\" expected an integer, found string"));
  EXPECT_FALSE(decode_open_request(Json::array()));
  EXPECT_FALSE(decode_open_request(Json{{"key", "Relu{}()->()"}}));
}

TEST(MessagesTest, PlansHoldOnlyKeysThatParse) {
  const auto plan = [](const Json& kernel) {
    return decode_plan(Json{{"kernels", Json::array({kernel})}});
  };
  EXPECT_TRUE(plan({{"key", "Relu/14{}(f32[1])->(f32[1])"}}));
  const auto broken = plan({{"key", "Relu/14{(f32[1])->(f32[1])"}});
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message, HasSubstr("kernels[0]"));
  EXPECT_FALSE(plan({{"key", "Relu/14{}(f32[1])->(f32[1])"}, {"count", 0}}));
  EXPECT_FALSE(plan({{"name", "without a key"}}));
  EXPECT_TRUE(plan({{"key", "Relu/14{}(f32[1])->(f32[1])"}, {"put_in", nullptr}}));
  EXPECT_FALSE(plan({{"key", "Relu/14{}(f32[1])->(f32[1])"}, {"put_in", 1}}));
  EXPECT_TRUE(plan({{"key", "Relu/14{}(f32[1])->(f32[1])"}, {"input_bytes", nullptr}}));
  EXPECT_FALSE(plan({{"key", "Relu/14{}(f32[1])->(f32[1])"}, {"input_bytes", -1}}));
  EXPECT_FALSE(decode_plan(Json::object()));
}

TEST(MessagesTest, SamplesMustFitTheirRequest) {
  const auto samples = [](const Json& ns, std::size_t handles) {
    return decode_block_outcome(Json{{"samples", {{"ns", ns}}}}, handles).has_value();
  };
  using Lists = std::vector<std::vector<double>>;
  EXPECT_TRUE(samples(Lists{{1, 2}, {3, 4}}, 2));
  EXPECT_FALSE(samples(Lists{{1, 2}}, 2));
  EXPECT_FALSE(samples(Lists{{1, 2}, {3, 4}, {5, 6}}, 2));
  EXPECT_FALSE(samples(Lists{{1, 2}, {3}}, 2));
  EXPECT_FALSE(samples(Lists{{}, {}}, 2));
  EXPECT_FALSE(samples(Lists{{1, -2}}, 1));
  EXPECT_FALSE(samples(wire(Lists{{1, std::numeric_limits<double>::infinity()}}), 1));
  EXPECT_FALSE(samples(Json::array({Json::array({"1"})}), 1));
  EXPECT_FALSE(samples(7, 1));
}

TEST(MessagesTest, BlockRequestsAreBounded) {
  const auto block = [](const Json& json) { return decode_block_request(json).has_value(); };
  EXPECT_TRUE(block({{"handles", {1, 2}}}));
  EXPECT_FALSE(block({{"handles", {1, 2}}, {"least_rounds", 11}, {"most_rounds", 10}}));
  EXPECT_FALSE(block({{"handles", {1, 2}}, {"least_rounds", 300'000}, {"most_rounds", 300'000}}));
  EXPECT_FALSE(block({{"handles", {-1}}}));
  EXPECT_FALSE(block({{"handles", std::vector<int>(5000, 1)}}));
  EXPECT_FALSE(block({{"handles", {1}}, {"duration_ns", -1}}));
  EXPECT_FALSE(block(Json::object()));
}

TEST(MessagesTest, LooksAtMemoryRoundTrip) {
  for (const std::int64_t bytes : {0, 65'536, 1 << 30}) {
    for (const std::optional<std::int64_t> wait_ns :
         {std::optional<std::int64_t>(), std::optional<std::int64_t>(0),
          std::optional<std::int64_t>(32'000'000)}) {
      const auto back =
          decode_memory_question(wire(encode(measure::MemoryQuestion{bytes, wait_ns})));
      ASSERT_TRUE(back) << back.error().message;
      EXPECT_EQ(back->pool_bytes, bytes);
      EXPECT_EQ(back->wait_ns, wait_ns);
    }
  }
  EXPECT_FALSE(decode_memory_question({{"pool_bytes", 1 << 20}, {"wait_ns", -1}}));
  EXPECT_FALSE(decode_memory_question({{"pool_bytes", 1 << 20}, {"wait_ns", 1'000'000'001}}));
  EXPECT_FALSE(decode_memory_question(Json::object()));
  EXPECT_FALSE(decode_memory_question({{"pool_bytes", 65'535}}));
  EXPECT_FALSE(decode_memory_question({{"pool_bytes", -1}}));
  const measure::MemoryAnswer answer{1 << 30, measure::MemoryLook{1 << 20, 2.5, 40}};
  const auto back = decode_memory_outcome(wire(encode(measure::MemoryOutcome(answer))), 1 << 20);
  ASSERT_TRUE(back && std::holds_alternative<measure::MemoryAnswer>(*back));
  const auto& found = std::get<measure::MemoryAnswer>(*back);
  EXPECT_EQ(found.max_pool_bytes, 1 << 30);
  ASSERT_TRUE(found.look);
  EXPECT_EQ(found.look->stream_ns, 2.5);
  EXPECT_EQ(found.look->chase_ns, 40);
  EXPECT_EQ(found.look->pool_bytes, 1 << 20);
  EXPECT_FALSE(found.waited_chase_ns);
  const measure::MemoryAnswer waited{1 << 30, std::nullopt, 27.5};
  const auto after = decode_memory_outcome(wire(encode(measure::MemoryOutcome(waited))), 1 << 20);
  ASSERT_TRUE(after && std::holds_alternative<measure::MemoryAnswer>(*after));
  EXPECT_FALSE(std::get<measure::MemoryAnswer>(*after).look);
  EXPECT_EQ(std::get<measure::MemoryAnswer>(*after).waited_chase_ns, 27.5);
  for (const measure::MemoryOutcome& refusal :
       {measure::MemoryOutcome(table::Unsupported{"recorded"}),
        measure::MemoryOutcome(table::Failed{"no memory"})}) {
    const auto refused = decode_memory_outcome(wire(encode(refusal)), 0);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->index(), refusal.index());
  }
  const auto outcome = [](const Json& json) {
    return decode_memory_outcome(json, 1 << 20).has_value();
  };
  EXPECT_TRUE(outcome({{"max_pool_bytes", 5}, {"look", nullptr}}));
  EXPECT_FALSE(outcome({{"look", {{"stream_ns", 1}, {"chase_ns", 1}}}}));
  EXPECT_FALSE(outcome({{"max_pool_bytes", 5}, {"look", {{"stream_ns", 1}}}}));
  EXPECT_FALSE(outcome({{"max_pool_bytes", 5}, {"look", {{"stream_ns", 0}, {"chase_ns", 1}}}}));
  EXPECT_FALSE(outcome({{"max_pool_bytes", -5}}));
  EXPECT_FALSE(outcome({{"max_pool_bytes", 5}, {"waited", 27.5}}));
  EXPECT_FALSE(outcome({{"max_pool_bytes", 5}, {"waited", {{"chase_ns", 0}}}}));
}

TEST(MessagesTest, PutRequestsAreChecked) {
  const Json good = {{"folder", std::string(32, 'a')},
                     {"hash", std::string(32, 'b')},
                     {"name", "m.onnx"},
                     {"offset", 0},
                     {"size", 3},
                     {"data", "Zm9v"}};
  ASSERT_TRUE(decode_put_request(good));
  for (const auto& [field, value] :
       std::vector<std::pair<const char*, Json>>{{"folder", "../../etc"},
                                                 {"folder", std::string(32, 'A')},
                                                 {"hash", "ab"},
                                                 {"size", 2},
                                                 {"offset", 1},
                                                 {"data", "Zm9"}}) {
    Json bad = good;
    bad[field] = value;
    EXPECT_FALSE(decode_put_request(bad)) << field << " " << value;
  }
}

TEST(MessagesTest, NoReplacementOfAFieldIsMisread) {
  often([] {
    // Whatever is in a field, the decoder either refuses it or gives a value that encodes to
    // what was there.
    measure::OpenRequest request;
    request.key = "Relu{}()->()";
    Json json = encode(request);
    static const std::vector<const char*> fields{"copies", "seed", "topology", "distinct_weights",
                                                 "batch"};
    static const std::vector<Json> values{nullptr,
                                          true,
                                          -1,
                                          0,
                                          1,
                                          65'536,
                                          65'537,
                                          1.0,
                                          1e300,
                                          "",
                                          "chain",
                                          Json::array(),
                                          Json::object(),
                                          std::numeric_limits<std::uint64_t>::max(),
                                          std::numeric_limits<std::int64_t>::min()};
    const char* field = fields[static_cast<std::size_t>(any_integer(0, 5))];
    const Json& value = values[static_cast<std::size_t>(any_integer(0, 15))];
    json[field] = value;
    const auto decoded = decode_open_request(json);
    if (decoded && !value.is_null()) {
      EXPECT_EQ(encode(*decoded).at(field), value);
    }
  });
}

}  // namespace
}  // namespace oplat::runtimes
