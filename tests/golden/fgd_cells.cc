#include "tests/golden/fgd_cells.h"

#include <cstddef>
#include <fstream>
#include <map>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/check.h"
#include "model/proto/scenario.pb.h"
#include "sim/scenario/resolve.h"
#include "tests/testing/shared_data.h"

namespace drasim {
namespace {

constexpr size_t kThreads = 2;

std::map<FgdCellKey, CellResult>& Cache() {
  static auto* const cache = new std::map<FgdCellKey, CellResult>();
  return *cache;
}

absl::StatusOr<CellResult> RunFgdCell(const FgdCellKey& key) {
  proto::Scenario scenario;
  scenario.set_mode("fill");
  scenario.set_order("artifact");
  scenario.set_seed(key.seed);
  scenario.mutable_cluster()->set_path(SharedPath(kFgdNodesFile));
  scenario.mutable_workload()->mutable_trace()->set_path(SharedPath(FgdPodsFile(key.trace)));
  scenario.mutable_workload()->mutable_tuning()->set_ratio(1.3);
  scenario.mutable_scheduler()->set_policy(PolicyOfFgd(key.policy));
  const absl::StatusOr<RunSpec> spec = ResolveScenario(scenario);
  if (!spec.ok()) return spec.status();
  return RunCell(*spec);
}

}  // namespace

std::string PolicyOfFgd(absl::string_view published) {
  static constexpr std::pair<absl::string_view, absl::string_view> kNames[] = {
      {"Random", "random"},          {"DotProd", "dotprod"},  {"GpuClustering", "gpu-clustering"},
      {"GpuPacking", "gpu-packing"}, {"BestFit", "best-fit"}, {"FGD", "fgd"}};
  for (const auto& [theirs, ours] : kNames) {
    if (theirs == published) return std::string(ours);
  }
  return std::string();
}

std::string FgdPodsFile(absl::string_view trace) {
  return absl::StrCat("traces/openb/openb_pod_list_", trace, ".csv.gz");
}

absl::Status ComputeFgdCells(const std::vector<FgdCellKey>& keys) {
  std::vector<FgdCellKey> missing;
  for (const FgdCellKey& key : keys) {
    if (Cache().count(key) == 0) missing.push_back(key);
  }
  std::vector<CellResult> results(missing.size());
  const absl::Status ran = ForEachInParallel(
      missing.size(), kThreads,
      [&](size_t i) -> absl::Status {
        absl::StatusOr<CellResult> cell = RunFgdCell(missing[i]);
        if (!cell.ok()) return cell.status();
        results[i] = *std::move(cell);
        return absl::OkStatus();
      },
      [](size_t) {});
  if (!ran.ok()) return ran;
  for (size_t i = 0; i < missing.size(); ++i) Cache()[missing[i]] = std::move(results[i]);
  return absl::OkStatus();
}

const CellResult& FgdCell(const FgdCellKey& key) {
  const auto found = Cache().find(key);
  DRASIM_CHECK(found != Cache().end());
  return found->second;
}

std::vector<std::vector<std::string>> ReadPlainCsv(const std::string& path) {
  std::vector<std::vector<std::string>> rows;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    std::vector<std::string> fields = absl::StrSplit(line, ',');
    rows.push_back(std::move(fields));
  }
  return rows;
}

}  // namespace drasim
