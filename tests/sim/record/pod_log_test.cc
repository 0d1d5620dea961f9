// Where and when each pod ran, and pods.csv to the byte.
#include "sim/record/pod_log.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "model/state_io.h"
#include "tests/sim/record/record_script.h"

namespace drasim {
namespace {

std::string Seconds(int64_t ns) {
  std::string text;
  AppendSeconds(SimTime(ns), &text);
  return text;
}

TEST(AppendSecondsTest, ExactDecimals) {
  EXPECT_EQ(Seconds(0), "0");
  EXPECT_EQ(Seconds(1), "0.000000001");
  EXPECT_EQ(Seconds(10), "0.00000001");
  EXPECT_EQ(Seconds(100'000'000), "0.1");
  EXPECT_EQ(Seconds(999'999'999), "0.999999999");
  EXPECT_EQ(Seconds(1'000'000'000), "1");
  EXPECT_EQ(Seconds(1'500'000'000), "1.5");
  EXPECT_EQ(Seconds(10'050'000'000), "10.05");
  EXPECT_EQ(Seconds(-1'500'000'000), "-1.5");
  EXPECT_EQ(Seconds(-1), "-0.000000001");
  EXPECT_EQ(Seconds(std::numeric_limits<int64_t>::max()), "9223372036.854775807");
}

TEST(AppendSecondsTest, AppendsBehindWhatIsThere) {
  std::string text = "t=";
  AppendSeconds(SimTime(2'000'000'000), &text);
  EXPECT_EQ(text, "t=2");
}

constexpr char kHeader[] =
    "pod,priority,cpu_milli,memory_bytes,gpu_count,gpu_milli,gpu_spec,phase,node,devices,"
    "arrival_seconds,start_seconds,end_seconds,attempts_failed\n";

// One pod in each phase.
void PlayEveryPhase(RecordScript* script) {
  const ShapeId two = script->Shape(1000, kGib, 2, 1000, "T4|P100");
  const ShapeId none = script->Shape(500, 1, 0, 0);
  const ShapeId share = script->Shape(2000, 0, 1, 250);
  const PodId ran = script->Arrive("ran", two, 3);
  script->At(500'000'000);
  script->Bind(ran, 0, 3);
  script->At(1'000'000'000);
  const PodId waits = script->Arrive("waits", none, -2);
  script->Fail(waits, {2, {{1, 2}}});
  script->Fail(waits, {2, {{1, 1}, {2, 1}}});
  const PodId dropped = script->Arrive("dropped", share);
  script->Fail(dropped, {2, {{1, 2}}});
  script->Drop(dropped);
  script->At(2'250'000'000);
  script->Finish(ran);
  const PodId runs = script->Arrive("runs", share);
  script->Bind(runs, 1, 1);
  const PodId assumed = script->Arrive("assumed", share);
  script->Reserve(assumed, 0, 2);
  script->End();
}

constexpr char kRows[] =
    "ran,3,1000,1073741824,2,1000,T4|P100,Succeeded,node-a,0-1,0,0.5,2.25,0\n"
    "waits,-2,500,1,0,0,,Pending,,,1,,,2\n"
    "dropped,0,2000,0,1,250,,Unschedulable,,,1,,,1\n"
    "runs,0,2000,0,1,250,,Running,node-b,0,2.25,2.25,,0\n"
    "assumed,0,2000,0,1,250,,Assumed,,,2.25,,,0\n";

TEST(PodLogTest, CsvOfEveryPhase) {
  RecordScript script;
  PodLog log;
  script.AddSink(&log);
  PlayEveryPhase(&script);
  EXPECT_EQ(PodLog::CsvHeader(), kHeader);
  std::string csv;
  log.AppendCsv(script.cluster(), 0, script.cluster().pod_count(), &csv);
  EXPECT_EQ(csv, kRows);
}

TEST(PodLogTest, PiecesMakeTheWhole) {
  RecordScript script;
  PodLog log;
  script.AddSink(&log);
  PlayEveryPhase(&script);
  std::string csv;
  log.AppendCsv(script.cluster(), 0, 2, &csv);
  log.AppendCsv(script.cluster(), 2, 2, &csv);
  log.AppendCsv(script.cluster(), 2, 5, &csv);
  EXPECT_EQ(csv, kRows);
}

TEST(PodLogTest, RowsHoldTheLastPlacement) {
  RecordScript script;
  PodLog log;
  script.AddSink(&log);
  const PodId pod = script.Arrive("pod", script.Shape(1, 1, 1, 100));
  ASSERT_EQ(log.rows().size(), 1u);
  EXPECT_FALSE(log.rows()[0].node.valid());
  script.At(7);
  script.Reserve(pod, 0, 2);
  EXPECT_FALSE(log.rows()[0].node.valid());
  script.Unreserve(pod);
  script.Fail(pod, {2, {}});
  script.At(9);
  script.Bind(pod, 1, 1);
  EXPECT_EQ(log.rows()[0].node, NodeId(1u));
  EXPECT_EQ(log.rows()[0].devices, 1u);
  EXPECT_EQ(log.rows()[0].start, SimTime(9));
  EXPECT_EQ(log.rows()[0].attempts_failed, 1);
}

TEST(PodLogTest, NamesAndModelsThatNeedQuotesGetThem) {
  RecordScript script;
  PodLog log;
  script.AddSink(&log);
  script.Arrive("a,b", script.Shape(1, 1, 1, 100, "T4,P100"));
  script.Arrive("say \"hi\"", script.Shape(2, 1, 0, 0));
  std::string csv;
  log.AppendCsv(script.cluster(), 0, 2, &csv);
  EXPECT_EQ(csv,
            "\"a,b\",0,1,1,1,100,\"T4,P100\",Pending,,,0,,,0\n"
            "\"say \"\"hi\"\"\",0,2,1,0,0,,Pending,,,0,,,0\n");
}

TEST(PodLogTest, SavesAndLoads) {
  RecordScript script;
  PodLog log;
  script.AddSink(&log);
  PlayEveryPhase(&script);
  StateWriter out;
  log.Save(out);
  PodLog loaded;
  StateReader in(out.bytes());
  ASSERT_EQ(loaded.Load(in), absl::OkStatus());
  EXPECT_TRUE(in.AtEnd());
  std::string csv;
  loaded.AppendCsv(script.cluster(), 0, script.cluster().pod_count(), &csv);
  EXPECT_EQ(csv, kRows);

  for (size_t size = 0; size < out.bytes().size(); ++size) {
    const std::string cut = out.bytes().substr(0, size);
    StateReader cut_in(cut);
    PodLog other;
    EXPECT_EQ(other.Load(cut_in).code(), absl::StatusCode::kDataLoss) << size;
  }
}

}  // namespace
}  // namespace drasim
