// The claims of a whole run with NVIDIA's driver: at random instants the sought claims are those of
// a fold from the beginning, and they agree with what pods hold.
#include "sim/record/ledger_claims.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/claim_change.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/random.h"
#include "model/record.h"
#include "model/time.h"
#include "sim/record/ledger_digest.h"
#include "sim/record/ledger_seek.h"
#include "sim/record/ledger_writer.h"
#include "sim/record/live_claims.h"
#include "sim/run/dra_outputs.h"
#include "sim/run/simulation.h"
#include "tests/sim/record/claim_script.h"
#include "tests/testing/run_spec_of.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace ledger_claims_runs_test {

constexpr LedgerPace kPace = {/*records_per_block=*/32, /*records_per_keyframe=*/90,
                              /*records_per_live_object=*/0, /*blocks_per_series=*/4,
                              /*pods_per_frame=*/16};

// Keeps what the run reports.
class ClaimTrail : public RecordSink {
 public:
  void OnRecord(const Record& record, const ClusterState&) override {
    times_.push_back(record.time);
  }
  bool wants_claim_changes() const override { return true; }
  void OnClaimChange(const ClaimChange& change) override {
    changes_.push_back({times_.size(), change});
  }
  const std::vector<SimTime>& times() const { return times_; }  // of the records
  const std::vector<LoggedClaimChange>& changes() const { return changes_; }

 private:
  std::vector<SimTime> times_;
  std::vector<LoggedClaimChange> changes_;
};

class ClaimRunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ifstream file(
        absl::StrCat(DRASIM_SOURCE_DIR, "/tests/golden/scenarios/replay_dra_mig.yaml"),
        std::ios::binary);
    const std::string yaml{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    absl::StatusOr<std::unique_ptr<Simulation>> built =
        Simulation::Build(RunSpecOf(ScenarioOf(yaml)));
    ASSERT_TRUE(built.ok()) << built.status();
    sim_ = *std::move(built);
    const TempDir dir;
    absl::StatusOr<std::unique_ptr<LedgerWriter>> writer = LedgerWriter::Create(
        dir.PathOf("ledger"), "", sim_->cluster(), sim_->ranks(), sim_->summaries(), kPace);
    ASSERT_TRUE(writer.ok()) << writer.status();
    (*writer)->set_calls([this] { return CallsByClient(*sim_); });
    sim_->AddSink(writer->get());
    sim_->AddSink(&trail_);
    ASSERT_EQ(sim_->Start(), absl::OkStatus());
    ASSERT_EQ(sim_->Run(), absl::OkStatus());
    ASSERT_EQ((*writer)->Finish(sim_->fingerprint()), absl::OkStatus());
    ledger_ = dir.Read("ledger");
    absl::StatusOr<std::unique_ptr<LedgerSeek>> seek = LedgerSeek::FromMemory(ledger_);
    ASSERT_TRUE(seek.ok()) << seek.status();
    seek_ = *std::move(seek);
  }

  std::unique_ptr<Simulation> sim_;
  ClaimTrail trail_;
  std::string ledger_;
  std::unique_ptr<LedgerSeek> seek_;
};

TEST_F(ClaimRunTest, RandomInstantsInAnyOrder) {
  const std::vector<SimTime>& times = trail_.times();
  ASSERT_TRUE(std::is_sorted(times.begin(), times.end()));
  ASSERT_GT(seek_->index().live_claims.size(), 3u);
  Random random(1, "instants");
  for (int i = 0; i < 500; ++i) {
    const uint64_t to = random.Below(times.size() + 1);
    if (random.Bernoulli(1, 2)) {
      ASSERT_EQ(seek_->ToRecord(to), absl::OkStatus());
      ASSERT_TRUE(seek_->claims() == ClaimsAfter(trail_.changes(), to)) << to;
      continue;
    }
    const SimTime time(
        static_cast<int64_t>(random.Below(static_cast<uint64_t>(times.back().ns()))));
    ASSERT_EQ(seek_->ToTime(time), absl::OkStatus());
    const auto records =
        static_cast<uint64_t>(std::upper_bound(times.begin(), times.end(), time) - times.begin());
    ASSERT_TRUE(seek_->claims() == ClaimsAfter(trail_.changes(), records, time)) << time.ns();
  }
}

TEST_F(ClaimRunTest, CallsGrowUpToThoseOfTheRun) {
  const absl::StatusOr<std::vector<CallsSample>> samples = seek_->ReadCalls();
  ASSERT_TRUE(samples.ok()) << samples.status();
  ASSERT_GT(samples->size(), 3u);
  std::map<std::string, uint64_t> before;
  for (const CallsSample& sample : *samples) {
    for (const ClientCalls& of_client : sample.clients) {
      EXPECT_GE(of_client.calls, before[of_client.client]);
      before[of_client.client] = of_client.calls;
    }
  }
  EXPECT_TRUE(samples->back().clients == CallsByClient(*sim_));
  EXPECT_GT(before["scheduler"], 100u);
  EXPECT_GT(before["kubelet"], 100u);
  EXPECT_FALSE(before.contains("user"));
}

// The claims of a running pod hold the devices that the cluster has for the pod.
TEST_F(ClaimRunTest, ClaimsHoldWhatPodsHold) {
  size_t compared = 0;
  for (uint64_t to = 40; to < trail_.times().size(); to += 40) {
    ASSERT_EQ(seek_->ToRecord(to), absl::OkStatus());
    std::map<std::string, const LiveClaim*> by_pod;
    for (const auto& [uid, claim] : seek_->claims().claims()) by_pod[claim.identity.pod] = &claim;
    for (const LivePod& row : seek_->live().pods()) {
      const auto found = by_pod.find(std::string(seek_->cluster().pod_name(row.pod)));
      if (row.phase != PodPhase::kBound || found == by_pod.end()) continue;
      const LiveClaim& claim = *found->second;
      if (claim.state != ClaimState::kPrepared) continue;
      ++compared;
      EXPECT_EQ(claim.node, row.node);
      EXPECT_TRUE(claim.grants == row.grants);
    }
  }
  EXPECT_GT(compared, 30u);
}

TEST_F(ClaimRunTest, DriversSayWhatIsMissing) {
  ASSERT_EQ(seek_->ToRecord(seek_->index().records), absl::OkStatus());
  std::map<ClaimChangeKind, size_t> kinds;
  size_t with_words = 0;
  size_t without_words = 0;  // room came free between the check and the answer
  for (const LoggedClaimChange& logged : trail_.changes()) {
    const ClaimChange& change = logged.change;
    ++kinds[change.kind];
    if (change.kind != ClaimChangeKind::kDriverAnswered || change.refused == 0) continue;
    EXPECT_LE(change.refused, change.asked);
    ++(change.text.empty() ? without_words : with_words);
  }
  EXPECT_GT(with_words, 5u);
  EXPECT_LT(without_words, with_words);
  EXPECT_EQ(kinds[ClaimChangeKind::kCreated],
            kinds[ClaimChangeKind::kDeleted] + seek_->claims().claims().size());
  EXPECT_GE(kinds[ClaimChangeKind::kPrepared], 100u);
  EXPECT_EQ(kinds[ClaimChangeKind::kPrepared], kinds[ClaimChangeKind::kUnprepared]);
}

}  // namespace ledger_claims_runs_test
}  // namespace drasim
