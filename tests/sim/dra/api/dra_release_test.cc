// Which behaviour came with which release (KEP-3063's history), as one table.
#include "sim/dra/api/dra_release.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace drasim {
namespace dra_release_test {

using ::testing::ElementsAre;

constexpr DraRelease kAll[] = {DraRelease::k26, DraRelease::k27, DraRelease::k28,
                               DraRelease::k29, DraRelease::k30, DraRelease::k31};

TEST(DraReleaseTest, TextsAndBack) {
  std::vector<std::string> texts;
  for (const DraRelease release : kAll) {
    texts.push_back(DraReleaseText(release));
    const absl::StatusOr<DraRelease> parsed = ParseDraRelease(texts.back());
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, release);
  }
  EXPECT_THAT(texts, ElementsAre("1.26", "1.27", "1.28", "1.29", "1.30", "1.31"));
}

TEST(DraReleaseTest, UnknownTexts) {
  EXPECT_EQ(ParseDraRelease("1.32").status(),
            absl::InvalidArgumentError("unknown Kubernetes release '1.32'; known: 1.26, 1.27, "
                                       "1.28, 1.29, 1.30, 1.31"));
  for (const absl::string_view text : {"", "1.25", "29", "v1.29", "1.29.0", "1.3", " 1.29"}) {
    EXPECT_EQ(ParseDraRelease(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

// "0011" and so on: one digit a release, 1.26 first.
template <typename Question>
std::string Since(Question question, bool strict = true) {
  std::string answers;
  for (const DraRelease release : kAll) {
    DraBehaviour behaviour;
    behaviour.release = release;
    behaviour.strict_upstream = strict;
    absl::StrAppend(&answers, (behaviour.*question)() ? 1 : 0);
  }
  return answers;
}

TEST(DraReleaseTest, WhatCameWhen) {
  using B = DraBehaviour;
  EXPECT_EQ(Since(&B::pre_enqueue), "001111");
  EXPECT_EQ(Since(&B::generated_names), "001111");
  EXPECT_EQ(Since(&B::hyphen_before_suffix), "000111");
  EXPECT_EQ(Since(&B::claim_statuses), "001111");
  EXPECT_EQ(Since(&B::releases_finished_pods), "001111");
  EXPECT_EQ(Since(&B::serves_bound_pods), "001111");
  EXPECT_EQ(Since(&B::batch_allocate), "001111");
  EXPECT_EQ(Since(&B::pending_status), "000111");
  EXPECT_EQ(Since(&B::apply_on_conflict), "000111");
  EXPECT_EQ(Since(&B::clears_selected_node), "000111");
  EXPECT_EQ(Since(&B::replaces_potential_nodes), "000111");
  EXPECT_EQ(Since(&B::replaces_potential_nodes, /*strict=*/false), "111111");
  EXPECT_EQ(Since(&B::probes_selected_node), "000111");
  EXPECT_EQ(Since(&B::writes_in_pre_bind), "000011");
  EXPECT_EQ(Since(&B::preempts_after_deallocation), "000011");
  EXPECT_EQ(Since(&B::unreserves_own), "000011");
  EXPECT_EQ(Since(&B::unreserves_own, /*strict=*/false), "111111");
  EXPECT_EQ(Since(&B::filter_index_bug), "111100");
  EXPECT_EQ(Since(&B::filter_index_bug, /*strict=*/false), "000000");
}

TEST(DraReleaseTest, Defaults) {
  const DraBehaviour behaviour;
  EXPECT_EQ(behaviour.release, DraRelease::k29);
  EXPECT_TRUE(behaviour.strict_upstream);
  EXPECT_FALSE(behaviour.queueing_hints);
}

}  // namespace dra_release_test
}  // namespace drasim
