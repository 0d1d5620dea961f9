#include "sim/app/cell.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/number_text.h"
#include "sim/app/simulation.h"

namespace drasim {

const LoadRow* CellResult::AtLoad(int64_t arrived_percent) const {
  const auto it =
      std::lower_bound(by_load.begin(), by_load.end(), arrived_percent,
                       [](const LoadRow& row, int64_t a) { return row.arrived_percent < a; });
  return it != by_load.end() && it->arrived_percent == arrived_percent ? &*it : nullptr;
}

absl::StatusOr<CellResult> RunCell(const proto::Scenario& scenario) {
  absl::StatusOr<std::unique_ptr<Simulation>> built = Simulation::Build(scenario);
  if (!built.ok()) return built.status();
  Simulation& sim = **built;
  if (absl::Status s = sim.Start(); !s.ok()) return s;
  if (absl::Status s = sim.Run(); !s.ok()) return s;
  const Sample& m = sim.metrics().sample();
  CellResult cell;
  cell.pods_arrived = m.pods_arrived;
  cell.pods_scheduled = m.pods_scheduled;
  cell.pods_unschedulable = m.pods_dropped + static_cast<int64_t>(sim.engine().pods_waiting());
  cell.gpu_capacity_milli = m.totals.gpu_milli_capacity;
  cell.gpu_arrived_milli = m.gpu_arrived_milli;
  cell.gpu_allocated_milli = m.totals.gpu_milli_allocated;
  cell.cpu_allocated_milli = m.totals.cpu_milli_allocated;
  cell.fragmentation_milli = RoundDecimals(m.fragmentation.amount_milli(), 2);
  cell.fragmentation_ratio_percent = RoundDecimals(m.fragmentation.ratio_percent(), 2);
  cell.by_load = sim.load_table().Rows();
  if (scenario.order() == "artifact") cell.hashes = ComputeOrderHashes(sim.cluster(), sim.ranks());
  cell.fingerprint = sim.fingerprint();
  cell.warnings = sim.warnings();
  return cell;
}

absl::Status ForEachInParallel(size_t n, size_t jobs,
                               const std::function<absl::Status(size_t)>& work,
                               const std::function<void(size_t)>& done) {
  std::mutex mutex;
  size_t next = 0;
  absl::Status first_error;
  const auto worker = [&] {
    while (true) {
      size_t i = 0;
      {
        const std::lock_guard<std::mutex> lock(mutex);
        if (next >= n || !first_error.ok()) return;
        i = next++;
      }
      const absl::Status status = work(i);
      const std::lock_guard<std::mutex> lock(mutex);
      if (status.ok()) {
        done(i);
      } else if (first_error.ok()) {
        first_error = status;
      }
    }
  };
  std::vector<std::thread> threads;
  for (size_t t = 1; t < std::min(jobs, n); ++t) threads.emplace_back(worker);
  worker();
  for (std::thread& thread : threads) thread.join();
  return first_error;
}

absl::StatusOr<size_t> ParseJobs(const std::string& text) {
  if (text.empty()) return std::max<size_t>(1, std::thread::hardware_concurrency());
  uint64_t jobs = 0;
  if (!absl::SimpleAtoi(text, &jobs) || jobs < 1 || jobs > 256) {
    return absl::InvalidArgumentError(
        absl::StrCat("--jobs: found '", text, "', expected a number from 1 to 256"));
  }
  return static_cast<size_t>(jobs);
}

absl::StatusOr<std::vector<std::string>> ParsePolicies(const std::string& text) {
  std::vector<std::string> policies;
  if (text.empty() || text == "all") {
    for (const PolicyEntry& entry : BuiltinRegistry().policies()) policies.push_back(entry.name);
    return policies;
  }
  for (absl::string_view name : absl::StrSplit(text, ',')) {
    absl::StatusOr<const PolicyEntry*> entry = BuiltinRegistry().FindPolicy(name);
    if (!entry.ok())
      return absl::InvalidArgumentError(absl::StrCat("--policies: ", entry.status().message()));
    if (std::find(policies.begin(), policies.end(), name) != policies.end()) {
      return absl::InvalidArgumentError(absl::StrCat("--policies: '", name, "' is there twice"));
    }
    policies.emplace_back(name);
  }
  return policies;
}

}  // namespace drasim
