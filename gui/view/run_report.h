// The contents of a report on a run: figures, tables, series and maps, read from its ledger.
#ifndef DRASIM_GUI_VIEW_RUN_REPORT_H_
#define DRASIM_GUI_VIEW_RUN_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gui/view/claim_table.h"
#include "gui/view/ledger_cursor.h"
#include "gui/view/map_model.h"
#include "gui/view/node_table.h"
#include "gui/view/pod_table.h"
#include "gui/view/pyramid.h"
#include "gui/view/run_figures.h"
#include "model/time.h"
#include "sim/record/ledger_reader.h"

namespace drasim::view {

// A cluster at one moment.
struct ReportMap {
  std::string title;  // "At the end, 1d15h", "At 20h", "At 7h, when most was allocated"
  SimTime time;
  ClusterMapData data;
  NodeTable nodes;
  ClaimTable claims;  // at the end of that instant; empty without classic DRA
};

struct ReportSeries {
  std::string name;
  Pyramid data;
};

struct ReportEvent {
  SimTime time;
  std::string text;  // "node-000017 fails or leaves"
};
inline constexpr size_t kReportedEvents = 200;

struct RunReport {
  std::string path;
  std::string name;  // of the scenario, or the path without one
  std::string scenario_yaml;
  std::string drasim_version;  // that wrote the ledger
  bool partial = false;
  uint64_t records = 0;
  uint64_t fingerprint = 0;  // zero when partial
  PodTable pods;             // at the end
  RunFigures figures;
  // Series over time. In a run without virtual time (a fill) the clock is the number of arrivals, a
  // nanosecond each, and `load` says how much had been requested by then.
  bool by_load = false;
  SimTime series_end;
  Pyramid load;           // requested GPUs, % of the cluster's; empty unless by_load
  Pyramid allocated;      // GPUs, % of those there; empty without GPUs
  Pyramid waiting;        // pods
  Pyramid fragmentation;  // % of memory slices, or of idle GPUs; empty if neither applies
  std::vector<ReportSeries> verdicts;  // `waiting` by last verdict; empty if by_load
  std::vector<ReportSeries> calls;     // of the API server per second, by client; empty without one
  bool slices = false;                 // `fragmentation` is about slices that no instance can cover
  std::vector<ReportEvent> events;     // the first changes of nodes, at most kReportedEvents
  int64_t node_changes = 0;            // all of them
  std::vector<ReportMap> maps;
};

// Opens the same ledger from its beginning at each call.
using LedgerOpener = std::function<absl::StatusOr<std::unique_ptr<LedgerReader>>()>;

// Reads a ledger, and again for maps of earlier moments and for FGD's fragmentation, whose typical
// pods are those of the whole run; they cover the scenario's scheduler.typical.popularity_percent.
// `at`: the moments of the maps; those after the end show the end. Without any, the map shows the
// end, or, if nothing is allocated then, the moment of the largest allocation. The page of a
// partial ledger may lack claims, verdicts and calls, if its last frames are torn. Errors are the
// reader's. O(records x devices of a node + pods log pods).
absl::StatusOr<RunReport> ReadRunReport(const LedgerOpener& open, const std::vector<SimTime>& at);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_RUN_REPORT_H_
