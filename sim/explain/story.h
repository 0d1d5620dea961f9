// The life of one job in a run, as it is told by `drasim explain`: every attempt with its
// explanation, what came of it, and how the job stood in line while it was not tried.
#ifndef DRASIM_SIM_EXPLAIN_STORY_H_
#define DRASIM_SIM_EXPLAIN_STORY_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/types/optional.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "model/record.h"
#include "sim/explain/attempt.h"
#include "sim/explain/queue_place.h"

namespace drasim {

struct StoryEvent {
  enum class Kind : uint8_t {
    kArrived,
    kInLine,     // was not tried meanwhile: `place`
    kAttempt,    // one failed: `why`
    kSameAgain,  // attempts that failed for the reasons of an earlier one: `same_as`, `ranges`
    kPlaced,     // nodes were found; Bind, or what comes before it, is under way
    kBound,
    kTakenBack,   // a later step failed or somebody else needed the place
    kAdmitted,    // a node has given the pod devices
    kTurnedAway,  // a node has refused the pod
    kStarted,     // its work begins (only where that is later than kBound)
    kEvicted,
    kFinished,
    kFailed,
    kDeleted,
    kDropped,
  };
  struct Where {
    std::string pod;
    std::string node;
    std::string devices;
  };
  // Of one rejection, over the attempts of kSameAgain.
  struct Range {
    Rejection of;  // of the first of them
    uint32_t least_nodes = 0, most_nodes = 0;
    int64_t least_missing = 0, most_missing = 0;
  };

  SimTime time;
  SimTime until;  // of the last, where several are one event
  Kind kind = Kind::kArrived;
  std::string text;          // what else there is to say
  std::vector<Where> where;  // the job's pods this is about
  uint32_t attempt = 0;      // kAttempt, kSameAgain, kPlaced, kBound: its number; 0: none
  uint32_t last_attempt = 0;
  Explanation why;         // kAttempt
  uint32_t same_as = 0;    // kSameAgain
  bool identical = false;  // kSameAgain: in every number
  std::vector<Range> ranges;
  QueuePlace place;  // kInLine: at first; the head's troubles are in `why`
  std::string head;
  size_t last_place = 0, last_length = 0;
};

// Where the job stands at the end of what is told.
struct Standing {
  SimTime time;
  JobState state = JobState::kWaiting;
  SimTime since;  // when it began to wait, or to run, or ended
  uint32_t attempts_failed = 0;
  std::vector<StoryEvent::Where> where;  // while it holds something
  absl::optional<SimTime> ends;          // of the run under way
  // While it waits:
  QueuePlace place;
  std::string head;  // of the line it stands in, with its troubles
  absl::optional<Explanation> head_why;
  absl::optional<Explanation> why;  // nothing: its pods would fit
  std::vector<Explainer::Prospect> prospects;
  // As the API server has them.
  std::vector<std::string> claims;
  // While it waits, of a job with claims: the last attempt, in the words of the scheduler, and
  // whether the API server has had news of the claims since.
  absl::optional<SimTime> last_tried;
  std::string last_seen;
  bool claims_changed = false;
};

// Collects the story of one job. Attach it between Build and Start. The cost per record of other
// jobs is O(1), but for the looks at the line, of which there are few.
class StorySink : public RecordSink {
 public:
  // `pod`: any of the job's; it need not have arrived yet. Records of the run behind number `last`
  // are not looked at. Both must outlive the sink.
  StorySink(const Simulation* sim, const Explainer* explainer, PodId pod, uint64_t last);
  // The run goes on behind that many records, and its state has been loaded.
  void Resume(uint64_t records);
  // Set when the last record has come; for Simulation::set_stop.
  const std::atomic<bool>* stop() const { return &stop_; }

  void OnRecord(const Record& record, const ClusterState& cluster) override;

  bool arrived() const { return job_.valid(); }
  JobId job() const { return job_; }
  // Whether it has seen all records of the pod.
  bool from_arrival() const { return from_arrival_; }
  const std::vector<StoryEvent>& events() const { return events_; }
  // Hash over the records of the one pod so far, by names; what another run of the same must give.
  uint64_t pod_hash() const { return pod_hash_; }

  // After the last record; `now` is the time that is asked about.
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
  const Explainer* explainer_;
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
  absl::optional<SimTime> last_tried_;
  PodId last_tried_pod_;
  std::string last_seen_;
  std::vector<std::string> last_claims_;
  SimTime waits_since_;
  SimTime look_after_;                             // at the line, if it still has not been tried
  std::map<std::string, uint32_t> first_attempt_;  // with the same key
  uint64_t pod_hash_;
  // By node: who left it last.
  absl::btree_map<uint32_t, std::pair<PodId, SimTime>> left_;
};

// Adds a record to a hash over the records of a pod, as pod_hash has it.
uint64_t HashPodRecord(uint64_t hash, const Record& record, const ClusterState& cluster,
                       const VerdictSummaryTable& summaries);
uint64_t EmptyPodHash();

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_STORY_H_
