#include "sim/core/nominator.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/state_io.h"

namespace drasim {
namespace nominator_test {

constexpr PodId kA(0u);
constexpr PodId kB(1u);
constexpr PodId kC(2u);
constexpr NodeId kOne(0u);
constexpr NodeId kTwo(1u);

std::vector<PodId> ListOf(const Nominator& nominator, NodeId node) {
  const absl::Span<const PodId> pods = nominator.On(node);
  return {pods.begin(), pods.end()};
}

TEST(NominatorTest, KeepsTheOrderOfNomination) {
  Nominator nominator;
  EXPECT_TRUE(nominator.empty());
  nominator.Nominate(kB, kOne);
  nominator.Nominate(kA, kOne);
  nominator.Nominate(kC, kTwo);
  EXPECT_EQ(ListOf(nominator, kOne), (std::vector<PodId>{kB, kA}));
  EXPECT_EQ(nominator.NodeOf(kC), kTwo);
  // Nominated again: last, on the same node or another one.
  nominator.Nominate(kB, kOne);
  EXPECT_EQ(ListOf(nominator, kOne), (std::vector<PodId>{kA, kB}));
  nominator.Nominate(kA, kTwo);
  EXPECT_EQ(ListOf(nominator, kOne), (std::vector<PodId>{kB}));
  EXPECT_EQ(ListOf(nominator, kTwo), (std::vector<PodId>{kC, kA}));
}

TEST(NominatorTest, ForgetsPods) {
  Nominator nominator;
  nominator.Nominate(kA, kOne);
  nominator.Nominate(kB, kOne);
  nominator.Clear(kC);
  nominator.Clear(kA);
  EXPECT_FALSE(nominator.NodeOf(kA).valid());
  EXPECT_EQ(ListOf(nominator, kOne), (std::vector<PodId>{kB}));
  nominator.Clear(kB);
  EXPECT_TRUE(nominator.empty());
  EXPECT_TRUE(nominator.On(kOne).empty());
}

TEST(NominatorTest, SavesItsOrder) {
  Nominator nominator;
  nominator.Nominate(kC, kTwo);
  nominator.Nominate(kB, kOne);
  nominator.Nominate(kA, kOne);
  StateWriter out;
  nominator.Save(out);
  Nominator again;
  StateReader in(out.bytes());
  ASSERT_EQ(again.Load(in, 3, 2), absl::OkStatus());
  EXPECT_EQ(ListOf(again, kOne), (std::vector<PodId>{kB, kA}));
  EXPECT_EQ(again.NodeOf(kC), kTwo);
  Nominator few;
  StateReader short_of_pods(out.bytes());
  EXPECT_FALSE(few.Load(short_of_pods, 2, 2).ok());
}

}  // namespace nominator_test
}  // namespace drasim
