#include "sim/bench/program_run.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"

namespace drasim::bench {
namespace {

constexpr int kNotFound = 127;    // as a shell says it
constexpr int kSignalBase = 128;  // likewise

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using TemporaryFile = std::unique_ptr<std::FILE, CloseFile>;

std::string TextOf(std::FILE* file) {
  std::string text;
  std::rewind(file);
  char buffer[4096];
  size_t count = 0;
  while ((count = std::fread(buffer, 1, sizeof(buffer), file)) > 0) text.append(buffer, count);
  return text;
}

// In the child, where only async-signal-safe calls are safe.
[[noreturn]] void BecomeProgram(char* const* argv, const char* cwd, int out, int err) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);
  const int in = open("/dev/null", O_RDONLY);
  if (in >= 0 && chdir(cwd) == 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
      dup2(err, STDERR_FILENO) >= 0) {
    execvp(argv[0], argv);
  }
  _exit(kNotFound);
}

// Whether the child ended in time. A child that did not is killed.
bool WaitFor(pid_t child, double timeout_seconds, int* status) {
  using SteadyClock = std::chrono::steady_clock;
  constexpr auto kLongestNap = std::chrono::milliseconds(50);
  const auto deadline = SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                                                 std::chrono::duration<double>(timeout_seconds));
  auto nap = std::chrono::milliseconds(1);
  while (waitpid(child, status, WNOHANG) != child) {
    if (SteadyClock::now() > deadline) {
      kill(-child, SIGKILL);
      waitpid(child, status, 0);
      return false;
    }
    std::this_thread::sleep_for(nap);
    nap = std::min(2 * nap, kLongestNap);
  }
  return true;
}

}  // namespace

absl::StatusOr<ProgramOutput> RunProgram(const std::vector<std::string>& args,
                                         const std::string& cwd, double timeout_seconds) {
  DRASIM_CHECK(!args.empty());
  const TemporaryFile out(std::tmpfile());
  const TemporaryFile err(std::tmpfile());
  if (out == nullptr || err == nullptr) {
    return absl::UnavailableError("cannot create a temporary file");
  }
  std::vector<std::string> words = args;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) return absl::UnavailableError(absl::StrCat("cannot start ", args[0]));
  if (child == 0) BecomeProgram(argv.data(), cwd.c_str(), fileno(out.get()), fileno(err.get()));
  int status = 0;
  if (!WaitFor(child, timeout_seconds, &status)) {
    return absl::AbortedError(
        absl::StrCat(args[0], " still ran after ", timeout_seconds, " s and was killed"));
  }
  ProgramOutput output;
  output.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalBase + WTERMSIG(status);
  output.out = TextOf(out.get());
  output.err = TextOf(err.get());
  return output;
}

}  // namespace drasim::bench
