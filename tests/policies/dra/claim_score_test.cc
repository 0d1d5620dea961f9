#include "policies/dra/claim_score.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "policies/plugins/default_normalize.h"
#include "tests/policies/dra/dra_rig.h"

namespace drasim {
namespace {

using dra_rig::ClaimOf;
using dra_rig::FromText;

// A claim of lists with the numbers of subrequests.
ClaimRef ListsClaim(const std::vector<int>& subrequests) {
  std::string spec;
  for (size_t i = 0; i < subrequests.size(); ++i) {
    absl::StrAppend(&spec, "requests { name: \"r", i, "\" ");
    for (int sub = 0; sub < subrequests[i]; ++sub) {
      absl::StrAppend(&spec, "first_available { name: \"s", sub, "\" } ");
    }
    spec += "} ";
  }
  return ClaimOf("c", absl::StrCat("spec { devices { ", spec, "} }"));
}

int64_t ScoreOf(const std::vector<int>& subrequests, const std::vector<std::string>& answered) {
  std::string results;
  for (const std::string& name : answered) {
    absl::StrAppend(&results, "results { request: \"", name, "\" } ");
  }
  return ClaimScore(*ListsClaim(subrequests), FromText<proto::kube::AllocationResultV1>(
                                                  absl::StrCat("devices { ", results, "}")));
}

std::vector<int64_t> Normalized(std::vector<int64_t> scores) {
  DefaultNormalizeScore(/*reverse=*/false, absl::MakeSpan(scores));
  return scores;
}

TEST(ClaimScoreTest, CountsThePlaceOfTheAnsweredSubrequest) {
  EXPECT_EQ(ScoreOf({1}, {"r0/s0"}), 8);
  EXPECT_EQ(ScoreOf({8}, {"r0/s7"}), 1);
  EXPECT_EQ(ScoreOf({8, 8}, {"r0/s3", "r1/s4"}), 9);
  EXPECT_EQ(ScoreOf({8, 8}, {"r0/s7", "r1/s0"}), 9);
  // Several devices of one subrequest count once; other requests do not.
  EXPECT_EQ(ScoreOf({2}, {"r0/s1", "r0/s1", "other"}), 7);
}

TEST(ClaimScoreTest, NormalizesAsUpstreamsGoldens) {
  EXPECT_EQ(Normalized({8, 7}), (std::vector<int64_t>{100, 87}));
  EXPECT_EQ(Normalized({15, 13}), (std::vector<int64_t>{100, 86}));
  EXPECT_EQ(Normalized({16, 15, 14}), (std::vector<int64_t>{100, 93, 87}));
  EXPECT_EQ(Normalized({99, 98, 97}), (std::vector<int64_t>{100, 98, 97}));
  EXPECT_EQ(Normalized({0, 0}), (std::vector<int64_t>{0, 0}));
}

}  // namespace
}  // namespace drasim
