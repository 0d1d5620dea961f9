// Everything about a run that does not depend on the cursor: read once, then shared and immutable.
#ifndef DRASIM_GUI_SESSION_RUN_OVERVIEW_H_
#define DRASIM_GUI_SESSION_RUN_OVERVIEW_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gui/view/pod_table.h"
#include "gui/view/pyramid.h"
#include "gui/view/timeline.h"
#include "model/time.h"

namespace drasim::view {
class PodArchive;
}

namespace drasim::gui {

// A change of a node, for the scrubber.
struct RunEvent {
  view::TimeTarget at;
  std::string node;
  std::string text;    // "fails or leaves", "cordoned", "new MIG layout"
  bool lasts = false;  // the node takes no pods until a later event
};

// A metric over the clock of the run.
struct MetricSeries {
  std::string name;  // kSeriesNames (sim/record/ledger_series.h), or "wait_p50", "wait_p95",
                     // or "calls:CLIENT": calls of the API server so far,
                     // or FragmentationPass::kName, which comes a while after the others
  view::Pyramid data;
};

// The clock of a run is its virtual time. A fill has none: there the clock counts records, a
// nanosecond each, and plots are drawn over the arrived load.
struct RunOverview {
  std::string path;           // as opened
  std::string name;           // of the scenario, or the path without one
  std::string scenario_yaml;  // resolved
  // The same without the jobs of a long one (view::ScenarioOutline): short enough to be parsed
  // between two frames.
  std::string scenario_outline;
  std::string policy;          // in a few words: "fgd", "dra-classic:first-fit"
  std::string drasim_version;  // that wrote the ledger
  bool partial = false;        // the ledger breaks off
  bool by_record = false;      // the clock counts records
  uint64_t records = 0;
  uint64_t file_bytes = 0;
  uint64_t fingerprint = 0;  // zero when partial
  SimTime end;               // of the clock
  int64_t nodes = 0;
  int64_t gpus = 0;
  int64_t pods = 0;                     // that arrived
  bool slices = false;                  // some GPU can be partitioned by MIG
  std::vector<std::string> label_keys;  // of the nodes, sorted
  std::vector<MetricSeries> series;
  view::Pyramid load;  // arrived GPU requests, % of the capacity; empty without GPUs
  std::vector<RunEvent> events;
  std::shared_ptr<const view::PodArchive> ended;

  // Null if the ledger has no such metric.
  const view::Pyramid* Find(absl::string_view metric) const;
  // An instant of the clock for people: "20h00m00.000s", "record 12,345".
  std::string TimeText(SimTime at) const;
  // view::CheckValue by the outline. A key of a job that the outline lacks passes: the run with the
  // change tells.
  absl::Status CheckChange(absl::string_view key, absl::string_view value) const;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_SESSION_RUN_OVERVIEW_H_
