// Generated worlds: what their claims get, and that wrong sizes are refused.
#include "sim/sdra/case_worlds.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "model/key_error.h"
#include "sim/sdra/case_answers.h"
#include "tests/testing/assert_ok.h"

namespace drasim {
namespace case_worlds_test {

CaseAnswers AnswersOf(const std::string& world, const CaseWorldSize& size,
                      const CaseRunOptions& options = {}) {
  const absl::StatusOr<CaseSet> set = MakeCaseWorld(world, size);
  EXPECT_EQ(set.status(), absl::OkStatus()) << world;
  absl::StatusOr<CaseAnswers> answers = AnswerCaseSet(set.ok() ? *set : CaseSet(), options);
  EXPECT_EQ(answers.status(), absl::OkStatus()) << world;
  return answers.ok() ? *std::move(answers) : CaseAnswers();
}

CaseWorldSize Size(std::optional<int64_t> nodes, std::optional<int64_t> devices,
                   std::optional<int64_t> wanted) {
  CaseWorldSize size;
  size.nodes = nodes;
  size.devices = devices;
  size.wanted = wanted;
  return size;
}

struct Outcome {
  const char* world;
  CaseWorldSize size;
  int64_t decisions;
  int64_t allocations;
  int64_t errors;
};

TEST(CaseWorldsTest, WhatFits) {
  const std::vector<Outcome> outcomes = {
      {"gpus", Size(3, 4, 4), 3, 3, 0},
      {"gpus", Size(3, 4, 5), 3, 0, 0},
      {"same-numa", Size(2, 8, 4), 2, 2, 0},
      {"same-numa", Size(2, 8, 5), 2, 0, 0},
      {"last-matches", Size({}, 200, {}), 1, 1, 0},
      {"selectors", Size({}, 200, {}), 1, 1, 0},
      {"next-impossible", Size({}, 8, 3), 1, 0, 0},
      {"one-too-many", Size({}, 8, {}), 1, 0, 0},
      {"mig", Size(2, {}, {}), 2, 2, 0},
      {"mig-last-free", Size(2, {}, {}), 2, 2, 0},
      {"mig-none-fits", Size(2, {}, {}), 2, 0, 0},
  };
  for (const Outcome& outcome : outcomes) {
    const CaseAnswers answers = AnswersOf(outcome.world, outcome.size);
    EXPECT_EQ(answers.cases, 1) << outcome.world;
    EXPECT_EQ(answers.decisions, outcome.decisions) << outcome.world;
    EXPECT_EQ(answers.allocations, outcome.allocations) << outcome.world;
    EXPECT_EQ(answers.errors, outcome.errors) << outcome.world;
  }
}

// The device that is free, or that alone matches, is the one that is taken.
TEST(CaseWorldsTest, LastDevices) {
  for (const auto& [world, devices, expected] :
       std::vector<std::tuple<std::string, int64_t, std::string>>{
           {"mig-last-free", 0, R"("device": "gpu-7-1g5gb-6"})"},
           {"last-matches", 300, R"("device": "gpu-299"})"},
           {"selectors", 300,
            R"("request": "r5", "driver": "gpu.example.com", "pool": "node-0", )"
            R"("device": "gpu-294"})"}}) {
    CaseWorldSize size;
    if (devices > 0) size.devices = devices;
    ASSERT_OK_AND_ASSIGN(const CaseSet set, MakeCaseWorld(world, size));
    std::string said;
    ASSERT_OK_AND_ASSIGN(
        const CaseAnswers answers,
        AnswerCaseSet(set, {}, [&said](const std::string& line) { said += line; }));
    EXPECT_NE(said.find(expected), std::string::npos) << world << ": " << said;
  }
}

// Every expression compiles or has an error, on three devices each.
TEST(CaseWorldsTest, Cel) {
  const CaseAnswers answers = AnswersOf("cel", Size({}, 3, {}));
  EXPECT_EQ(answers.cases, 45);
  EXPECT_EQ(answers.decisions, 45);
  // Two devices of three have a capacity; the three expressions that do not compile, the missing
  // attribute, one division by zero and the missing capacities are errors.
  EXPECT_EQ(answers.errors, 9 + 3 + 1 + 2);
  EXPECT_EQ(answers.allocations, 25);
}

// Eight devices for pods that want two each, some of them one large: pods fail until others end.
TEST(CaseWorldsTest, LifeCycle) {
  CaseWorldSize size = Size(2, 4, 2);
  size.pods = 6;
  const CaseAnswers answers = AnswersOf("life-cycle", size);
  EXPECT_EQ(answers.cases, 1);
  // 6 pods, 3 releases, cycle, unreserve, wait, a slice, a node, 3 pods again.
  EXPECT_EQ(answers.decisions, 6 + 3 + 1 + 1 + 1 + 1 + 1 + 3);
  // 5 pods of 6; the one that is given up; 2 of the last 3, one of which had its claim all along.
  EXPECT_EQ(answers.allocations, 5 + 1 + 2);
  EXPECT_EQ(answers.errors, 0);
}

TEST(CaseWorldsTest, EqualSizesAreEqualCases) {
  EXPECT_EQ(CaseWorldNames().size(), 11u);
  for (const std::string world : {"same-numa", "mig-last-free", "cel", "life-cycle"}) {
    CaseWorldSize size;
    if (world == "same-numa") size.nodes = 3;
    ASSERT_OK_AND_ASSIGN(const CaseSet first, MakeCaseWorld(world, size));
    ASSERT_OK_AND_ASSIGN(const CaseSet second, MakeCaseWorld(world, size));
    ASSERT_EQ(first.size(), second.size());
    for (size_t i = 0; i < std::min<size_t>(first.size(), 3); ++i) {
      EXPECT_EQ(CaseText(first[i].given), CaseText(second[i].given)) << world;
    }
  }
}

TEST(CaseWorldsTest, WrongSizes) {
  struct Mistake {
    const char* world;
    CaseWorldSize size;
    const char* key;
    const char* message;
  };
  const std::vector<Mistake> mistakes = {
      {"gpu", {}, "world", "world: found 'gpu', expected one of gpus, "},
      {"mig", Size({}, 3, {}), "devices",
       "devices: found 3, expected none: the world mig has no devices"},
      {"gpus", Size(0, {}, {}), "nodes", "nodes: found 0, expected a number from 1 to 1000000"},
      {"gpus", Size({}, {}, -1), "wanted", "wanted: found -1, expected a number from 1 to "},
      {"gpus", Size(1001, 1000, {}), "nodes",
       "nodes: found 1001 nodes with 1000 devices each, expected at most 1000000 devices"},
      {"mig", Size(4808, {}, {}), "nodes",
       "nodes: found 4808 nodes with 208 devices each, expected at most 1000000 devices"},
  };
  for (const Mistake& mistake : mistakes) {
    const absl::Status status = CheckCaseWorld(mistake.world, mistake.size).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << mistake.message;
    EXPECT_EQ(KeyOfError(status), mistake.key);
    EXPECT_EQ(status.message().substr(0, std::string(mistake.message).size()), mistake.message);
    EXPECT_EQ(MakeCaseWorld(mistake.world, mistake.size).status(), status);
  }
  EXPECT_EQ(CheckCaseWorld("mig", Size(4807, {}, {})).status(), absl::OkStatus());
}

}  // namespace case_worlds_test
}  // namespace drasim
