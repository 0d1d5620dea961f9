// Inspections as a reader makes them that begins at record 0: what tests compare others with.
#ifndef DRASIM_TESTS_GUI_VIEW_INSPECT_LEDGER_H_
#define DRASIM_TESTS_GUI_VIEW_INSPECT_LEDGER_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gui/view/inspect_node.h"
#include "gui/view/inspect_pod.h"
#include "gui/view/ledger_cursor.h"
#include "model/ids.h"
#include "model/record.h"
#include "model/status_macros.h"
#include "model/time.h"
#include "sim/record/ledger_reader.h"

namespace drasim {

// Reads the rest of a ledger up to the cursor. NotFound when no pod of that name has arrived by
// then; other errors are the reader's.
inline absl::StatusOr<view::PodInspection> InspectPodFrom(LedgerReader* reader,
                                                          const std::string& name,
                                                          const view::LedgerCursor& cursor = {}) {
  view::PodInspector inspector(name);
  const auto add = [&](const Record& record) {
    inspector.Add(record, reader->cluster(), reader->summaries());
  };
  ASSIGN_OR_RETURN(const SimTime now, view::ReadUpTo(reader, cursor, add));
  if (!inspector.found()) return absl::NotFoundError(absl::StrCat("no pod '", name, "'"));
  return inspector.Inspect(now, reader->cluster(),
                           [&](NodeId node, size_t gpu) { return reader->LayoutOf(node, gpu); });
}

// The same for a node. NotFound as for RequireNode.
inline absl::StatusOr<view::NodeInspection> InspectNodeFrom(LedgerReader* reader,
                                                            const std::string& name,
                                                            const view::LedgerCursor& cursor = {}) {
  const ClusterState& cluster = reader->cluster();
  ASSIGN_OR_RETURN(const NodeId node, view::RequireNode(cluster, name, reader->path()));
  view::NodeInspector inspector(node);
  const auto add = [&](const Record& record) { inspector.Add(record, cluster); };
  ASSIGN_OR_RETURN(const SimTime now, view::ReadUpTo(reader, cursor, add));
  return inspector.Inspect(now, cluster,
                           [&](NodeId id, size_t gpu) { return reader->LayoutOf(id, gpu); });
}

}  // namespace drasim

#endif  // DRASIM_TESTS_GUI_VIEW_INSPECT_LEDGER_H_
