// Snapshots whose memory is filled again beside snapshots made from nothing.
#include "gui/session/snapshot_pool.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "gui/session/fit_tally.h"
#include "gui/session/overview_builder.h"
#include "gui/session/run_overview.h"
#include "gui/session/run_snapshot.h"
#include "gui/session/snapshot_builder.h"
#include "gui/view/map_model.h"
#include "gui/view/node_table.h"
#include "gui/view/pod_table.h"
#include "model/random.h"
#include "sim/record/ledger_seek.h"
#include "tests/gui/session/golden_ledger.h"
#include "tests/gui/view/table_checks.h"
#include "tests/testing/assert_ok.h"

namespace drasim {
namespace snapshot_pool_test {

using gui::RunSnapshot;
using gui::SnapshotPool;
using gui::SnapshotRequest;

// --- The same to every reader: places of slots in memory may differ ---

void ExpectSameSlots(absl::Span<const view::MapSlot> slots,
                     absl::Span<const view::MapSlot> wanted) {
  ASSERT_EQ(slots.size(), wanted.size());
  for (size_t s = 0; s < slots.size(); ++s) {
    ASSERT_EQ(slots[s].start, wanted[s].start);
    ASSERT_EQ(slots[s].size, wanted[s].size);
    ASSERT_EQ(slots[s].profile, wanted[s].profile);
    ASSERT_EQ(slots[s].tenant, wanted[s].tenant);
    ASSERT_EQ(slots[s].pod, wanted[s].pod);
    ASSERT_EQ(slots[s].since, wanted[s].since);
    ASSERT_EQ(slots[s].held, wanted[s].held);
  }
}

void ExpectSameMaps(const view::ClusterMapData& map, const view::ClusterMapData& wanted) {
  ASSERT_EQ(map.nodes.size(), wanted.nodes.size());
  ASSERT_EQ(map.gpus.size(), wanted.gpus.size());
  EXPECT_EQ(map.profiles, wanted.profiles);
  EXPECT_EQ(map.tenants, wanted.tenants);
  EXPECT_EQ(map.states, wanted.states);
  EXPECT_EQ(map.has_shares, wanted.has_shares);
  for (size_t n = 0; n < map.nodes.size(); ++n) {
    const view::MapNode& node = map.nodes[n];
    const view::MapNode& other = wanted.nodes[n];
    ASSERT_EQ(node.name, other.name);
    ASSERT_EQ(node.label, other.label);
    ASSERT_EQ(node.since, other.since);
    ASSERT_EQ(node.available, other.available);
    ASSERT_EQ(node.held_milli, other.held_milli);
    ASSERT_EQ(node.stranded_milli, other.stranded_milli);
    ASSERT_EQ(node.fragmentation_milli, other.fragmentation_milli);
    ExpectSameSlots({&node.lead, 1}, {&other.lead, 1});
  }
  for (size_t g = 0; g < map.gpus.size(); ++g) {
    const view::MapGpu& gpu = map.gpus[g];
    const view::MapGpu& other = wanted.gpus[g];
    ASSERT_EQ(gpu.units, other.units);
    ASSERT_EQ(gpu.slices, other.slices);
    ASSERT_EQ(gpu.node, other.node);
    ASSERT_EQ(gpu.stranded, other.stranded);
    ASSERT_EQ(gpu.fits, other.fits);
    ASSERT_EQ(gpu.held_milli, other.held_milli);
    ASSERT_EQ(gpu.fragmentation_milli, other.fragmentation_milli);
    ASSERT_EQ(gpu.lead == view::kNoSlot, other.lead == view::kNoSlot);
    if (gpu.lead != view::kNoSlot) {
      ASSERT_EQ(gpu.lead - gpu.first_slot, other.lead - other.first_slot);
    }
    ExpectSameSlots(map.SlotsOf(gpu), wanted.SlotsOf(other));
  }
}

void ExpectSameSnapshots(const RunSnapshot& snapshot, const RunSnapshot& wanted) {
  EXPECT_TRUE(snapshot.request == wanted.request);
  ASSERT_EQ(snapshot.record, wanted.record);
  EXPECT_EQ(snapshot.time, wanted.time);
  EXPECT_TRUE(snapshot.totals == wanted.totals);
  EXPECT_EQ(snapshot.counters, wanted.counters);
  EXPECT_EQ(snapshot.waiting, wanted.waiting);
  EXPECT_TRUE(snapshot.slices == wanted.slices);
  EXPECT_EQ(snapshot.pods.now(), wanted.pods.now());
  EXPECT_EQ(snapshot.pods.ended(), wanted.pods.ended());
  EXPECT_EQ(snapshot.tenants.has_value(), wanted.tenants.has_value());
  ExpectSameMaps(snapshot.map, wanted.map);
  gui::ExpectSameTables(snapshot.nodes, wanted.nodes);
  gui::ExpectSameTables(snapshot.pods, wanted.pods);
  gui::ExpectSameTables(snapshot.claims, wanted.claims);
  ASSERT_EQ(snapshot.fits.size(), wanted.fits.size());
  for (size_t f = 0; f < wanted.fits.size(); ++f) {
    EXPECT_EQ(snapshot.fits[f].profile, wanted.fits[f].profile);
    EXPECT_EQ(snapshot.fits[f].fits, wanted.fits[f].fits) << wanted.fits[f].profile;
    EXPECT_EQ(snapshot.fits[f].waits, wanted.fits[f].waits) << wanted.fits[f].profile;
  }
}

// --- A run that is played ---

class SnapshotPoolTest : public ::testing::TestWithParam<absl::string_view> {
 protected:
  SnapshotPoolTest() : ledger_(GetParam()), seek_(LedgerSeek::Open(ledger_.path()).value()) {
    const auto go_on = [](double) { return true; };
    basis_ = gui::ReadBasis(seek_.get(), go_on, &overview_).value();
  }

  SnapshotRequest RequestOf(uint64_t record) const {
    SnapshotRequest request;
    request.at.record = record;
    return request;
  }
  RunSnapshot Fresh(const SnapshotRequest& request) const {
    return gui::SnapshotAt(request, *seek_, *basis_, Extras());
  }
  std::shared_ptr<const RunSnapshot> Pooled(const SnapshotRequest& request) {
    return pool_.Make(seek_->TakeTouched(), [&](const TouchedNodes& touched, RunSnapshot* made) {
      gui::SnapshotExtras extras = Extras();
      extras.fits = &fits_;
      gui::UpdateSnapshotAt(request, *seek_, *basis_, extras, touched, made);
    });
  }
  gui::SnapshotExtras Extras() const {
    gui::SnapshotExtras extras;
    extras.fragmentation = basis_->fragmentation.get();
    return extras;
  }
  uint64_t records() const { return overview_.records; }

  const GoldenLedger ledger_;
  std::unique_ptr<LedgerSeek> seek_;
  gui::RunOverview overview_;
  std::shared_ptr<const gui::RunBasis> basis_;
  SnapshotPool pool_;
  gui::FitTally fits_;
};

INSTANTIATE_TEST_SUITE_P(Runs, SnapshotPoolTest,
                         ::testing::Values("artifact_fill_fgd", "replay_easy_node_events",
                                           "mig_static_repartition", "replay_dra_mig"),
                         [](const auto& run) { return std::string(run.param); });

// Small steps forward, some back, while readers hold the last few snapshots for a while.
TEST_P(SnapshotPoolTest, FilledAgainIsAsMadeFromNothing) {
  Random random(1, "snapshot pool");
  std::vector<std::pair<std::shared_ptr<const RunSnapshot>, RunSnapshot>> held;
  uint64_t record = 0;
  for (int step = 0; step < 150 && !HasFatalFailure(); ++step) {
    record = random.Below(12) == 0 ? random.Below(records() + 1)
                                   : std::min(records(), record + random.Below(12));
    ASSERT_EQ(seek_->ToRecord(record), absl::OkStatus());
    SnapshotRequest request = RequestOf(record);
    request.tenants = random.Below(8) == 0;
    if (step > 100) request.label = "pool";
    std::shared_ptr<const RunSnapshot> pooled = Pooled(request);
    RunSnapshot fresh = Fresh(request);
    ExpectSameSnapshots(*pooled, fresh);
    held.emplace_back(std::move(pooled), std::move(fresh));
    // One that is still held must be what it was.
    const size_t other = random.Below(held.size());
    ExpectSameSnapshots(*held[other].first, held[other].second);
    if (held.size() > random.Below(SnapshotPool::kMostKept + 2)) {
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(other));
    }
  }
}

TEST_P(SnapshotPoolTest, MemoryIsUsedAgainOnceNobodyHoldsIt) {
  std::set<const RunSnapshot*> places;
  for (uint64_t record = 0; record < 20; ++record) {
    ASSERT_EQ(seek_->ToRecord(record), absl::OkStatus());
    places.insert(Pooled(RequestOf(record)).get());
  }
  EXPECT_EQ(places.size(), 1u);
  std::vector<std::shared_ptr<const RunSnapshot>> held;
  for (uint64_t record = 0; record < 2 * SnapshotPool::kMostKept; ++record) {
    ASSERT_EQ(seek_->ToRecord(record), absl::OkStatus());
    held.push_back(Pooled(RequestOf(record)));
    places.insert(held.back().get());
  }
  EXPECT_EQ(places.size(), held.size());
  for (size_t i = 0; i < held.size(); ++i) EXPECT_EQ(held[i]->record, i);
}

TEST_P(SnapshotPoolTest, ASnapshotOutlivesItsPool) {
  std::shared_ptr<const RunSnapshot> last;
  {
    SnapshotPool pool;
    last = pool.Make(TouchedNodes(), [](const TouchedNodes& touched, RunSnapshot* made) {
      EXPECT_TRUE(touched.all);
      made->record = 7;
    });
  }
  EXPECT_EQ(last->record, 7u);
  std::thread([&last] { last.reset(); }).join();
}

}  // namespace snapshot_pool_test
}  // namespace drasim
