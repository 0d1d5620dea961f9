#include "gui/view/ledger_cursor.h"

#include <memory>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "gui/view/inspect_node.h"
#include "gui/view/inspect_pod.h"
#include "model/cluster_state.h"
#include "model/time.h"
#include "sim/record/ledger_reader.h"
#include "tests/gui/view/inspect_ledger.h"
#include "tests/sim/record/ledger_example.h"

namespace drasim {
namespace ledger_cursor_test {

using view::LedgerCursor;
using view::NodeInspection;
using view::PodInspection;

TEST(LedgerCursorTest, InspectorsReadUpToIt) {
  const LedgerExample example = MakeLedgerExample();
  const auto open = [&] { return LedgerReader::FromMemory(example.bytes).value(); };
  LedgerCursor cursor;
  cursor.records = 8;
  cursor.now = SimTime(1'500'000'000);
  std::unique_ptr<LedgerReader> reader = open();
  PodInspection second = InspectPodFrom(reader.get(), "second", cursor).value();
  EXPECT_EQ(second.phase, PodPhase::kAssumed);
  EXPECT_EQ(second.now.ns(), 1'500'000'000);
  reader = open();
  second = InspectPodFrom(reader.get(), "second").value();
  EXPECT_EQ(second.phase, PodPhase::kBound);
  EXPECT_EQ(second.attempts_failed, 2);
  EXPECT_EQ(second.times_taken_back, 1);
  EXPECT_EQ(second.wants, "0.25 GPU of T4|P100");

  reader = open();
  const NodeInspection node = InspectNodeFrom(reader.get(), "node-a").value();
  EXPECT_EQ(node.slots.size(), 3u);  // two GPUs of `first`, and later one of `second`
  reader = open();
  EXPECT_TRUE(absl::IsNotFound(InspectPodFrom(reader.get(), "nobody").status()));
  reader = open();
  EXPECT_EQ(InspectNodeFrom(reader.get(), "node-c").status().message(),
            "memory: no node 'node-c' (did you mean 'node-a'?)");
}

}  // namespace ledger_cursor_test
}  // namespace drasim
