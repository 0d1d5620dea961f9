#include "gui/view/claim_table.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gui/view/wait_text.h"
#include "model/check.h"
#include "model/device_grant.h"
#include "model/ids.h"
#include "model/mig_table.h"
#include "sim/record/pod_log.h"

namespace drasim::view {
namespace {

bool CanHave(const ClusterState& cluster, NodeId node, const DeviceGrant& grant) {
  if (grant.device >= cluster.node(node).gpu_count) return false;
  if (grant.placement == kNoPlacement) return true;
  const MigTable* const table = cluster.mig_table(node, grant.device);
  return table != nullptr && grant.placement < table->placements().size();
}

}  // namespace

std::string ClaimDevicesText(const ClusterState& cluster, const LiveClaim& claim) {
  if (!claim.devices.empty()) return claim.devices;
  if (!claim.node.valid()) return "";
  DeviceGrants sound;
  for (const DeviceGrant& grant : claim.grants) {
    if (CanHave(cluster, claim.node, grant)) sound.push_back(grant);
  }
  std::string text;
  AppendGrants(cluster, claim.node, sound, &text);
  return text;
}

absl::string_view ClaimModeName(ClaimMode mode) {
  switch (mode) {
    case ClaimMode::kWaitForFirstConsumer:
      return "WaitForFirstConsumer";
    case ClaimMode::kImmediate:
      return "Immediate";
    case ClaimMode::kStructured:
      return "structured";
  }
  DRASIM_UNREACHABLE("an unknown mode of a claim");
}

ClaimTable::ClaimTable(const LiveClaims& claims, const ClusterState& cluster, SimTime now) {
  rows_.reserve(claims.claims().size());
  for (const auto& [uid, claim] : claims.claims()) {
    ClaimTableRow row;
    row.name = claim.identity.name;
    row.pod = claim.identity.pod;
    row.class_name = claim.identity.class_name;
    row.mode = std::string(ClaimModeName(claim.identity.mode));
    row.state = claim.state;
    const NodeId node = claim.allocated ? claim.node : claim.selected;
    if (node.valid()) row.node = cluster.node_spec(node).name;
    row.devices = ClaimDevicesText(cluster, claim);
    // A damaged ledger may be ahead of its own records.
    if (claim.since < now) row.in_state = now - claim.since;
    row.asked = claim.tally(ClaimChangeKind::kDriverAsked).times;
    row.message = claim.message;
    ++by_state_[static_cast<size_t>(claim.state)];
    rows_.push_back(std::move(row));
  }
}

absl::Span<const TableColumn> ClaimTable::columns() const {
  using Kind = TableColumn::Kind;
  static const auto* const columns =
      new std::array<TableColumn, kColumns>{{{"claim", Kind::kText},
                                             {"pod", Kind::kText},
                                             {"class", Kind::kText},
                                             {"mode", Kind::kText},
                                             {"state", Kind::kText},
                                             {"node", Kind::kText},
                                             {"devices", Kind::kText},
                                             {"in state", Kind::kNumber},
                                             {"times asked", Kind::kNumber},
                                             {"last message", Kind::kText}}};
  return *columns;
}

int64_t ClaimTable::Number(size_t row, size_t column) const {
  switch (column) {
    case kInState:
      return rows_[row].in_state.ns();
    case kAsked:
      return rows_[row].asked;
    default:
      DRASIM_UNREACHABLE("a column of texts has no numbers");
  }
}

absl::string_view ClaimTable::Text(size_t row, size_t column) const {
  const ClaimTableRow& claim = rows_[row];
  switch (column) {
    case kName:
      return claim.name;
    case kPod:
      return claim.pod;
    case kClass:
      return claim.class_name;
    case kMode:
      return claim.mode;
    case kState:
      return ClaimStateName(claim.state);
    case kNode:
      return claim.node;
    case kDevices:
      return claim.devices;
    case kMessage:
      return claim.message;
    default:
      DRASIM_UNREACHABLE("a column of numbers has no texts");
  }
}

std::string ClaimTable::Shown(size_t row, size_t column) const {
  if (column == kInState) return WaitText(rows_[row].in_state);
  return Exact(row, column);
}

std::string ClaimTable::Exact(size_t row, size_t column) const {
  if (column == kInState) {
    std::string text;
    AppendSeconds(SimTime(rows_[row].in_state.ns()), &text);
    return text;
  }
  if (column == kAsked) return absl::StrCat(rows_[row].asked);
  return std::string(Text(row, column));
}

}  // namespace drasim::view
