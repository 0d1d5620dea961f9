// Collects the story of one job while its run is simulated.
#ifndef DRASIM_SIM_EXPLAIN_STORY_SINK_H_
#define DRASIM_SIM_EXPLAIN_STORY_SINK_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/record.h"
#include "model/time.h"
#include "sim/explain/attempt.h"
#include "sim/explain/queue_place.h"
#include "sim/explain/story.h"
#include "sim/run/simulation.h"

namespace drasim {

// Attach it between Build and Start. O(1) per record of other jobs, apart from a few looks at the
// queue.
class StorySink : public RecordSink {
 public:
  // `pod`: any of the job's; it need not have arrived yet. Records of the run behind number `last`
  // are ignored. The simulation and the explainer must outlive the sink.
  StorySink(const Simulation* sim, const AttemptExplainer* explainer, PodId pod, uint64_t last);
  // The run goes on after that many records, and its state has been loaded.
  void Resume(uint64_t records);
  // Set when the last record has come; for Simulation::set_stop.
  const std::atomic<bool>* stop() const { return &stop_; }

  void OnRecord(const Record& record, const ClusterState& cluster) override;

  bool arrived() const { return job_.valid(); }
  JobId job() const { return job_; }
  // Whether it has seen all records of the pod.
  bool from_arrival() const { return from_arrival_; }
  const std::vector<StoryEvent>& events() const { return events_; }
  // Hash over the pod's records so far, by names: equal in every run of the same scenario.
  uint64_t pod_hash() const { return pod_hash_; }

  // The state of the job at `now`, the time of the question. Call it after the last record.
  Standing MakeStanding(SimTime now) const;

 private:
  void Note(const Record& record, const ClusterState& cluster);
  StoryEvent& Add(const Record& record, StoryEvent::Kind kind);
  void AddPods(const Record& record, const ClusterState& cluster, StoryEvent::Kind kind,
               std::string text);
  void AddAttempt(const Record& record);
  void LookAtLine(const Record& record);
  std::string AdmissionText(const Record& record, const ClusterState& cluster) const;
  std::vector<StoryEvent::Where> Places(const ClusterState& cluster) const;

  const Simulation* sim_;
  const AttemptExplainer* explainer_;
  QueueViewer queues_;
  PodId pod_;
  uint64_t last_;
  uint64_t records_ = 0;
  std::atomic<bool> stop_{false};
  bool from_arrival_ = true;
  JobId job_;  // invalid: not arrived
  std::vector<StoryEvent> events_;
  uint32_t attempts_ = 0;
  bool reserved_ = false;  // the attempt under way has a place
  bool tried_ = false;     // since the job began to wait
  // The last attempt that failed since then, of a pod with claims.
  std::optional<SimTime> last_tried_;
  PodId last_tried_pod_;
  std::string last_seen_;
  std::vector<std::string> last_claims_;
  SimTime waits_since_;
  SimTime look_after_;                             // at the line, if it still has not been tried
  std::map<std::string, uint32_t> first_attempt_;  // with the same key
  uint64_t pod_hash_;
  // By node: the pod that left it last.
  absl::btree_map<uint32_t, std::pair<PodId, SimTime>> left_;
};

// The hash of pod_hash with one more record of the pod.
uint64_t HashPodRecord(uint64_t hash, const Record& record, const ClusterState& cluster,
                       const VerdictSummaryTable& summaries);
uint64_t EmptyPodHash();

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_STORY_SINK_H_
