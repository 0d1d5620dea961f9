// The jobs and tenants of the pods of a ledger, in columns.
#ifndef DRASIM_SIM_RECORD_POD_OWNERS_H_
#define DRASIM_SIM_RECORD_POD_OWNERS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "model/ids.h"

namespace drasim {

// The owners of a reader's pods, by row of its cluster.
class PodOwners {
 public:
  // The next pod; an invalid job and no tenant if nothing is known of it. Amortised O(1).
  void Add(JobId job, absl::string_view tenant);
  // Forgets the pods.
  void Clear();

  size_t size() const { return jobs_.size(); }
  // Invalid, and "", for a pod that was not added.
  JobId job(PodId pod) const { return pod.value() < size() ? jobs_[pod.value()] : JobId(); }
  // Valid as long as the object.
  absl::string_view tenant(PodId pod) const {
    return pod.value() < size() ? absl::string_view(names_[tenants_[pod.value()]]) : "";
  }

 private:
  std::vector<JobId> jobs_;
  std::vector<uint32_t> tenants_;  // by pod: index in names_
  std::deque<std::string> names_;  // which do not move
  absl::flat_hash_map<absl::string_view, uint32_t> index_;
};

// TenantRows: rows of tenants in a list that starts empty in each frame.
class TenantRows {
 public:
  // The tenant's row, and whether it is a new one: the number of rows before. Amortised O(1).
  std::pair<uint32_t, bool> RowOf(TenantId tenant);
  void Clear();

 private:
  std::vector<uint32_t> row_;   // by TenantId: 1 + row; 0: none
  std::vector<TenantId> used_;  // by row
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_POD_OWNERS_H_
