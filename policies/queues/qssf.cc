#include "policies/queues/qssf.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>

#include "model/check.h"
#include "model/status_macros.h"
#include "policies/framework/registry.h"

namespace drasim {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

}  // namespace

void QssfQueue::History::Add(const History& more) {
  jobs += more.jobs;
  total_ns += more.total_ns;
}

int64_t QssfQueue::History::MeanNs() const {
  DRASIM_CHECK_GT(jobs, uint64_t{0});
  return static_cast<int64_t>(absl::Uint128Low64(total_ns / absl::uint128(jobs)));
}

void QssfQueue::Learn(const TenantAndGpus& key, const History& more) {
  by_tenant_and_gpus_[key].Add(more);
  by_tenant_[key.first].Add(more);
  all_.Add(more);
}

int64_t QssfQueue::PredictNs(const JobRow& row) const {
  const auto same = by_tenant_and_gpus_.find({row.tenant, row.request.gpu_milli});
  if (same != by_tenant_and_gpus_.end()) return same->second.MeanNs();
  const auto tenant = by_tenant_.find(row.tenant);
  if (tenant != by_tenant_.end()) return tenant->second.MeanNs();
  if (all_.jobs > 0) return all_.MeanNs();
  return row.has_estimate ? std::max<int64_t>(row.estimate.ns(), 0) : 0;
}

JobKey QssfQueue::Key(const JobTable& jobs, JobId job) {
  const JobRow& row = jobs.row(job);
  if (!row.has_run_time) return {kMax, kMax};
  const int64_t gpu_milli = std::max<int64_t>(row.request.gpu_milli, 1);
  const absl::uint128 service = absl::uint128(static_cast<uint64_t>(PredictNs(row))) *
                                absl::uint128(static_cast<uint64_t>(gpu_milli));
  // A number of up to 126 bits, as two of 63.
  return {static_cast<int64_t>(absl::Uint128Low64(service >> 63)),
          static_cast<int64_t>(absl::Uint128Low64(service) & static_cast<uint64_t>(kMax))};
}

void QssfQueue::OnEnd(const JobTable& jobs, JobId job) {
  const JobRow& row = jobs.row(job);
  const bool finished = row.state == JobState::kSucceeded ||
                        (row.state == JobState::kFailed && row.remaining <= SimDuration());
  if (!row.has_run_time || !finished) return;
  const auto run_time_ns = static_cast<uint64_t>(std::max<int64_t>(row.run_time.ns(), 0));
  Learn({row.tenant, row.request.gpu_milli}, {1, absl::uint128(run_time_ns)});
}

void QssfQueue::Save(StateWriter& out) const {
  out.Section("qssf");
  out.U64(by_tenant_and_gpus_.size());
  for (const auto& [key, history] : by_tenant_and_gpus_) {
    out.U64(key.first.value());
    out.I64(key.second);
    out.U64(history.jobs);
    out.U64(absl::Uint128High64(history.total_ns));
    out.U64(absl::Uint128Low64(history.total_ns));
  }
}

absl::Status QssfQueue::Load(StateReader& in) {
  in.Section("qssf");
  QssfQueue loaded;
  const size_t entries = in.Count();
  for (size_t i = 0; i < entries && in.status().ok(); ++i) {
    const uint64_t tenant = in.U64();
    const int64_t gpu_milli = in.I64();
    History history;
    history.jobs = in.U64();
    const uint64_t high = in.U64();
    const uint64_t low = in.U64();
    if (!in.status().ok()) break;
    history.total_ns = absl::MakeUint128(high, low);
    if (tenant >= TenantId::kInvalid || history.jobs == 0 ||
        history.total_ns / absl::uint128(history.jobs) >
            absl::uint128(static_cast<uint64_t>(kMax))) {
      in.Fail("the history of a tenant has impossible amounts");
      break;
    }
    loaded.Learn({TenantId(static_cast<uint32_t>(tenant)), gpu_milli}, history);
  }
  RETURN_IF_ERROR(in.status());
  *this = std::move(loaded);
  return absl::OkStatus();
}

void RegisterQssfQueue(Registry& registry) {
  registry.AddQueue({"qssf", "smallest predicted GPU time first (Helios, SC 2021)",
                     [](const QueueContext&) { return std::make_unique<QssfQueue>(); }});
}

}  // namespace drasim
