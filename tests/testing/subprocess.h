// Runs a program and catches what it prints. POSIX.
#ifndef DRASIM_TESTS_TESTING_SUBPROCESS_H_
#define DRASIM_TESTS_TESTING_SUBPROCESS_H_

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/check.h"

namespace drasim {

struct ProcessResult {
  int exit_code = -1;  // -1: a signal ended it
  int signal = 0;
  std::string out;
  std::string err;
};

// One running program. Killed when it is not waited for.
class Process {
 public:
  // `cwd` becomes its current folder, `input` its standard input.
  Process(const std::string& binary, const std::vector<std::string>& args, const std::string& cwd,
          absl::string_view input = "")
      : in_(std::tmpfile()), out_(std::tmpfile()), err_(std::tmpfile()) {
    DRASIM_CHECK(in_ != nullptr && out_ != nullptr && err_ != nullptr);
    DRASIM_CHECK_EQ(std::fwrite(input.data(), 1, input.size(), in_), input.size());
    std::rewind(in_);
    std::vector<std::string> words = {binary};
    words.insert(words.end(), args.begin(), args.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = fork();
    DRASIM_CHECK(pid_ >= 0);
    if (pid_ == 0) Become(argv.data(), cwd.c_str());
  }
  ~Process() {
    if (Running()) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    for (std::FILE* file : {in_, out_, err_}) std::fclose(file);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Whether it has not ended yet.
  bool Running() {
    if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
    return !ended_;
  }
  // REQUIRES: Running() or Wait() have not seen its end yet.
  void Signal(int number) const { DRASIM_CHECK_EQ(kill(pid_, number), 0); }

  // Waits for the end. A program that takes longer than `timeout_s` is killed: a test failure.
  ProcessResult Wait(int timeout_s = 120) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(timeout_s);
    while (Running()) {
      if (std::chrono::steady_clock::now() > deadline) {
        ADD_FAILURE() << "the program still runs after " << timeout_s << " s";
        kill(pid_, SIGKILL);
        waitpid(pid_, &status_, 0);
        ended_ = true;
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ProcessResult result;
    if (WIFEXITED(status_)) result.exit_code = WEXITSTATUS(status_);
    if (WIFSIGNALED(status_)) result.signal = WTERMSIG(status_);
    result.out = TextOf(out_);
    result.err = TextOf(err_);
    return result;
  }

 private:
  // In the child, where only async-signal-safe calls are safe.
  [[noreturn]] void Become(char* const* argv, const char* cwd) const {
    for (const int number : {SIGINT, SIGHUP}) std::signal(number, SIG_DFL);
    if (chdir(cwd) == 0 && dup2(fileno(in_), STDIN_FILENO) >= 0 &&
        dup2(fileno(out_), STDOUT_FILENO) >= 0 && dup2(fileno(err_), STDERR_FILENO) >= 0) {
      execv(argv[0], argv);
    }
    _exit(127);
  }

  static std::string TextOf(std::FILE* file) {
    std::string text;
    std::rewind(file);
    char buffer[4096];
    size_t count = 0;
    while ((count = std::fread(buffer, 1, sizeof(buffer), file)) > 0) text.append(buffer, count);
    return text;
  }

  std::FILE* in_;
  std::FILE* out_;
  std::FILE* err_;
  pid_t pid_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_TESTS_TESTING_SUBPROCESS_H_
