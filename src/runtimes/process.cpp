// SPDX-License-Identifier: Apache-2.0
#include "runtimes/process.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/message.hpp"
#include "base/text.hpp"

namespace oplat::runtimes {
namespace {

constexpr std::size_t kErrorTailBytes = 4096;

/// A descriptor closed when its scope ends.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  void close() { *this = Descriptor(); }

 private:
  int fd_ = -1;
};

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(Code::Runtime, "cannot make a pipe: {}", std::strerror(errno));
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

void set_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

/// Which step of the child failed before its program ran.
enum class Step : int { Group, Descriptors, Pin, Memory, Execute };
struct ChildFailure {
  Step step;
  int error;
};

std::string_view step_text(Step step) {
  switch (step) {
    case Step::Group:
      return "cannot make a process group";
    case Step::Descriptors:
      return "cannot set up its descriptors";
    case Step::Pin:
      break;  // told with the CPUs that there are
    case Step::Memory:
      return "cannot limit its memory";
    case Step::Execute:
      return "cannot execute it";
  }
  return "cannot start it";
}

/// CPUs that this process may use, in ranges: "0-3, 8".
std::string usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return "not known";
  std::vector<std::string> ranges;
  for (std::size_t first = 0; first < CPU_SETSIZE; ++first) {
    if (!CPU_ISSET(first, &set)) continue;
    std::size_t last = first;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
    ranges.push_back(first == last ? std::to_string(first) : fmt::format("{}-{}", first, last));
    first = last;
  }
  return base::join(ranges, ", ");
}

struct ChildSetup {
  int input = -1;
  int output = -1;
  int errors = -1;
  int report = -1;  // survives until the program runs
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  std::int64_t memory_limit_bytes = 0;
  std::optional<int> cpu;
};

[[noreturn]] void report_and_exit(int report, Step step) {
  const ChildFailure failure{step, errno};
  [[maybe_unused]] const auto written = ::write(report, &failure, sizeof failure);
  ::_exit(127);
}

/// Runs between fork and exec: only calls that are safe after a fork of a program with threads.
[[noreturn]] void run_child(const ChildSetup& setup) {
  if (::setpgid(0, 0) != 0) report_and_exit(setup.report, Step::Group);
  // Signals that our program ignores or blocks would stay so in the worker.
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP, SIGQUIT, SIGXFSZ, SIGCHLD})
    ::signal(signal, SIG_DFL);
  if (::dup2(setup.input, 0) < 0 || ::dup2(setup.output, 1) < 0 || ::dup2(setup.errors, 2) < 0) {
    report_and_exit(setup.report, Step::Descriptors);
  }
#ifdef SYS_close_range
  constexpr unsigned kCloseOnExec = 4;
  ::syscall(SYS_close_range, 3U, ~0U, kCloseOnExec);
#endif
  if (setup.cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(*setup.cpu), &set);
    if (::sched_setaffinity(0, sizeof set, &set) != 0) report_and_exit(setup.report, Step::Pin);
  }
  if (setup.memory_limit_bytes > 0) {
    const auto bytes = static_cast<rlim_t>(setup.memory_limit_bytes);
    const rlimit limit{bytes, bytes};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) report_and_exit(setup.report, Step::Memory);
  }
  ::execvpe(setup.argv[0], setup.argv, setup.environment);
  report_and_exit(setup.report, Step::Execute);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  for (auto& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

/// Of folders for temporary files, before the number of the process that made them.
constexpr std::string_view kTemporaryPrefix = "oplat-worker.";

bool passes(std::string_view name) {
  constexpr std::array kNames{"PATH",
                              "HOME",
                              "USER",
                              "LOGNAME",
                              "SHELL",
                              "TERM",
                              "TZ",
                              "PYTHONPATH",
                              "PYTHONHOME",
                              "VIRTUAL_ENV",
                              "LD_LIBRARY_PATH",
                              "SSH_AUTH_SOCK",
                              "ANDROID_SERIAL",
                              "ADB_SERVER_SOCKET"};
  constexpr std::array kPrefixes{"OPLAT_", "XDG_", "ASAN_", "UBSAN_", "LSAN_", "CONDA_"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view known) { return name == known; }) ||
         std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view p) { return name.substr(0, p.size()) == p; });
}

std::string signal_text(int signal) {
  constexpr std::array<std::pair<int, std::string_view>, 12> kNames{{{SIGSEGV, "SIGSEGV"},
                                                                     {SIGABRT, "SIGABRT"},
                                                                     {SIGBUS, "SIGBUS"},
                                                                     {SIGILL, "SIGILL"},
                                                                     {SIGFPE, "SIGFPE"},
                                                                     {SIGKILL, "SIGKILL"},
                                                                     {SIGTERM, "SIGTERM"},
                                                                     {SIGINT, "SIGINT"},
                                                                     {SIGHUP, "SIGHUP"},
                                                                     {SIGPIPE, "SIGPIPE"},
                                                                     {SIGTRAP, "SIGTRAP"},
                                                                     {SIGSYS, "SIGSYS"}}};
  for (const auto& [number, name] : kNames) {
    if (number == signal) return fmt::format("signal {} ({})", signal, name);
  }
  return fmt::format("signal {}", signal);
}

}  // namespace

void sweep_temporary(const std::filesystem::path& root) {
  std::error_code error;
  const auto yesterday = std::filesystem::file_time_type::clock::now() - std::chrono::hours(24);
  for (std::filesystem::directory_iterator at(root, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(kTemporaryPrefix)) continue;
    const auto process = base::parse_int(
        name.substr(kTemporaryPrefix.size(), name.rfind('.') - kTemporaryPrefix.size()));
    if (!process || *process <= 0 || *process > std::numeric_limits<pid_t>::max()) continue;
    if (::kill(static_cast<pid_t>(*process), 0) == 0 || errno != ESRCH) continue;
    std::error_code ignored;
    const auto written = at->last_write_time(ignored);
    if (!ignored && written < yesterday) std::filesystem::remove_all(at->path(), ignored);
  }
}

std::vector<std::string> worker_environment(const std::filesystem::path& temporary) {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos && passes(text.substr(0, equals)))
      variables.emplace_back(text);
  }
  variables.push_back("TMPDIR=" + temporary.string());
  variables.emplace_back("LC_ALL=C.UTF-8");
  variables.emplace_back("ORT_DISABLE_TELEMETRY=1");
  variables.emplace_back("PYTHONUNBUFFERED=1");
  return variables;
}

bool has_worker_environment() {
  constexpr std::array kGiven{"TMPDIR", "LC_ALL", "ORT_DISABLE_TELEMETRY", "PYTHONUNBUFFERED"};
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const std::string_view name = text.substr(0, text.find('='));
    const bool given = std::any_of(kGiven.begin(), kGiven.end(),
                                   [&](std::string_view known) { return name == known; });
    if (!given && !passes(name)) return false;
  }
  return true;
}

Result<std::unique_ptr<Process>> Process::start(const ProcessOptions& options) {
  if (options.command.empty()) return fail(Code::Usage, "the command of a worker is empty");
  if (options.cpu && (*options.cpu < 0 || *options.cpu >= CPU_SETSIZE)) {
    return fail(Code::Usage, "--cpu {}: there is no such CPU; the CPUs are {}", *options.cpu,
                usable_cpus());
  }
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    return fail(Code::Runtime, "cannot make a socket: {}", std::strerror(errno));
  }
  Descriptor ours(sockets[0]);
  Descriptor theirs(sockets[1]);
  OPLAT_TRY(output, make_pipe());
  OPLAT_TRY(errors, make_pipe());
  OPLAT_TRY(report, make_pipe());
  OPLAT_TRY(temporary,
            base::TemporaryFolder::create(fmt::format("{}{}", kTemporaryPrefix, ::getpid())));
  static std::once_flag swept;
  std::call_once(swept, [&] { sweep_temporary(temporary.path().parent_path()); });
  auto arguments = options.command;
  auto variables = worker_environment(temporary.path());
  const auto argv = pointers(arguments);
  const auto environment = pointers(variables);
  const ChildSetup setup{
      theirs.get(), output.write.get(), errors.write.get(),         report.write.get(),
      argv.data(),  environment.data(), options.memory_limit_bytes, options.cpu};
  const pid_t pid = ::fork();
  if (pid < 0) return fail(Code::Runtime, "cannot start a process: {}", std::strerror(errno));
  if (pid == 0) run_child(setup);

  std::unique_ptr<Process> process(new Process(std::move(temporary)));
  process->pid_ = pid;
  process->input_ = ours.release();
  process->output_ = output.read.release();
  process->errors_ = errors.read.release();
  process->show_errors_ = std::getenv("OPLAT_WORKER_STDERR") != nullptr;
  set_nonblocking(process->output_);
  set_nonblocking(process->errors_);
  theirs.close();
  output.write.close();
  errors.write.close();
  report.write.close();
  ChildFailure failure{};
  ssize_t read = 0;
  do {
    read = ::read(report.read.get(), &failure, sizeof failure);
  } while (read < 0 && errno == EINTR);
  if (read == static_cast<ssize_t>(sizeof failure)) {
    if (failure.step == Step::Pin)
      return fail(Code::Usage, "--cpu {}: a worker cannot be pinned to it: {}; the CPUs are {}",
                  options.cpu.value_or(-1), std::strerror(failure.error), usable_cpus());
    return fail(Code::Runtime, "worker {}: {}: {}", options.command.front(),
                step_text(failure.step), std::strerror(failure.error));
  }
  return process;
}

Process::~Process() {
  finish();
  close_input();
  if (output_ >= 0) ::close(output_);
  if (errors_ >= 0) ::close(errors_);
}

void Process::close_input() {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
}

bool Process::ended() const {
  if (pid_ < 0) return true;
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
    return errno == ECHILD;  // reaped by the system: a program that links us ignores SIGCHLD
  return info.si_pid == pid_;
}

bool Process::wait(std::chrono::milliseconds grace) const {
  const auto until = std::chrono::steady_clock::now() + grace;
  while (!ended()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

std::string Process::finish() {
  if (pid_ < 0) return "";
  // Before the child is reaped, so that its number, which is the group's, cannot belong to somebody
  // else yet.
  ::kill(-pid_, SIGKILL);
  int status = 0;
  pid_t reaped = 0;
  do {
    reaped = ::waitpid(pid_, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  pid_ = -1;
  drain_errors();
  show_errors("", true);
  if (reaped < 0) return "how is not known, since this program ignores SIGCHLD";
  if (WIFSIGNALED(status)) return signal_text(WTERMSIG(status));
  return fmt::format("exit status {}", WEXITSTATUS(status));
}

void Process::drain_errors() {
  std::array<char, 4096> piece{};
  // Bounded: a worker that writes without end must not keep us here.
  for (int round = 0; round < 256; ++round) {
    const ssize_t read = ::read(errors_, piece.data(), piece.size());
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return;
    if (read == 0) {
      ::close(std::exchange(errors_, -1));  // at its end it would always be ready to read
      show_errors("", true);
      return;
    }
    show_errors(std::string_view(piece.data(), static_cast<std::size_t>(read)), false);
    error_tail_.append(piece.data(), static_cast<std::size_t>(read));
    if (error_tail_.size() > kErrorTailBytes)
      error_tail_.erase(0, error_tail_.size() - kErrorTailBytes);
  }
}

void Process::show_errors(std::string_view piece, bool last) {
  if (!show_errors_) return;
  // A piece may end inside a character: what follows the last line end waits for the next one.
  unshown_errors_ += piece;
  std::size_t end = unshown_errors_.rfind('\n') + 1;
  if (last || unshown_errors_.size() > kErrorTailBytes) end = unshown_errors_.size();
  // Runtimes quote names of the model.
  const std::string shown = base::printable_lines(unshown_errors_.substr(0, end));
  unshown_errors_.erase(0, end);
  [[maybe_unused]] const auto written = ::write(2, shown.data(), shown.size());
}

std::string Process::last_words() const {
  const std::size_t end = error_tail_.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return "";
  const std::size_t before = error_tail_.find_last_of('\n', end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return base::printable(std::string_view(error_tail_).substr(begin, end + 1 - begin), 200);
}

}  // namespace oplat::runtimes
