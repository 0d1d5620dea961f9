// Output of runs about devices: device_events.csv, the columns and the object that only they have,
// and the printed rows. Calculated by hand.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "tests/sim/app/cli_fixture.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace cli_devices_test {

using Names = std::vector<std::string>;

// The words behind `name` in the line that begins with it and two blanks.
Names Cells(absl::string_view table, absl::string_view name) {
  for (absl::string_view line : absl::StrSplit(table, '\n')) {
    if (!absl::ConsumePrefix(&line, name) || !absl::StartsWith(line, "  ")) continue;
    return absl::StrSplit(line, ' ', absl::SkipEmpty());
  }
  return {};
}

struct Value {
  const char* path;  // within the object "devices"
  const char* text;
};

class CliDevicesTest : public CliTest {
 protected:
  CliDevicesTest() {
    dir_.Write("broken.yaml", TestText("broken.yaml"));
    dir_.Write("instances.yaml", TestText("instances.yaml"));
  }
  static void ExpectValues(const std::string& json, const std::vector<Value>& values) {
    for (const Value& value : values) {
      EXPECT_EQ(JsonAt(json, absl::StrCat("devices.", value.path)), value.text) << value.path;
    }
  }
};

TEST_F(CliDevicesTest, FilesOfARunWithAFrontEnd) {
  const std::string table = Succeed({"run", "broken.yaml", "--quiet", "--out", "out"});
  EXPECT_EQ(dir_.List("out"),
            (Names{"by_load.csv", "device_events.csv", "jobs.csv", "ledger", "pods.csv", "run.json",
                   "scenario.yaml", "summary.json", "timeseries.csv"}));
  EXPECT_EQ(dir_.Read("out/device_events.csv"), TestText("device_events.csv of broken.yaml"));
  EXPECT_EQ(dir_.Read("out/pods.csv"), TestText("pods.csv of broken.yaml"));
  // One GPU for 25 s and two for 10 s, of two for 90 s.
  EXPECT_EQ(Cells(table, "GPUs wanted by pods, mean"), (Names{"0.5", "25.00", "%", "of", "2.0"}));
  EXPECT_EQ(Cells(table, "GPUs handed out, mean"), (Names{"0.5", "25.00", "%", "of", "2.0"}));
  EXPECT_EQ(Cells(table, "GPUs wasted, mean"), (Names{"0.0", "0.00", "%", "of", "2.0"}));
  EXPECT_EQ(Cells(table, "GPUs stranded otherwise, mean"),
            (Names{"0.0", "0.00", "%", "of", "2.0"}));
  EXPECT_EQ(Cells(table, "admission failures"), Names{"1"});
  EXPECT_FALSE(absl::StrContains(table, "by geometry"));  // nothing is partitioned
}

TEST_F(CliDevicesTest, SummaryOfARunWithAFrontEnd) {
  const std::string json = Succeed({"run", "broken.yaml", "--quiet", "--format", "json"});
  ExpectValues(json, {{"arrived_milli", "6000"},
                      {"accepted_milli", "4000"},
                      {"acceptance_by_slices", "0.666667"},
                      {"admission_failures.total", "1"},
                      {"admission_failures.devices_unavailable", "0"},
                      {"admission_failures.resource_unregistered", "0"},
                      {"admission_failures.device_unhealthy", "1"},
                      {"admission_failures.allocate_failed", "0"},
                      {"admission_failures.topology_affinity", "0"},
                      {"repartitions", "0"},
                      {"repartition_gpu_seconds", "0"},
                      {"end.capacity_milli", "2000"},
                      {"end.held_milli", "0"},
                      {"end.free_milli", "2000"},
                      {"mean.capacity_milli", "2000"},
                      {"mean.held_milli", "500"},
                      {"mean.held_percent", "25"},
                      {"mean.wanted_milli", "500"},
                      {"mean.wanted_percent", "25"},
                      {"mean.waste_milli", "0"},
                      {"mean.shortfall_milli", "0"},
                      {"mean.free_milli", "1500"},
                      {"mean.stranded_milli", "0"}});
  EXPECT_TRUE(absl::StrContains(json, "\"more_that_fit\": {}"));
}

TEST_F(CliDevicesTest, TheFolderIsDrasimsOwn) {
  Succeed({"run", "broken.yaml", "--quiet", "--out", "out"});
  const std::string events = dir_.Read("out/device_events.csv");
  Succeed({"run", "out/scenario.yaml", "--quiet", "--out", "again"});
  EXPECT_EQ(dir_.Read("again/device_events.csv"), events);
  EXPECT_EQ(dir_.Read("again/summary.json"), dir_.Read("out/summary.json"));
  // A later run without events leaves none of an earlier one's.
  EXPECT_EQ(RunTiny({"--out", "out"}).exit_code, 0);
  EXPECT_FALSE(dir_.Has("out/device_events.csv"));
  EXPECT_EQ(JsonAt(dir_.Read("out/summary.json"), "devices"), "");
  EXPECT_FALSE(absl::StrContains(dir_.Read("out/pods.csv"), "grants"));
}

TEST_F(CliDevicesTest, InstancesWithoutAFrontEnd) {
  const std::string table = Succeed({"run", "instances.yaml", "--quiet", "--out", "out"});
  EXPECT_FALSE(dir_.Has("out/device_events.csv"));
  const std::string pods = dir_.Read("out/pods.csv");
  EXPECT_TRUE(absl::StrContains(pods, ",attempts_failed,grants,reason\nhalf,")) << pods;
  EXPECT_TRUE(absl::StrContains(pods, ",node-000000,0,0,0,,0,0:3g.20gb@0,\nslice,")) << pods;
  EXPECT_TRUE(absl::EndsWith(pods, ",node-000000,0,0,0,,0,0:1g.5gb@4,\n")) << pods;
  const std::string json = dir_.Read("out/summary.json");
  // 4 and 1 of a GPU's 8 units, but 3 and 1 of its 7 compute slices.
  ExpectValues(json, {{"arrived_milli", "625"},
                      {"accepted_milli", "625"},
                      {"acceptance_by_count", "1"},
                      {"acceptance_by_slices", "1"},
                      {"admission_failures.total", "0"},
                      {"end.capacity_milli", "1000"},
                      {"end.held_milli", "625"},
                      {"end.held_percent", "62.5"},
                      {"end.wanted_milli", "625"},
                      {"end.waste_milli", "17"},
                      {"end.waste_percent", "1.7"},
                      {"end.shortfall_milli", "72"},
                      {"end.shortfall_percent", "7.2"},
                      {"end.free_milli", "375"}});
  EXPECT_EQ(JsonAt(json, "devices.mean"), "");  // a fill has no clock
  EXPECT_TRUE(absl::StrContains(json, "\"7g.40gb\": 0\n")) << json;
  EXPECT_EQ(Cells(table, "GPUs handed out"), (Names{"0.6", "62.50", "%", "of", "1.0"}));
  EXPECT_EQ(Cells(table, "GPUs stranded by geometry").size(), 5u);
  EXPECT_EQ(Cells(table, "GPUs stranded by layout").size(), 5u);
  EXPECT_FALSE(absl::StrContains(table, "admission failures"));
}

// The direct world has the same figures, though nothing is below its scheduler.
TEST_F(CliDevicesTest, ADirectWorldIsComparable) {
  const ProcessResult result =
      RunTiny({"--set", "front_end.lowering.ignore_gpu_model=true", "--out", "out"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_FALSE(dir_.Has("out/device_events.csv"));
  EXPECT_FALSE(absl::StrContains(dir_.Read("out/pods.csv"), "grants"));
  ExpectValues(dir_.Read("out/summary.json"), {{"arrived_milli", "2460"},
                                               {"accepted_milli", "2460"},
                                               {"end.capacity_milli", "6000"},
                                               {"end.held_milli", "2460"},
                                               {"end.held_percent", "41"},
                                               {"end.wanted_milli", "2460"}});
}

}  // namespace cli_devices_test
}  // namespace drasim
