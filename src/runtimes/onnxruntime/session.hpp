// SPDX-License-Identifier: Apache-2.0
/// One model, loaded and bound to inputs, ready to run.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ir/dtype.hpp"
#include "plan/records.hpp"
#include "runtimes/onnxruntime/api.hpp"

namespace oplat::runtimes::onnxruntime {

/// Data of one input.
struct InputData {
  std::string name;
  ir::Dtype dtype = ir::Dtype::F32;
  std::vector<std::int64_t> dims;
  std::string bytes;  ///< of strings: each with a NUL behind it
};

/// The numbers in `bytes`, which are dense and little-endian; std::nullopt if `dtype` is not an
/// integer of 8 bits or more, or a bool.
std::optional<std::vector<std::int64_t>> integers_in(std::string_view bytes, ir::Dtype dtype);

struct SessionOptions {
  int level = 0;  ///< graph optimisation: 0, 1, 2, 3 or 99
  std::int64_t threads = 1;
  bool spinning = true;
  bool prepacking = true;
  bool pairs_as_they_are = false;  ///< do not give each reader of a dequantised tensor its own
  bool shared_pool = false;     ///< threads of the environment's pool instead of the session's own
  std::string optimized_model;  ///< file that the optimised model is written to; empty: not written
  std::string data_folder;      ///< that external data of the model are relative to; empty: none
  std::string profile_prefix;   ///< of the profile's file name; empty: not profiled
};

/// Whether the runtime refused the model because it has no code for it, as opposed to a failure.
struct SessionError {
  Error error;
  bool not_implemented = false;
};

class Session {
 public:
  static tl::expected<std::unique_ptr<Session>, SessionError> create(const Api& api,
                                                                     const std::string& model,
                                                                     const SessionOptions& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Where inputs lie: as the caller's data do, which is how applications call whole models, or
  /// where the runtime's own allocator puts tensors, which is where a kernel finds its operands in
  /// a model: the caller's need not begin at a line of the cache, and wide loads cross lines then.
  enum class Place : std::uint8_t { Callers, Runtimes };
  /// Binds inputs to data, which the session keeps, and lets the runtime allocate the outputs, as
  /// an application would.
  Status bind(std::vector<InputData> inputs, Place place = Place::Callers);
  /// A further set of data for the same inputs, after bind(). Each run takes the next set in turn.
  Status add_inputs(std::vector<InputData> inputs);
  /// Takes the last further set back.
  void drop_last_inputs();
  /// What bind() was given.
  [[nodiscard]] const std::vector<InputData>& inputs() const { return sets_.front().data; }
  /// Where the data of an input of the first set lie.
  [[nodiscard]] Result<std::uintptr_t> address_of_input(std::size_t input) const;
  /// One run of the bound session. To bind another set takes 0.13 to 0.17 us an input
  /// (docs/adr/0050).
  Status run();
  /// The same, ended where the process comes to hold `growth_bytes` more than it does now; true if
  /// it was.
  Result<bool> run_within(std::int64_t growth_bytes);
  /// The first output of the last run, which must be of 64-bit integers.
  Result<std::vector<std::int64_t>> first_output() const;
  /// Values of the outputs called `names` after a run, of integers and bools; std::nullopt for
  /// the name of another output or of none.
  Result<std::vector<std::optional<std::vector<std::int64_t>>>> integer_outputs(
      const std::vector<std::string>& wanted) const;
  /// Ends profiling; the file that the events were written to.
  Result<std::string> end_profiling();

 private:
  explicit Session(const Api& api) : api_(api) {}
  Result<std::vector<std::string>> names(OrtStatus* (*count)(const OrtSession*, std::size_t*),
                                         OrtStatus* (*name)(const OrtSession*, std::size_t,
                                                            OrtAllocator*, char**)) const;
  Result<std::vector<std::int64_t>> integers_of(OrtValue* value) const;
  std::optional<std::vector<std::int64_t>> any_integers_of(OrtValue* value) const;

  const Api& api_;
  OrtSession* session_ = nullptr;
  OrtIoBinding* binding_ = nullptr;
  /// Data and values of all inputs.
  struct Inputs {
    std::vector<InputData> data;
    std::vector<OrtValue*> values;  ///< in the order of input_names_
  };
  Status make_values(Inputs& inputs);
  Status bind_values(const Inputs& inputs);
  void release(Inputs& inputs);

  std::vector<std::string> input_names_;
  std::deque<Inputs> sets_;  ///< which stay where they are as others come
  std::size_t bound_ = 0;    ///< set of the last run
  bool has_run_ = false;
  Place place_ = Place::Callers;
};

}  // namespace oplat::runtimes::onnxruntime
