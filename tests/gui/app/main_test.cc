// drasim-gui as a user starts it: mistakes on the command line, and what is missing on the machine.
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/testing/subprocess.h"
#include "tests/testing/temp_dir.h"

namespace drasim::gui {
namespace main_test {

// Runs drasim-gui with changes of its environment: "-u NAME" words, and NAME=VALUE.
ProcessResult RunGuiIn(const std::vector<std::string>& environment,
                       const std::vector<std::string>& args) {
  std::vector<std::string> words = {"-u", "DISPLAY", "-u", "WAYLAND_DISPLAY"};
  words.insert(words.end(), environment.begin(), environment.end());
  words.push_back(DRASIM_GUI);
  words.insert(words.end(), args.begin(), args.end());
  return Process("/usr/bin/env", words, ::testing::TempDir()).Wait();
}

TEST(GuiMainTest, MistakesNameTheFlagWhatWasFoundAndWhatWasExpected) {
  struct Row {
    std::vector<std::string> args;
    const char* message;
  };
  static constexpr char kSizes[] =
      ", expected width and height of 200..8192 pixels, such as 1600x1000";
  const std::vector<Row> rows = {
      {{"--size", "1600"}, "--size: found '1600'"},
      {{"--size", "199x300"}, "--size: found '199x300'"},
      {{"--size", "300x8193"}, "--size: found '300x8193'"},
      {{"--size", "axb"}, "--size: found 'axb'"},
      {{"--size", "300x400x500"}, "--size: found '300x400x500'"},
      {{"--size="}, "--size: found ''"},
      {{"--scale", "0.5"}, "--scale: found '0.5', expected a number from 1 to 3, such as 1.5"},
      {{"--scale", "nan"}, "--scale: found 'nan', expected a number from 1 to 3, such as 1.5"},
      {{"--scale", "3.1"}, "--scale: found '3.1', expected a number from 1 to 3, such as 1.5"},
      {{"--theme", "blue"}, "--theme: found 'blue', expected dark or light"},
      {{"--view", "map,plot"},
       "--view: found 'plot', expected a list of map, plots, pods, nodes, claims, tenants, "
       "inspect, "
       "compare, with commas (did you mean 'plots'?)"},
      {{"--at", "noon"}, "--at: found 'noon': "},
      {{"--at="}, "--at: found '': "},
      {{"--screenshot="}, "--screenshot: found '', expected the name of a .png file"},
      {{"--width", "1000"}, "unknown flag --width"},
      {{"--screenshot", "run/ledger", "run"},
       "--screenshot: found 'run/ledger', expected the name of a .png file"},
      {{"--screenshot", "no/such/out.png"},
       "--screenshot: found 'no/such/out.png', expected a file in a folder; create no/such"},
      {{"--at", "5m"}, "--at: found no run; name a ledger, a folder with one or a scenario"},
      {{"--select", "pod-1"}, "--select: found no run; name a ledger, "},
      {{"--view", "map,compare", "run"}, "--view: 'compare' needs a second run, B"},
      {{"a", "b", "c"}, "found 3 paths, expected a run A and perhaps a run B"},
      {{""}, "found an empty path"}};
  for (const Row& row : rows) {
    std::vector<std::string> args = {"--screenshot", "never.png"};
    args.insert(args.end(), row.args.begin(), row.args.end());
    const ProcessResult result = RunGuiIn({}, args);
    EXPECT_EQ(result.exit_code, 2) << row.message << "\n" << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(absl::StartsWith(result.err, absl::StrCat("drasim-gui: error: ", row.message)))
        << result.err;
    const bool of_size = absl::StartsWith(row.message, "--size");
    EXPECT_EQ(absl::StrContains(result.err, kSizes), of_size) << result.err;
  }
}

TEST(GuiMainTest, APictureReplacesNoFolder) {
  const TempDir folder;
  const std::string path = folder.PathOf("out.png");
  std::filesystem::create_directory(path);
  const ProcessResult result = RunGuiIn({}, {"--screenshot", path});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, absl::StrCat("drasim-gui: error: --screenshot: found '", path,
                                     "', expected the name of a file; this is a folder\n"));
}

TEST(GuiMainTest, HelpAndVersionNeedNoDisplay) {
  const ProcessResult help = RunGuiIn({}, {"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const absl::string_view word : {"--screenshot", "--size", "--scale", "--theme", "--at",
                                       "--view", "--select", "[A [B]]", "Roboto"}) {
    EXPECT_TRUE(absl::StrContains(help.out, word)) << word;
  }
  const ProcessResult version = RunGuiIn({}, {"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_TRUE(absl::StartsWith(version.out, "drasim-gui "));
}

TEST(GuiMainTest, WithoutADisplayTheMessageNamesTheRemedies) {
  const ProcessResult result = RunGuiIn({}, {});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(absl::StartsWith(result.err, "drasim-gui: error: cannot open a window: "));
  for (const absl::string_view remedy : {"--screenshot", "xvfb-run", "drasim report"}) {
    EXPECT_TRUE(absl::StrContains(result.err, remedy)) << result.err;
  }
}

TEST(GuiMainTest, WithoutEglTheMessageNamesThePackages) {
  const TempDir folder;
  // Found before the real library.
  folder.Write("libEGL.so.1", std::string(1000, '.'));
  struct Row {
    std::string environment;
    const char* packages;
  };
  const Row rows[] = {
      {absl::StrCat("LD_LIBRARY_PATH=", folder.path()), "libegl1 and libgl1-mesa-dri"},
      {"__EGL_VENDOR_LIBRARY_FILENAMES=/nowhere.json", "libegl-mesa0 and libgl1-mesa-dri"}};
  for (const Row& row : rows) {
    const ProcessResult result =
        RunGuiIn({row.environment}, {"--screenshot", folder.PathOf("out.png")});
    EXPECT_EQ(result.exit_code, 1) << row.environment << "\n" << result.err;
    EXPECT_TRUE(absl::StrContains(result.err, "drasim-gui: error: cannot draw without a display: "))
        << result.err;
    EXPECT_TRUE(absl::StrContains(
        result.err, absl::StrCat("; install the Debian packages ", row.packages, "\n")))
        << result.err;
    EXPECT_FALSE(folder.Has("out.png"));
  }
}

}  // namespace main_test
}  // namespace drasim::gui
