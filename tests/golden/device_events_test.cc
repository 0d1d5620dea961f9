// Device events of golden scenarios: each file in device_events/ has the events that the scenario
// of that name must leave behind.
//
// The expected files were checked by hand against what the kubelet and the Job controller do.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/testing/subprocess.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace device_events_test {

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

TEST(DeviceEventsTest, EveryScenarioLeavesTheEventsThatWereChecked) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(
           absl::StrCat(DRASIM_SOURCE_DIR, "/tests/golden/device_events"))) {
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  ASSERT_EQ(names.size(), 6u);
  for (const std::string& name : names) {
    const TempDir dir;
    const std::string out = dir.PathOf("out");
    Process process(DRASIM_BINARY,
                    {"run", absl::StrCat(DRASIM_SOURCE_DIR, "/scenarios/", name, ".yaml"), "--out",
                     out, "--set", "output.check_invariants=true", "--quiet"},
                    dir.PathOf(""));
    const ProcessResult run = process.Wait();
    ASSERT_EQ(run.exit_code, 0) << name << ": " << run.err;
    EXPECT_EQ(
        ReadText(out + "/device_events.csv"),
        ReadText(absl::StrCat(DRASIM_SOURCE_DIR, "/tests/golden/device_events/", name, ".csv")))
        << name;
  }
}

}  // namespace device_events_test
}  // namespace drasim
