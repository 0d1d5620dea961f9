// An extender for tests as a process of its own (data/extender.py).
#ifndef DRASIM_TESTS_SIM_EXTENDER_EXTENDER_SERVER_H_
#define DRASIM_TESTS_SIM_EXTENDER_EXTENDER_SERVER_H_

#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/testing/subprocess.h"
#include "tests/testing/temp_dir.h"

namespace drasim {

class ExtenderServer {
 public:
  static bool HasPython() {
    return Process("/usr/bin/env", {"python3", "-c", ""}, "/").Wait().exit_code == 0;
  }

  // Waits until it listens; a failure of the test if it never does.
  ExtenderServer() {
    const std::string script =
        std::string(DRASIM_SOURCE_DIR) + "/tests/sim/extender/data/extender.py";
    process_ = std::make_unique<Process>(
        "/usr/bin/env", std::vector<std::string>{"python3", script, dir_.PathOf("port")}, "/");
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!dir_.Has("port")) {
      const bool lives = process_->Running() && std::chrono::steady_clock::now() < deadline;
      EXPECT_TRUE(lives);
      if (!lives) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    url_ = absl::StrCat("http://127.0.0.1:", dir_.Read("port"));
  }

  const std::string& url() const { return url_; }
  Process& process() { return *process_; }
  void Kill() {
    process_->Signal(SIGKILL);
    process_->Wait();
  }

 private:
  TempDir dir_;
  std::unique_ptr<Process> process_;
  std::string url_;
};

}  // namespace drasim

#endif  // DRASIM_TESTS_SIM_EXTENDER_EXTENDER_SERVER_H_
