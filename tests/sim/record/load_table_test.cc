// The discretised tables: which row an event belongs to, gaps, rounding, CSV, Save and Load.
#include "sim/record/load_table.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/fragmentation.h"
#include "model/state_io.h"

namespace drasim {
namespace load_table_test {

// An event on a cluster of `gpus` GPUs. Half of the idle milli (in case Q1) are fragments.
Sample Event(int64_t gpus, int64_t arrived_milli, int64_t allocated_milli, double fragments_milli,
             double satisfied_milli) {
  Sample sample;
  sample.totals.gpu_count = gpus;
  sample.gpu_arrived_milli = arrived_milli;
  sample.totals.gpu_milli_allocated = allocated_milli;
  sample.fragmentation.by_case[static_cast<size_t>(FragCase::kLackBoth)] = fragments_milli;
  sample.fragmentation.by_case[static_cast<size_t>(FragCase::kSatisfied)] = satisfied_milli;
  return sample;
}

std::vector<int64_t> Loads(const LoadTable& table) {
  std::vector<int64_t> loads;
  for (const LoadRow& row : table.Rows()) loads.push_back(row.arrived_percent);
  return loads;
}

TEST(LoadTableTest, EmptyWithoutEvents) {
  LoadTable table;
  EXPECT_TRUE(table.Rows().empty());
  EXPECT_EQ(table.ToCsv(),
            "arrived_percent,gpu_allocation_percent,fragmentation_percent_of_total,"
            "fragmentation_percent_of_idle\n");
}

TEST(LoadTableTest, AClusterWithoutGpusHasNoRows) {
  LoadTable table;
  table.Add(Event(0, 0, 0, 0, 0));
  table.Add(Event(0, 500, 0, 0, 0));
  EXPECT_TRUE(table.Rows().empty());
}

TEST(LoadTableTest, HalfWayLoadsGoToTheEvenRow) {
  // One GPU: 10 milli are one percent.
  const auto row_of = [](int64_t arrived_milli) {
    LoadTable table;
    table.Add(Event(1, arrived_milli, 0, 0, 1000));
    return Loads(table).back();
  };
  EXPECT_EQ(row_of(0), 0);
  EXPECT_EQ(row_of(4), 0);
  EXPECT_EQ(row_of(5), 0);
  EXPECT_EQ(row_of(6), 1);
  EXPECT_EQ(row_of(14), 1);
  EXPECT_EQ(row_of(15), 2);
  EXPECT_EQ(row_of(25), 2);
  EXPECT_EQ(row_of(26), 3);
  EXPECT_EQ(row_of(35), 4);
  EXPECT_EQ(row_of(1305), 130);
  EXPECT_EQ(row_of(1315), 132);
}

TEST(LoadTableTest, RowsAverageTheRoundedEvents) {
  LoadTable table;
  // 6 GPUs: 1000 of 6000 milli are 16.666... %, rounded to 16.67 before the mean is taken.
  table.Add(Event(6, 60, 1000, 400.004, 600));
  table.Add(Event(6, 61, 2000, 100.016, 200));
  const std::vector<LoadRow> rows = table.Rows();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].arrived_percent, 1);
  // (16.67 + 33.33) / 2.
  EXPECT_EQ(rows[1].gpu_allocation_percent, 25.0);
  // (400.00 + 100.02) / 2 = 250.01 of 6000 milli = 4.16683...
  EXPECT_EQ(rows[1].fragmentation_percent_of_total, 4.17);
  // 40.0004... % is 40.00 and 33.3368... % is 33.34; their mean has no trace of the
  // sum of doubles.
  EXPECT_EQ(rows[1].fragmentation_percent_of_idle, 36.67);
  // Row 0 has no event of its own and takes its neighbour's.
  EXPECT_EQ(rows[0].arrived_percent, 0);
  EXPECT_EQ(rows[0].gpu_allocation_percent, 25.0);
  EXPECT_EQ(rows[0].fragmentation_percent_of_total, 4.17);
}

TEST(LoadTableTest, AGapTakesTheEventsOfBothNeighbours) {
  LoadTable table;
  table.Add(Event(1, 0, 100, 0, 900));   // 10 %
  table.Add(Event(1, 20, 200, 0, 800));  // 20 %
  table.Add(Event(1, 20, 300, 0, 700));  // 30 %
  table.Add(Event(1, 60, 1000, 0, 0));   // 100 %
  EXPECT_EQ(Loads(table), (std::vector<int64_t>{0, 1, 2, 3, 5, 6}));
  const std::vector<LoadRow> rows = table.Rows();
  EXPECT_EQ(rows[0].gpu_allocation_percent, 10.0);
  EXPECT_EQ(rows[1].gpu_allocation_percent, 20.0);  // all three events of rows 0 and 2
  EXPECT_EQ(rows[2].gpu_allocation_percent, 25.0);
  EXPECT_EQ(rows[3].gpu_allocation_percent, 25.0);
  EXPECT_EQ(rows[4].gpu_allocation_percent, 100.0);
  EXPECT_EQ(rows[5].gpu_allocation_percent, 100.0);
}

LoadTable Example() {
  LoadTable table;
  table.Add(Event(3, 0, 0, 0, 3000));
  table.Add(Event(3, 29, 1000, 1000, 1000));
  table.Add(Event(3, 31, 500, 250, 2250));
  return table;
}

constexpr char kExampleCsv[] =
    "arrived_percent,gpu_allocation_percent,fragmentation_percent_of_total,"
    "fragmentation_percent_of_idle\n"
    "0,0,0,0\n"
    "1,25,20.83,30\n";

TEST(LoadTableTest, Csv) { EXPECT_EQ(Example().ToCsv(), kExampleCsv); }

TEST(LoadTableTest, SavesAndLoads) {
  StateWriter out;
  Example().Save(out);
  LoadTable loaded;
  loaded.Add(Event(1, 500, 1, 1, 1));  // forgotten by Load
  StateReader in(out.bytes());
  ASSERT_EQ(loaded.Load(in), absl::OkStatus());
  EXPECT_TRUE(in.AtEnd());
  EXPECT_EQ(loaded.ToCsv(), kExampleCsv);

  // Both go on alike.
  LoadTable original = Example();
  for (LoadTable* table : {&original, &loaded}) table->Add(Event(3, 32, 1500, 123.45, 678.9));
  EXPECT_EQ(loaded.ToCsv(), original.ToCsv());
  EXPECT_NE(loaded.ToCsv(), kExampleCsv);
}

TEST(LoadTableTest, EveryTruncatedStateIsRefused) {
  StateWriter out;
  Example().Save(out);
  for (size_t size = 0; size < out.bytes().size(); ++size) {
    const absl::string_view cut = out.bytes().substr(0, size);
    StateReader in(cut);
    LoadTable table;
    EXPECT_EQ(table.Load(in).code(), absl::StatusCode::kDataLoss) << size;
  }
}

// A cell of the table is a few bytes per percent of load, but the load has no bound: one request of
// 2^31 - 1 whole GPUs on a single GPU is a load of 2 * 10^11 percent.
TEST(LoadTableTest, AnAbsurdLoadDoesNotExhaustMemory) {
  LoadTable table;
  table.Add(Event(1, 10, 0, 0, 1000));
  table.Add(Event(1, int64_t{2147483647} * 1000, 0, 0, 1000));
  EXPECT_EQ(table.Rows()[0].arrived_percent, 0);
}

}  // namespace load_table_test
}  // namespace drasim
