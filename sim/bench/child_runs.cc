#include "sim/bench/child_runs.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "sim/bench/last_line.h"

namespace drasim::bench {
namespace {

using Clock = std::chrono::steady_clock;

// The first byte of what a child writes.
constexpr char kAnswer = 'A';
constexpr char kError = 'E';
// With which a child ends that has done its work.
constexpr int kChildExit = 0;
constexpr int kNotStarted = 127;

struct Child {
  size_t index = 0;
  pid_t pid = -1;
  int descriptor = -1;  // its answer comes from here
  Clock::time_point start;
  Clock::time_point deadline;
  bool killed = false;
  std::string text;
};

void WriteAll(int descriptor, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // the parent is gone, or takes the answer for a crash
    text.remove_prefix(static_cast<size_t>(written));
  }
}

void WorkInChild(int descriptor, size_t index,
                 absl::FunctionRef<absl::StatusOr<std::string>(size_t)> work) {
  const absl::StatusOr<std::string> answer = work(index);
  const std::string text = answer.ok()
                               ? absl::StrCat(std::string(1, kAnswer), *answer)
                               : absl::StrCat(std::string(1, kError), answer.status().message());
  WriteAll(descriptor, text);
}

// Returns only if the program cannot be started.
void ExecuteInChild(int descriptor, const Program& program) {
  const char* const input = program.input.empty() ? "/dev/null" : program.input.c_str();
  const int in = open(input, O_RDONLY | O_CLOEXEC);
  if (in < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(descriptor, STDOUT_FILENO) < 0 ||
      dup2(descriptor, STDERR_FILENO) < 0) {
    WriteAll(descriptor, absl::StrCat("cannot open ", input, ": ", std::strerror(errno)));
    return;
  }
  if (!program.directory.empty() && chdir(program.directory.c_str()) != 0) {
    WriteAll(descriptor,
             absl::StrCat("cannot enter ", program.directory, ": ", std::strerror(errno)));
    return;
  }
  // Tables of hashed addresses cost as much as the addresses happen to collide.
  const int persona = personality(0xffffffff);
  if (persona >= 0) personality(static_cast<unsigned long>(persona) | ADDR_NO_RANDOMIZE);
  std::vector<std::string> environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C"};
  if (const char* const path = std::getenv("LD_LIBRARY_PATH"); path != nullptr)
    environment.push_back(absl::StrCat("LD_LIBRARY_PATH=", path));
  std::vector<std::string> arguments = program.arguments;
  std::vector<char*> argument_list;
  for (std::string& argument : arguments) argument_list.push_back(argument.data());
  argument_list.push_back(nullptr);
  std::vector<char*> environment_list;
  for (std::string& variable : environment) environment_list.push_back(variable.data());
  environment_list.push_back(nullptr);
  execvpe(arguments[0].c_str(), argument_list.data(), environment_list.data());
  WriteAll(descriptor, absl::StrCat("cannot start ", arguments[0], ": ", std::strerror(errno)));
}

// `live` is called in the child.
absl::StatusOr<Child> Start(size_t index, double timeout_seconds,
                            absl::FunctionRef<void(int descriptor, size_t index)> live) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0)
    return absl::UnavailableError(absl::StrCat("cannot make a pipe: ", std::strerror(errno)));
  Child child;
  child.index = index;
  child.descriptor = ends[0];
  child.start = Clock::now();
  child.deadline = child.start + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(timeout_seconds));
  child.pid = fork();
  if (child.pid == 0) {
    close(ends[0]);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    live(ends[1], index);
    _exit(kChildExit);  // not exit: the buffers of standard output are the parent's
  }
  close(ends[1]);
  if (child.pid > 0) return child;
  close(ends[0]);
  return absl::UnavailableError(absl::StrCat("cannot start a process: ", std::strerror(errno)));
}

// Reads the available bytes. False at the end of the answer.
bool ReadSome(Child* child) {
  char buffer[1 << 14];
  const ssize_t got = read(child->descriptor, buffer, sizeof(buffer));
  if (got < 0 && errno == EINTR) return true;
  if (got > 0) child->text.append(buffer, static_cast<size_t>(got));
  return got > 0;
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// The answer of a child that has ended by itself.
absl::StatusOr<std::string> AnswerOf(const Child& child, int exit_code, bool is_program) {
  if (is_program) {
    if (exit_code == 0) return child.text;
    return absl::AbortedError(
        absl::StrCat("ended with exit code ", exit_code, ": ", LastLine(child.text)));
  }
  if (exit_code != kChildExit || child.text.empty())
    return absl::AbortedError(absl::StrCat("ended early with exit code ", exit_code));
  if (child.text[0] == kError) return absl::InvalidArgumentError(child.text.substr(1));
  return child.text.substr(1);
}

// Waits for a child whose answer has ended.
ChildResult Collect(const Child& child, double timeout_seconds, bool is_program) {
  close(child.descriptor);
  int status = 0;
  rusage usage{};
  while (wait4(child.pid, &status, 0, &usage) < 0 && errno == EINTR) continue;
  ChildResult result{absl::UnknownError(""), 0, 0, 0};
  result.wall_seconds = std::chrono::duration<double>(Clock::now() - child.start).count();
  result.cpu_seconds = Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
  result.peak_rss_kib = usage.ru_maxrss;
  if (child.killed) {
    result.answer =
        absl::AbortedError(absl::StrCat("killed: it took more than ", timeout_seconds, " s"));
  } else if (WIFSIGNALED(status)) {
    result.answer = absl::AbortedError(absl::StrCat("crashed: ", strsignal(WTERMSIG(status))));
  } else {
    result.answer = AnswerOf(child, WEXITSTATUS(status), is_program);
  }
  return result;
}

// Waits for output of the children or for the next deadline, and kills those beyond theirs.
void Await(std::vector<Child>* running, std::vector<pollfd>* polled) {
  polled->clear();
  Clock::time_point next = Clock::time_point::max();
  for (const Child& child : *running) {
    polled->push_back({child.descriptor, POLLIN, 0});
    if (!child.killed) next = std::min(next, child.deadline);
  }
  int wait_ms = -1;
  if (next != Clock::time_point::max()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
    wait_ms = static_cast<int>(std::clamp<int64_t>(left, 0, 60'000));
  }
  poll(polled->data(), polled->size(), wait_ms);
  for (Child& child : *running) {
    if (child.killed || Clock::now() < child.deadline) continue;
    kill(child.pid, SIGKILL);
    child.killed = true;
  }
}

absl::Status RunAll(size_t n, const ChildRunOptions& options, bool programs,
                    absl::FunctionRef<void(int descriptor, size_t index)> live,
                    absl::FunctionRef<void(size_t, const ChildResult&)> done) {
  std::vector<Child> running;
  std::vector<pollfd> polled;
  size_t next = 0;
  absl::Status status;
  while (true) {
    while (status.ok() && next < n && running.size() < std::max<size_t>(1, options.jobs)) {
      absl::StatusOr<Child> child = Start(next, options.timeout_seconds, live);
      status = child.status();
      if (!status.ok()) break;
      running.push_back(*std::move(child));
      ++next;
    }
    if (running.empty()) return status;
    Await(&running, &polled);
    for (size_t i = running.size(); i-- > 0;) {
      if (polled[i].revents == 0 || ReadSome(&running[i])) continue;
      const Child ended = std::move(running[i]);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
      done(ended.index, Collect(ended, options.timeout_seconds, programs));
    }
  }
}

}  // namespace

absl::Status RunInChildren(size_t n, const ChildRunOptions& options,
                           absl::FunctionRef<absl::StatusOr<std::string>(size_t)> work,
                           absl::FunctionRef<void(size_t, const ChildResult&)> done) {
  const auto live = [&work](int descriptor, size_t index) { WorkInChild(descriptor, index, work); };
  return RunAll(n, options, /*programs=*/false, live, done);
}

absl::Status RunPrograms(size_t n, const ChildRunOptions& options,
                         absl::FunctionRef<Program(size_t)> program,
                         absl::FunctionRef<void(size_t, const ChildResult&)> done) {
  const auto live = [&program](int descriptor, size_t index) {
    ExecuteInChild(descriptor, program(index));
    _exit(kNotStarted);
  };
  return RunAll(n, options, /*programs=*/true, live, done);
}

}  // namespace drasim::bench
