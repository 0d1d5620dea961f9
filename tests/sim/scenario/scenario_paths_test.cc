// The folders that paths of a scenario are relative to.
#include "sim/scenario/scenario_paths.h"

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/proto/scenario.pb.h"
#include "model/text/yaml_writer.h"
#include "tests/testing/data_text.h"
#include "tests/testing/run_spec_of.h"

namespace drasim {
namespace scenario_paths_test {

// Every key that holds a path, with AT in front of what is to move.
const std::string& EveryPathText() { return TestText("EveryPath"); }

std::string At(absl::string_view folder) {
  return absl::StrReplaceAll(EveryPathText(), {{"AT", folder}});
}

std::string Anchored(absl::string_view file, absl::string_view yaml) {
  proto::Scenario scenario = ScenarioOf(yaml);
  AnchorPaths(file, &scenario);
  return ToYaml(scenario);
}

TEST(ScenarioPathsTest, AreRelativeToTheScenarioFile) {
  EXPECT_EQ(Anchored("demos/s.yaml", At("")), At("demos/"));
  EXPECT_EQ(Anchored("./demos/s.yaml", At("./")), At("demos/"));
  EXPECT_EQ(Anchored("/a/b/s.yaml", At("c/")), At("/a/b/c/"));
  // A step up may follow a symbolic link, so it is kept.
  EXPECT_EQ(Anchored("demos/s.yaml", At("../")), At("demos/../"));
  EXPECT_EQ(Anchored("../s.yaml", At("")), At("../"));
}

TEST(ScenarioPathsTest, StayWhereTheFileIsInTheWorkingFolderOrStandardInput) {
  EXPECT_EQ(Anchored("s.yaml", At("")), At(""));
  EXPECT_EQ(Anchored("-", At("")), At(""));
  EXPECT_EQ(Anchored("demos/s.yaml", At("/x/")), At("/x/"));
  for (const char* const yaml :
       {"cluster:\n  path: \"-\"\n  format: google-2011\n",
        "workload:\n  trace:\n    path: \"-\"\n    format: philly-muri\n  generated:\n"
        "    table: openb-like\n",
        "seed: 1\n"}) {
    EXPECT_EQ(Anchored("demos/s.yaml", yaml), yaml);
  }
}

// A file may be called like a format.
TEST(ScenarioPathsTest, NamesOfFormatsAreNamesOfFormatsOnly) {
  EXPECT_EQ(Anchored("demos/s.yaml", "workload:\n  trace:\n    path: openb\n    format: openb\n"),
            "workload:\n  trace:\n    path: demos/openb\n    format: openb\n");
}

TEST(ScenarioPathsTest, CanBeMadeAbsolute) {
  const std::string here = absl::StrCat(std::filesystem::current_path().string(), "/");
  for (const char* const from : {"", "./"}) {
    proto::Scenario scenario = ScenarioOf(At(from));
    MakePathsAbsolute(&scenario);
    EXPECT_EQ(ToYaml(scenario), At(here));
    MakePathsAbsolute(&scenario);
    EXPECT_EQ(ToYaml(scenario), At(here));
  }
}

// The run itself does not read files of a comparison, and the output is not read at all.
TEST(ScenarioPathsTest, InputsAreAllFilesThatAreRead) {
  const std::vector<std::string> paths = InputPaths(ScenarioOf(At("x/")));
  EXPECT_EQ(paths, (std::vector<std::string>{"x/a.yaml", "x/b.yaml", "x/mig.yaml", "x/n.yaml",
                                             "x/nodes.csv", "x/o.yaml", "x/p.yaml", "x/pods.csv",
                                             "x/q.csv", "x/table.csv", "x/task.csv"}));
  EXPECT_EQ(InputPaths(ScenarioOf("cluster:\n  path: \"-\"\nworkload:\n  trace:\n    path: p.csv\n"
                                  "    format: openb\n  manifests: [p.csv, p.csv]\n")),
            std::vector<std::string>{"p.csv"});
}

}  // namespace scenario_paths_test
}  // namespace drasim
