#include "gui/view/run_view.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/cluster_state.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/gpu_model_table.h"
#include "model/ids.h"
#include "model/mig_table.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "model/random.h"
#include "model/shape_table.h"
#include "model/time.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/ledger_writer.h"
#include "tests/sim/record/ledger_example.h"
#include "tests/sim/record/record_script.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/mig_products.h"
#include "tests/testing/temp_dir.h"

namespace drasim {

std::ostream& operator<<(std::ostream& out, const CurvePoint& point) {
  return out << "(" << point.arrived_percent << ", " << point.allocated_percent << ")";
}

std::ostream& operator<<(std::ostream& out, const Rgb& colour) {
  return out << "rgb(" << int{colour.red} << ", " << int{colour.green} << ", " << int{colour.blue}
             << ")";
}

std::ostream& operator<<(std::ostream& out, const PixelRect& rect) {
  return out << rect.x << "," << rect.y << " " << rect.width << "x" << rect.height;
}

namespace run_view_test {

absl::StatusOr<RunView> ViewOfBytes(const std::string& bytes,
                                    std::optional<SimTime> at = std::nullopt) {
  absl::StatusOr<std::unique_ptr<LedgerReader>> reader = LedgerReader::FromMemory(bytes);
  if (!reader.ok()) return reader.status();
  return ReadRunView(reader->get(), at);
}

constexpr SimTime kLastTime(std::numeric_limits<int64_t>::max());

CurvePoint Point(double arrived_percent, double allocated_percent) {
  CurvePoint point;
  point.arrived_percent = arrived_percent;
  point.allocated_percent = allocated_percent;
  return point;
}

NodeView Node(absl::string_view name, absl::string_view model,
              const std::vector<int32_t>& allocated_milli) {
  NodeView node;
  node.name = std::string(name);
  node.model = std::string(model);
  node.allocated_milli = allocated_milli;
  return node;
}

DeviceRef Device(uint32_t node, uint32_t device) {
  DeviceRef ref;
  ref.node = node;
  ref.device = device;
  return ref;
}

std::string ValueOf(const RunView& view, absl::string_view label) {
  for (const SummaryLine& line : SummaryLines(view)) {
    if (line.label == label) return line.value;
  }
  return "no such line";
}

// --- The run ---

TEST(RunViewTest, FoldsALedgerWithEveryKindOfRecord) {
  const LedgerExample example = MakeLedgerExample();
  ASSERT_OK_AND_ASSIGN(const RunView view, ViewOfBytes(example.bytes, kLastTime));

  EXPECT_FALSE(view.partial);
  EXPECT_EQ(view.path, "memory");
  EXPECT_EQ(view.scenario_yaml, kExampleYaml);
  EXPECT_EQ(view.records, example.records.size());
  EXPECT_EQ(view.fingerprint, kExampleFingerprint);
  EXPECT_EQ(view.end.ns(), 2'500'000'000);

  // `first` has gone; `second` holds a quarter of node-a's second device.
  ASSERT_EQ(view.nodes.size(), 2u);
  EXPECT_EQ(view.nodes[0].name, "node-a");
  EXPECT_EQ(view.nodes[0].model, "T4");
  EXPECT_EQ(view.nodes[0].allocated_milli, (std::vector<int32_t>{0, 250}));
  EXPECT_EQ(view.nodes[1].name, "node-b");
  EXPECT_EQ(view.nodes[1].model, "P100");
  EXPECT_EQ(view.nodes[1].allocated_milli, (std::vector<int32_t>{0}));

  const RunTotals& totals = view.totals;
  EXPECT_EQ(totals.pods_arrived, 3);
  EXPECT_EQ(totals.pods_scheduled, 2);
  EXPECT_EQ(totals.pods_waiting, 0);
  EXPECT_EQ(totals.pods_dropped, 1);
  EXPECT_EQ(totals.pods_finished, 1);
  EXPECT_EQ(totals.attempts_failed, 3);
  EXPECT_EQ(totals.gpu_arrived_milli, 2250);
  EXPECT_EQ(totals.cluster.gpu_milli_capacity, 3000);
  EXPECT_EQ(totals.cluster.gpu_milli_allocated, 250);
  EXPECT_EQ(totals.cluster.cpu_milli_allocated, 1500);
  EXPECT_EQ(view.moment, ShownMoment::kEnd);
  EXPECT_EQ(MomentText(view), "at the end of the run, 2.500 s");
}

TEST(RunViewTest, ShowsTheMomentAtWhichMostWasAllocated) {
  ASSERT_OK_AND_ASSIGN(const RunView view, ViewOfBytes(MakeLedgerExample().bytes));
  // `first` holds node-a, and `second` is reserved a quarter of node-b.
  EXPECT_EQ(view.nodes[0].allocated_milli, (std::vector<int32_t>{1000, 1000}));
  EXPECT_EQ(view.nodes[1].allocated_milli, (std::vector<int32_t>{250}));
  EXPECT_EQ(view.totals.cluster.gpu_milli_allocated, 2250);
  EXPECT_EQ(view.totals.cluster.cpu_milli_allocated, 3500);
  EXPECT_EQ(view.totals.pods_finished, 1);
  EXPECT_EQ(view.moment, ShownMoment::kPeak);
  EXPECT_EQ(view.shown.ns(), 1'000'000'007);
  EXPECT_EQ(MomentText(view), "at 1.000 s, when most was allocated");
}

TEST(RunViewTest, ShowsTheMomentThatIsAskedFor) {
  const std::string bytes = MakeLedgerExample().bytes;
  ASSERT_OK_AND_ASSIGN(const RunView first, ViewOfBytes(bytes, SimTime(1'000'000'006)));
  EXPECT_EQ(first.nodes[0].allocated_milli, (std::vector<int32_t>{1000, 1000}));
  EXPECT_EQ(first.nodes[1].allocated_milli, (std::vector<int32_t>{0}));
  EXPECT_EQ(first.moment, ShownMoment::kAsked);
  EXPECT_EQ(MomentText(first), "at 1.000 s");
  // All that happens at one instant has happened.
  ASSERT_OK_AND_ASSIGN(const RunView second, ViewOfBytes(bytes, SimTime(2'000'000'000)));
  EXPECT_EQ(second.nodes[0].allocated_milli, (std::vector<int32_t>{0, 250}));
  EXPECT_EQ(second.nodes[1].allocated_milli, (std::vector<int32_t>{0}));
}

// A GPU is drawn as full as its instances are large, and the title says the same as the table.
TEST(RunViewTest, AGpuWithAnInstanceIsNotFull) {
  const MigTable table = TestTable(TestA100());
  GpuModelTable models;
  models.SetMig(models.Intern("A100").value(), &table);
  ShapeTable shapes(&models);
  ClusterState cluster(&models, &shapes);
  NodeSpec spec;
  spec.name = "gpus";
  spec.gpu_count = 2;
  spec.gpu_model = "A100";
  ASSERT_OK_AND_ASSIGN(const NodeId node, cluster.AddNode(spec));
  PodShape shape;
  shape.request.mig = {{"1g.10gb", 1}, {"3g.40gb", 1}};
  const PodId pod = cluster.AddPod("mig", shapes.Intern(shape), 0, SimTime());
  const auto instance = [&table](const std::string& profile, int32_t start) {
    const auto p = static_cast<size_t>(table.FindProfile(profile));
    DeviceGrant grant;
    grant.placement = static_cast<uint8_t>(table.FindPlacement(p, start));
    grant.milli = profile == "1g.10gb" ? 125 : 500;
    return grant;
  };
  const DeviceGrants grants = {instance("1g.10gb", 0), instance("3g.40gb", 4)};
  cluster.Assume(pod, node, DeviceSet::Of(0), grants);
  cluster.Bind(pod);
  // One of eight units and four of eight.
  EXPECT_EQ(AllocatedOnDevices(cluster, node), (std::vector<int32_t>{625, 0}));
  RunView view;
  view.nodes = {Node("gpus", "A100", AllocatedOnDevices(cluster, node))};
  EXPECT_EQ(GroupTitle(LayOutMap(view, 100, 4, 10).groups[0]),
            "A100: 1 node, 2 GPUs, 31.25 % allocated");
  EXPECT_EQ(ValueOf(view, "GPUs allocated"), "0.6 of 2.0 (31.25 %)");
}

TEST(RunViewTest, TheCurveHasAPointPerOutcome) {
  ASSERT_OK_AND_ASSIGN(const RunView view, ViewOfBytes(MakeLedgerExample().bytes));
  const auto percent = [](double milli) { return 100.0 * milli / 3000.0; };
  const std::vector<CurvePoint> expected = {
      Point(0, 0),
      Point(percent(2000), percent(2000)),  // first is bound
      Point(percent(2250), percent(2000)),  // third, without GPUs, is dropped
      Point(percent(2250), percent(2250)),  // second is reserved
      Point(percent(2250), percent(2000)),  // and unreserved
      Point(percent(2250), 0),              // first ends
      Point(percent(2250), percent(250)),   // second is reserved again
      Point(percent(2250), percent(250)),   // and bound
  };
  EXPECT_EQ(view.curve, expected);
}

TEST(RunViewTest, ATornLedgerIsShownUpToWhereItBreaksOff) {
  const LedgerExample example = MakeLedgerExample();
  const std::vector<LedgerFrame> frames = FramesOf(example.bytes);
  // The first block holds the two records before the first checkpoint; cut inside the next one.
  const auto second_block = std::find_if(frames.begin() + 3, frames.end(),
                                         [](const LedgerFrame& f) { return f.type == 2; });
  ASSERT_NE(second_block, frames.end());
  const std::string torn = example.bytes.substr(0, second_block->end - 1);
  ASSERT_OK_AND_ASSIGN(const RunView view, ViewOfBytes(torn));
  EXPECT_TRUE(view.partial);
  EXPECT_EQ(view.records, 2u);
  EXPECT_EQ(view.fingerprint, 0u);
  EXPECT_EQ(view.nodes[0].allocated_milli, (std::vector<int32_t>{1000, 1000}));
  EXPECT_EQ(view.totals.pods_arrived, 1);
  EXPECT_EQ(ValueOf(view, "records"), "2 (partial)");
  EXPECT_EQ(ValueOf(view, "fingerprint"), "-");
}

TEST(RunViewTest, DamageIsAnError) {
  std::string bytes = MakeLedgerExample().bytes;
  const LedgerFrame block = FramesOf(bytes)[1];
  ASSERT_EQ(block.type, 2);
  bytes[block.end - 1] = static_cast<char>(bytes[block.end - 1] ^ 1);
  const absl::StatusOr<RunView> view = ViewOfBytes(bytes);
  EXPECT_TRUE(absl::IsDataLoss(view.status())) << view.status();
}

TEST(RunViewTest, OpensFilesAndFolders) {
  const std::string bytes = MakeLedgerExample().bytes;
  const TempDir dir;
  dir.Write("ledger", bytes);
  for (const std::string& path : {dir.path(), dir.PathOf("ledger")}) {
    ASSERT_OK_AND_ASSIGN(const RunView view, OpenRunView(path));
    EXPECT_EQ(view.path, dir.PathOf("ledger"));
    EXPECT_FALSE(view.partial);
  }

  const TempDir grows;
  grows.Write("ledger.partial", bytes.substr(0, FramesOf(bytes).back().begin));
  ASSERT_OK_AND_ASSIGN(const RunView partial, OpenRunView(grows.path()));
  EXPECT_TRUE(partial.partial);
  EXPECT_EQ(partial.totals.pods_finished, 1);

  const TempDir empty;
  EXPECT_TRUE(absl::IsNotFound(OpenRunView(empty.path()).status()));
}

// Runs random pods on the two nodes of RecordScript, writes the ledger, and keeps its own books.
struct RandomRun {
  std::string bytes;
  std::vector<std::vector<int32_t>> allocated_milli = {{0, 0}, {0}};
  std::vector<std::vector<int32_t>> at_peak = allocated_milli;
  int64_t peak_milli = 0;
  std::vector<CurvePoint> curve = {Point(0, 0)};
  int64_t arrived = 0;
  int64_t waiting = 0;
  int64_t finished = 0;
};

RandomRun MakeRandomRun(uint64_t seed, int steps) {
  struct Running {
    PodId pod;
    size_t node;
    size_t device;
    int32_t milli;
  };
  RandomRun run;
  Random random(seed, "run view");
  const TempDir dir;
  RecordScript script;
  auto writer = LedgerWriter::Create(dir.PathOf("ledger"), "", script.cluster(), kExampleRanks,
                                     script.summaries());
  DRASIM_CHECK(writer.ok());
  script.AddSink(writer->get());
  std::vector<Running> running;
  int64_t arrived_milli = 0;
  int64_t allocated_milli = 0;
  const auto add_point = [&] {
    run.curve.push_back(Point(100.0 * static_cast<double>(arrived_milli) / 3000.0,
                              100.0 * static_cast<double>(allocated_milli) / 3000.0));
  };
  for (int step = 0; step < steps; ++step) {
    script.At(int64_t{1000} * step);
    if (!running.empty() && random.Below(3) == 0) {
      const auto victim = static_cast<size_t>(random.Below(running.size()));
      const Running ended = running[victim];
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(victim));
      script.Finish(ended.pod);
      run.allocated_milli[ended.node][ended.device] -= ended.milli;
      allocated_milli -= ended.milli;
      ++run.finished;
      add_point();
      continue;
    }
    const auto milli = static_cast<int32_t>(100 * (1 + random.Below(10)));
    const PodId pod = script.Arrive(absl::StrCat("pod-", step), script.Shape(0, 0, 1, milli));
    ++run.arrived;
    arrived_milli += milli;
    const auto node = static_cast<size_t>(random.Below(2));
    const auto device = static_cast<size_t>(random.Below(run.allocated_milli[node].size()));
    if (run.allocated_milli[node][device] + milli > 1000) {
      ++run.waiting;
      continue;
    }
    script.Bind(pod, static_cast<uint32_t>(node), DeviceSet::Of(device));
    running.push_back(Running{pod, node, device, milli});
    run.allocated_milli[node][device] += milli;
    allocated_milli += milli;
    add_point();
    if (allocated_milli <= run.peak_milli) continue;
    run.peak_milli = allocated_milli;
    run.at_peak = run.allocated_milli;
  }
  script.End();
  DRASIM_CHECK((*writer)->Finish(seed).ok());
  run.bytes = dir.Read("ledger");
  return run;
}

TEST(RunViewTest, RandomRunsMatchBooksKeptBesideThem) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    const RandomRun run = MakeRandomRun(seed, 700);
    ASSERT_OK_AND_ASSIGN(const RunView view, ViewOfBytes(run.bytes));
    ASSERT_OK_AND_ASSIGN(const RunView last, ViewOfBytes(run.bytes, kLastTime));
    for (size_t n = 0; n < run.allocated_milli.size(); ++n) {
      EXPECT_EQ(view.nodes[n].allocated_milli, run.at_peak[n]);
      EXPECT_EQ(last.nodes[n].allocated_milli, run.allocated_milli[n]);
    }
    EXPECT_EQ(view.totals.cluster.gpu_milli_allocated, run.peak_milli);
    EXPECT_EQ(view.curve, run.curve);
    EXPECT_EQ(view.totals.pods_arrived, run.arrived);
    EXPECT_EQ(view.totals.pods_waiting, run.waiting);
    EXPECT_EQ(view.totals.pods_finished, run.finished);
  }
}

TEST(RunViewTest, ALongCurveIsThinned) {
  const RandomRun run = MakeRandomRun(9, 6000);
  ASSERT_OK_AND_ASSIGN(const RunView view, ViewOfBytes(run.bytes));
  ASSERT_GT(run.curve.size(), kMaxCurvePoints);
  EXPECT_LE(view.curve.size(), kMaxCurvePoints);
  EXPECT_GT(view.curve.size(), kMaxCurvePoints / 2 - 1);
  EXPECT_EQ(view.curve.front(), run.curve.front());
  EXPECT_EQ(view.curve.back(), run.curve.back());
}

TEST(CurveThinnerTest, KeepsEveryNthAndTheLast) {
  for (const size_t max_points : {size_t{2}, size_t{3}, size_t{4}, size_t{7}, size_t{10}}) {
    CurveThinner thinner(max_points);
    EXPECT_TRUE(thinner.Points().empty());
    for (size_t n = 1; n <= 300; ++n) {
      thinner.Add(Point(static_cast<double>(n - 1), 0));
      // The definition, from scratch.
      size_t stride = 1;
      while ((n + stride - 1) / stride > max_points - 1) stride *= 2;
      std::vector<CurvePoint> expected;
      for (size_t i = 0; i < n; i += stride) expected.push_back(Point(static_cast<double>(i), 0));
      if ((n - 1) % stride != 0) expected.push_back(Point(static_cast<double>(n - 1), 0));
      ASSERT_EQ(thinner.Points(), expected) << n << " points, at most " << max_points;
      ASSERT_LE(expected.size(), max_points);
    }
  }
}

// --- Texts ---

TEST(SummaryLinesTest, GiveTheFiguresOfTheRun) {
  ASSERT_OK_AND_ASSIGN(const RunView view, ViewOfBytes(MakeLedgerExample().bytes));
  EXPECT_EQ(ValueOf(view, "ledger"), "memory");
  EXPECT_EQ(ValueOf(view, "records"), absl::StrCat(view.records));
  EXPECT_EQ(ValueOf(view, "fingerprint"), "0123456789abcdef");
  EXPECT_EQ(ValueOf(view, "virtual time"), "2.500 s");
  EXPECT_EQ(ValueOf(view, "pods arrived"), "3");
  EXPECT_EQ(ValueOf(view, "pods scheduled"), "2");
  EXPECT_EQ(ValueOf(view, "pods waiting"), "0");
  EXPECT_EQ(ValueOf(view, "pods dropped"), "1");
  EXPECT_EQ(ValueOf(view, "pods finished"), "1");
  EXPECT_EQ(ValueOf(view, "failed attempts"), "3");
  EXPECT_EQ(ValueOf(view, "GPUs requested"), "2.2 of 3.0 (75.00 %)");
  EXPECT_EQ(ValueOf(view, "devices shown"), "at 1.000 s, when most was allocated");
  EXPECT_EQ(ValueOf(view, "GPUs allocated"), "2.2 of 3.0 (75.00 %)");
  EXPECT_EQ(ValueOf(view, "GPUs in use"), "3 of 3");
  EXPECT_EQ(ValueOf(view, "CPU cores allocated"), "3.5 of 12.0 (29.17 %)");
  EXPECT_EQ(ValueOf(view, "nodes in use"), "2 of 2");
}

TEST(SummaryLinesTest, AnEmptyRunDividesByNothing) {
  const RunView view;
  EXPECT_EQ(ValueOf(view, "GPUs allocated"), "0.0 of 0.0 (0.00 %)");
}

TEST(MapTextTest, DevicesAndGroups) {
  RunView view;
  view.nodes = {Node("node-a", "T4", {0, 250}), Node("node-b", "", {1000})};
  EXPECT_EQ(DeviceText(view, Device(0, 1)),
            "node node-a\nT4, device 1 of 0..1\n250 of 1000 milli allocated");
  EXPECT_EQ(DeviceText(view, Device(1, 0)),
            "node node-b\nunknown model, device 0 of 0..0\n1000 of 1000 milli allocated");
  const MapLayout map = LayOutMap(view, 100, 4, 10);
  ASSERT_EQ(map.groups.size(), 2u);
  EXPECT_EQ(GroupTitle(map.groups[0]), "unknown model: 1 node, 1 GPU, 100.00 % allocated");
  EXPECT_EQ(GroupTitle(map.groups[1]), "T4: 1 node, 2 GPUs, 12.50 % allocated");
}

// --- Colours and axes ---

TEST(DeviceColourTest, StopsAndBetween) {
  EXPECT_EQ(DeviceColour(0), (Rgb{44, 48, 56}));
  EXPECT_EQ(DeviceColour(1), (Rgb{34, 74, 122}));
  EXPECT_EQ(DeviceColour(167), (Rgb{34, 105, 130}));
  EXPECT_EQ(DeviceColour(334), (Rgb{32, 138, 140}));
  EXPECT_EQ(DeviceColour(667), (Rgb{132, 190, 92}));
  EXPECT_EQ(DeviceColour(1000), (Rgb{250, 214, 66}));
}

TEST(DeviceColourTest, MoreAllocatedIsBrighter) {
  const auto brightness = [](int32_t milli) {
    const Rgb colour = DeviceColour(milli);
    return 299 * colour.red + 587 * colour.green + 114 * colour.blue;
  };
  for (int32_t milli = 50; milli <= 1000; milli += 50) {
    EXPECT_GT(brightness(milli), brightness(milli - 50)) << milli;
  }
}

TEST(AxisTest, RoundStepsUpToTheFirstTickNotBelow) {
  struct Row {
    double largest;
    int64_t step;
    int64_t max;
  };
  const Row kRows[] = {
      {0, 1, 1},         {0.3, 1, 1},
      {1, 1, 1},         {6, 1, 6},
      {6.01, 2, 8},      {12.5, 5, 15},
      {30, 5, 30},       {31, 10, 40},
      {100, 20, 100},    {100.5, 20, 120},
      {129.99, 50, 150}, {300, 50, 300},
      {301, 100, 400},   {1e18, 200'000'000'000'000'000, 1'000'000'000'000'000'000}};
  for (const Row& row : kRows) {
    const Axis axis = AxisFor(row.largest);
    EXPECT_EQ(axis.step, row.step) << row.largest;
    EXPECT_EQ(axis.max, row.max) << row.largest;
  }
}

// --- The map ---

RunView SmallView() {
  RunView view;
  view.nodes = {Node("small", "T4", {0, 0}), Node("other", "P100", {500}),
                Node("large", "T4", std::vector<int32_t>(10, 1000)), Node("none", "", {})};
  return view;
}

TEST(MapTest, NarrowMap) {
  const MapLayout map = LayOutMap(SmallView(), 30, 4, 10);
  ASSERT_EQ(map.groups.size(), 2u);
  EXPECT_EQ(map.groups[0].model, "P100");
  EXPECT_EQ(map.groups[0].title_y, 0);
  EXPECT_EQ(map.groups[0].nodes, 1);
  EXPECT_EQ(map.groups[0].devices, 1);
  EXPECT_EQ(map.groups[0].allocated_milli, 500);
  EXPECT_EQ(map.groups[1].model, "T4");
  EXPECT_EQ(map.groups[1].title_y, 22);
  EXPECT_EQ(map.groups[1].nodes, 2);
  EXPECT_EQ(map.groups[1].devices, 12);
  EXPECT_EQ(map.groups[1].allocated_milli, 10'000);

  ASSERT_EQ(map.boxes.size(), 3u);
  EXPECT_EQ(map.boxes[0].node, 1u);
  EXPECT_EQ(map.boxes[0].rect, (PixelRect{0, 10, 6, 6}));
  EXPECT_EQ(map.boxes[1].node, 2u);  // the larger one comes first, too wide as it is
  EXPECT_EQ(map.boxes[1].rect, (PixelRect{0, 32, 41, 11}));
  EXPECT_EQ(map.boxes[2].node, 0u);
  EXPECT_EQ(map.boxes[2].rect, (PixelRect{0, 46, 11, 6}));
  EXPECT_EQ(map.width, 41);
  EXPECT_EQ(map.height, 52);
  EXPECT_EQ(DeviceRect(map, map.boxes[1], 0), (PixelRect{1, 33, 4, 4}));
  EXPECT_EQ(DeviceRect(map, map.boxes[1], 7), (PixelRect{36, 33, 4, 4}));
  EXPECT_EQ(DeviceRect(map, map.boxes[1], 9), (PixelRect{6, 38, 4, 4}));
}

TEST(MapTest, WideMap) {
  const MapLayout map = LayOutMap(SmallView(), 55, 4, 10);
  ASSERT_EQ(map.boxes.size(), 3u);
  EXPECT_EQ(map.boxes[2].rect, (PixelRect{44, 32, 11, 6}));
  EXPECT_EQ(map.width, 55);
  EXPECT_EQ(map.height, 43);
  // One pixel less, and the last box goes to a row of its own.
  EXPECT_EQ(LayOutMap(SmallView(), 54, 4, 10).boxes[2].rect, (PixelRect{0, 46, 11, 6}));
}

TEST(MapTest, NothingToShow) {
  RunView view;
  view.nodes = {Node("none", "", {})};
  const MapLayout map = FitMap(view, 100, 100, 10);
  EXPECT_TRUE(map.boxes.empty());
  EXPECT_TRUE(map.groups.empty());
  EXPECT_EQ(map.width, 0);
  EXPECT_EQ(map.height, 0);
  EXPECT_FALSE(FindDevice(view, map, 0, 0).has_value());
}

TEST(MapTest, FindsTheDeviceAtAPixel) {
  const RunView view = SmallView();
  const MapLayout map = LayOutMap(view, 55, 4, 10);
  const auto at = [&](int x, int y) {
    const std::optional<DeviceRef> found = FindDevice(view, map, x, y);
    return found.has_value() ? absl::StrCat(found->node, "/", found->device) : "none";
  };
  EXPECT_EQ(at(1, 11), "1/0");
  EXPECT_EQ(at(4, 14), "1/0");
  EXPECT_EQ(at(5, 14), "none");  // the gap at its right
  EXPECT_EQ(at(0, 11), "none");  // and at its left
  EXPECT_EQ(at(6, 38), "2/9");
  EXPECT_EQ(at(11, 38), "none");  // there is no eleventh device
  EXPECT_EQ(at(50, 33), "0/1");
  EXPECT_EQ(at(-1, -1), "none");
}

RunView RandomView(Random& random) {
  const std::vector<std::string> models = {"A", "B", ""};
  RunView view;
  const size_t nodes = static_cast<size_t>(random.Below(14));
  for (size_t n = 0; n < nodes; ++n) {
    std::vector<int32_t> milli(static_cast<size_t>(random.Below(12)));
    for (int32_t& m : milli) m = static_cast<int32_t>(random.Below(1001));
    view.nodes.push_back(Node(absl::StrCat("n", n), models[random.Below(models.size())], milli));
  }
  return view;
}

// How often each device of each node covers the pixel, by looking at all of them.
std::vector<DeviceRef> DevicesAt(const RunView& view, const MapLayout& map, int x, int y) {
  std::vector<DeviceRef> found;
  for (const MapBox& box : map.boxes) {
    for (size_t d = 0; d < view.nodes[box.node].allocated_milli.size(); ++d) {
      if (DeviceRect(map, box, d).Contains(x, y)) {
        found.push_back(Device(box.node, static_cast<uint32_t>(d)));
      }
    }
  }
  return found;
}

TEST(MapTest, RandomMapsShowEveryDeviceOnceAndApart) {
  Random random(11, "maps");
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    const RunView view = RandomView(random);
    const int width = static_cast<int>(random.Below(160));
    const MapLayout map = LayOutMap(view, width, 1 + static_cast<int>(random.Below(5)), 9);
    std::vector<int> pixels(view.nodes.size(), 0);
    for (int y = -1; y <= map.height; ++y) {
      for (int x = -1; x <= map.width; ++x) {
        const std::vector<DeviceRef> expected = DevicesAt(view, map, x, y);
        ASSERT_LE(expected.size(), 1u) << x << "," << y;
        const std::optional<DeviceRef> found = FindDevice(view, map, x, y);
        ASSERT_EQ(found.has_value(), !expected.empty()) << x << "," << y;
        if (!found.has_value()) continue;
        ASSERT_EQ(*found, expected[0]) << x << "," << y;
        ++pixels[found->node];
      }
    }
    for (size_t n = 0; n < view.nodes.size(); ++n) {
      const auto devices = static_cast<int>(view.nodes[n].allocated_milli.size());
      EXPECT_EQ(pixels[n], devices * map.cell * map.cell) << view.nodes[n].name;
    }
    for (const MapBox& box : map.boxes) {
      EXPECT_TRUE(box.rect.x == 0 || box.rect.x + box.rect.width <= width);
    }
    for (size_t g = 1; g < map.groups.size(); ++g) {
      EXPECT_LT(map.groups[g - 1].model, map.groups[g].model);
    }
  }
}

TEST(MapTest, FitTakesTheLargestCellThatFits) {
  Random random(12, "fits");
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const RunView view = RandomView(random);
    const int width = static_cast<int>(random.Below(500));
    const int height = static_cast<int>(random.Below(500));
    const auto fits = [&](int cell) {
      const MapLayout map = LayOutMap(view, width, cell, 9);
      return map.width <= width && map.height <= height;
    };
    int expected = kMinCell;
    for (int cell = kMinCell; cell <= kMaxCell; ++cell) {
      if (fits(cell)) expected = cell;
    }
    EXPECT_EQ(FitMap(view, width, height, 9).cell, expected);
  }
}

}  // namespace run_view_test
}  // namespace drasim
