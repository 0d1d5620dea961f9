// The live claims of a run with DRA at one moment, as a table.
#ifndef DRASIM_GUI_VIEW_CLAIM_TABLE_H_
#define DRASIM_GUI_VIEW_CLAIM_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gui/view/table_model.h"
#include "model/cluster_state.h"
#include "model/time.h"
#include "sim/record/live_claims.h"

namespace drasim::view {

struct ClaimTableRow {
  std::string name;        // "namespace/name"
  std::string pod;         // its owner; empty for a shared claim
  std::string class_name;  // ResourceClass; DeviceClasses
  std::string mode;        // "Immediate", "WaitForFirstConsumer", "structured"
  ClaimState state = ClaimState::kCreated;
  std::string node;      // of the allocation, else the selected one; may be empty
  std::string devices;   // "0:3g.40gb@4", "0;1"; "gpu-0, gpu-1"; empty while it has none
  SimDuration in_state;  // since it entered the state
  uint32_t asked = 0;    // times that its driver was asked about potential nodes
  std::string message;   // last words of a driver or kubelet
};

// Independent of what it was made from.
class ClaimTable : public TableSource {
 public:
  enum Column : size_t {
    kName,
    kPod,
    kClass,
    kMode,
    kState,
    kNode,
    kDevices,
    kInState,
    kAsked,
    kMessage,
    kColumns,
  };

  ClaimTable() = default;
  // Rows in order of creation. `cluster` has the nodes. O(claims).
  ClaimTable(const LiveClaims& claims, const ClusterState& cluster, SimTime now);

  const ClaimTableRow& row(size_t claim) const { return rows_[claim]; }
  // Claims in each state, by ClaimState.
  absl::Span<const int64_t> by_state() const { return by_state_; }

  // TableSource.
  absl::Span<const TableColumn> columns() const override;
  size_t rows() const override { return rows_.size(); }
  int64_t Number(size_t row, size_t column) const override;
  absl::string_view Text(size_t row, size_t column) const override;
  std::string Shown(size_t row, size_t column) const override;
  std::string Exact(size_t row, size_t column) const override;

 private:
  std::vector<ClaimTableRow> rows_;
  std::vector<int64_t> by_state_ = std::vector<int64_t>(kClaimStates);
};

// allocationMode of classic DRA: "Immediate", "WaitForFirstConsumer"; else "structured".
absl::string_view ClaimModeName(ClaimMode mode);

// The names of a structured claim's devices: "gpu-0, gpu-1". Of others "0:3g.40gb@4", "0;1", as
// HeldDevicesText; empty without a node or devices. Parts that the node cannot have, which only a
// damaged ledger names, are left out.
std::string ClaimDevicesText(const ClusterState& cluster, const LiveClaim& claim);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_CLAIM_TABLE_H_
