#include "gui/view/pod_archive.h"

#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "gui/view/pod_table.h"
#include "model/ids.h"
#include "model/record.h"
#include "model/time.h"

namespace drasim {
namespace pod_archive_test {

using view::PodArchive;
using view::PodRow;
using view::PodTable;
using view::PodTexts;

VerdictSummaryTable Summaries() {
  VerdictSummaryTable summaries;
  summaries.SetReasons({"Insufficient cpu", "no free placement"});
  for (uint32_t nodes = 1; nodes <= 2; ++nodes) {
    VerdictSummaryTable::Row row;
    row.nodes = nodes;
    row.rejected.emplace_back(uint8_t{1}, nodes);
    summaries.Intern(row);
  }
  return summaries;
}

PodRow EndedRow(uint32_t number, SummaryId failure) {
  PodRow row;
  row.number = number;
  row.phase = PodPhase::kSucceeded;
  row.last_failure = failure;
  return row;
}

PodTexts TwoShapes() {
  PodTexts texts;
  texts.wants = {"1 GPU", "2 GPUs"};
  texts.gpu_milli = {1000, 2000};
  texts.nodes = {"node-a"};
  return texts;
}

TEST(PodArchiveTest, TablesShareItsFirstRows) {
  const VerdictSummaryTable summaries = Summaries();
  auto archive = std::make_shared<PodArchive>(TwoShapes());
  EXPECT_EQ(archive->InternTenant("red"), 1u);
  EXPECT_EQ(archive->InternTenant(""), 0u);
  EXPECT_EQ(archive->InternTenant("red"), 1u);
  archive->Append(EndedRow(5, SummaryId(1u)), "five", summaries);
  PodRow two = EndedRow(2, SummaryId());
  two.tenant = 1;
  two.shape = 1;
  archive->Append(two, "two", summaries);
  ASSERT_EQ(archive->size(), 2u);
  EXPECT_EQ(archive->Find(5), 0u);
  EXPECT_EQ(archive->Find(2), 1u);
  EXPECT_FALSE(archive->Find(0).has_value());
  EXPECT_FALSE(archive->Find(6).has_value());
  EXPECT_EQ(archive->name(1), "two");

  // Before the second one's end: it is still live.
  PodTable early(SimTime(7), archive, 1);
  PodRow live;
  live.arrival = SimTime(1);
  live.waiting_since = SimTime(1);
  live.last_failure = SummaryId(0u);
  early.AddLive(live, "zero", summaries);
  live.number = 2;
  live.last_failure = SummaryId(1u);
  early.AddLive(live, "two", summaries);
  ASSERT_EQ(early.rows(), 3u);
  EXPECT_EQ(early.name(0), "five");
  EXPECT_EQ(early.name(1), "zero");
  EXPECT_EQ(early.name(2), "two");
  EXPECT_EQ(early.FindNumber(5), 0u);
  EXPECT_EQ(early.FindNumber(2), 2u);
  EXPECT_EQ(early.FindNumber(0), 1u);
  EXPECT_FALSE(early.FindNumber(1).has_value());
  EXPECT_FALSE(early.FindNumber(99).has_value());
  EXPECT_EQ(early.WaitOf(1), SimDuration(6));
  // One text is the archive's, the other the table's own.
  EXPECT_EQ(early.verdict(2), early.verdict(0));
  EXPECT_EQ(early.verdict(0), summaries.Text(SummaryId(1u)));
  EXPECT_EQ(early.verdict(1), summaries.Text(SummaryId(0u)));

  const PodTable late(SimTime(9), archive, 2);
  ASSERT_EQ(late.rows(), 2u);
  EXPECT_EQ(late.FindNumber(2), 1u);
  EXPECT_EQ(late.tenant(1), "red");
  EXPECT_EQ(late.wants(1), "2 GPUs");
  EXPECT_EQ(late.gpu_milli(1), 2000);
  EXPECT_EQ(late.verdict(1), "");
  EXPECT_EQ(late.Find("two"), 1u);
  EXPECT_FALSE(late.Find("zero").has_value());
}

// The first to arrive, wherever it stands.
TEST(PodArchiveTest, SeveralPodsOfOneName) {
  const VerdictSummaryTable summaries;
  auto archive = std::make_shared<PodArchive>(TwoShapes());
  archive->Append(EndedRow(4, SummaryId()), "twin", summaries);
  archive->Append(EndedRow(1, SummaryId()), "twin", summaries);
  PodTable table(SimTime(), archive, 2);
  PodRow live;
  live.number = 3;
  table.AddLive(live, "twin", summaries);
  EXPECT_EQ(table.Find("twin"), 1u);
  EXPECT_EQ(PodTable(SimTime(), archive, 1).Find("twin"), 0u);
}

TEST(PodArchiveTest, AnEmptyTable) {
  const PodTable table;
  EXPECT_EQ(table.rows(), 0u);
  EXPECT_FALSE(table.Find("a").has_value());
  EXPECT_FALSE(table.FindNumber(0).has_value());
  EXPECT_EQ(table.tenants(), std::vector<std::string>{""});
}

}  // namespace pod_archive_test
}  // namespace drasim
