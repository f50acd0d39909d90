// SPDX-License-Identifier: Apache-2.0
/// Reads /proc and /sys.
#include "measure/environment.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <optional>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/version.hpp"

namespace oplat::measure {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxLine = 256;

/// First line of a file of the kernel's, without its end; std::nullopt if missing or empty.
std::optional<std::string> first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line) || line.empty()) return std::nullopt;
  return line.substr(0, kMaxLine);
}

/// "madvise" of "always [madvise] never".
std::optional<std::string> bracketed(const std::optional<std::string>& line) {
  if (!line) return std::nullopt;
  const std::size_t open = line->find('[');
  const std::size_t close = line->find(']', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) return std::nullopt;
  return line->substr(open + 1, close - open - 1);
}

void put(table::Environment& environment, const char* name,
         const std::optional<std::string>& value) {
  if (value) environment.facts[name] = base::printable(*value, kMaxLine);
}

std::string hostname_hash() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return {};
  return base::hash128(name.data()).hex();
}

}  // namespace

std::string utc_text(std::int64_t seconds) {
  using namespace std::chrono;
  const sys_seconds time{std::chrono::seconds{seconds}};
  const sys_days day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss clock{time - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

table::Environment probe_environment() { return probe_environment("/"); }

table::Environment harness_environment() {
  table::Environment environment;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  environment.started_at = utc_text(std::chrono::duration_cast<std::chrono::seconds>(now).count());
  environment.facts["harness_version"] = base::version();
  environment.facts["harness_commit"] = base::commit();
  return environment;
}

table::Environment probe_environment(const fs::path& root) {
  table::Environment environment = harness_environment();
  utsname system{};
  if (uname(&system) == 0) environment.kernel = system.release;
  environment.hostname_hash = hostname_hash();
  if (const auto load = first_line(root / "proc/loadavg")) {
    environment.load_average = base::parse_double(load->substr(0, load->find(' '))).value_or(0);
    environment.facts["load_average"] = base::printable(*load, kMaxLine);
  }
  const fs::path devices = root / "sys/devices/system";
  put(environment, "clock_source",
      first_line(devices / "clocksource/clocksource0/current_clocksource"));
  put(environment, "governor", first_line(devices / "cpu/cpu0/cpufreq/scaling_governor"));
  put(environment, "driver", first_line(devices / "cpu/cpu0/cpufreq/scaling_driver"));
  put(environment, "turbo_off", first_line(devices / "cpu/intel_pstate/no_turbo"));
  put(environment, "boost", first_line(devices / "cpu/cpufreq/boost"));
  put(environment, "smt", first_line(devices / "cpu/smt/active"));
  put(environment, "huge_pages",
      bracketed(first_line(root / "sys/kernel/mm/transparent_hugepage/enabled")));
  put(environment, "address_randomisation",
      first_line(root / "proc/sys/kernel/randomize_va_space"));
  put(environment, "cpu_pressure", first_line(root / "proc/pressure/cpu"));
  environment.facts["harness_build"] = base::build_type();
  environment.facts["harness_compiler"] = base::compiler();
  return environment;
}

}  // namespace oplat::measure
