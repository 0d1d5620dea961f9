// The real drasim binary, run in a folder of the test's own over a trace of three pods.
#ifndef DRASIM_TESTS_SIM_APP_CLI_FIXTURE_H_
#define DRASIM_TESTS_SIM_APP_CLI_FIXTURE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/testing/subprocess.h"
#include "tests/testing/temp_dir.h"

namespace drasim {

inline constexpr char kNodeHeader[] = "sn,cpu_milli,memory_mib,gpu,model\n";
inline constexpr char kNodesCsv[] =
    "sn,cpu_milli,memory_mib,gpu,model\n"
    "n-0,64000,262144,2,P100\n"
    "n-1,96000,393216,4,T4\n";
inline constexpr char kPodHeader[] =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
    "deletion_time,scheduled_time\n";
inline constexpr char kPodRows[] =
    "p-0,12000,16384,1,460,,LS,Running,5,1000,7\n"
    "p-1,500,1024,0,0,,BE,Pending,5,20,\n"
    "p-2,500,1024,2,1000,T4,Burstable,Failed,6,6,6\n";

// The value that a dotted path leads to in drasim's own JSON (a key per line), as it stands there.
// Empty when it is not there.
inline std::string JsonAt(absl::string_view json, absl::string_view path) {
  size_t at = 0;
  for (const absl::string_view key : absl::StrSplit(path, '.')) {
    const std::string quoted = absl::StrCat("\"", key, "\": ");
    at = json.find(quoted, at);
    if (at == absl::string_view::npos) return std::string();
    at += quoted.size();
  }
  const size_t end = json.find_first_of(",\n", at);
  return std::string(json.substr(at, end - at));
}

inline double Number(absl::string_view text) {
  double value = 0;
  EXPECT_TRUE(absl::SimpleAtod(text, &value)) << text;
  return value;
}

class CliTest : public ::testing::Test {
 protected:
  CliTest() {
    dir_.Write("nodes.csv", kNodesCsv);
    dir_.Write("pods.csv", absl::StrCat(kPodHeader, kPodRows));
  }

  ProcessResult Run(const std::vector<std::string>& args, absl::string_view input = "") const {
    return Process(DRASIM_BINARY, args, dir_.path(), input).Wait();
  }
  // `drasim run` over the files that the fixture wrote, with `args` behind.
  ProcessResult RunTiny(const std::vector<std::string>& args) const {
    std::vector<std::string> all = {"run", "--nodes", "nodes.csv", "--pods", "pods.csv"};
    all.insert(all.end(), args.begin(), args.end());
    return Run(all);
  }
  // A command that is to succeed; its standard output.
  std::string Succeed(const std::vector<std::string>& args) const {
    const ProcessResult result = Run(args);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }
  // Bad usage or input: exit code 2, one line on standard error, nothing on standard output.
  void ExpectRefused(const std::vector<std::string>& args, absl::string_view message) const {
    const ProcessResult result = Run(args);
    EXPECT_EQ(result.exit_code, 2) << message;
    EXPECT_EQ(result.err, absl::StrCat("drasim: error: ", message, "\n"));
    EXPECT_EQ(result.out, "") << message;
  }

  TempDir dir_;
};

}  // namespace drasim

#endif  // DRASIM_TESTS_SIM_APP_CLI_FIXTURE_H_
