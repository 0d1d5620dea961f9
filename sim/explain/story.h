// The story of one job in a run, as data: every attempt with its explanation and outcome, and the
// job's place in the queue while it was not tried. story_text.h and story_json.h print it.
#ifndef DRASIM_SIM_EXPLAIN_STORY_H_
#define DRASIM_SIM_EXPLAIN_STORY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/job_table.h"
#include "model/time.h"
#include "sim/explain/attempt.h"
#include "sim/explain/queue_place.h"

namespace drasim {

struct StoryEvent {
  enum class Kind : uint8_t {
    kArrived,
    kInLine,     // was not tried in this period: `place`
    kAttempt,    // one failed: `why`
    kSameAgain,  // attempts that failed for the same reasons as `same_as`; amounts in `ranges`
    kPlaced,     // nodes were found; Bind, or a step before it, is under way
    kBound,
    kTakenBack,   // a later step failed or another job needed the place
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
  // The range of one rejection over the attempts of kSameAgain.
  struct Range {
    Rejection of;  // of the first of them
    uint32_t least_nodes = 0, most_nodes = 0;
    int64_t least_missing = 0, most_missing = 0;
  };

  SimTime time;
  SimTime until;  // the end, if several records are one event
  Kind kind = Kind::kArrived;
  std::string text;          // further details, in words
  std::vector<Where> where;  // the job's pods this is about
  uint32_t attempt = 0;      // kAttempt, kSameAgain, kPlaced, kBound: its number; 0: none
  uint32_t last_attempt = 0;
  AttemptExplanation why;  // kAttempt
  uint32_t same_as = 0;    // kSameAgain
  bool identical = false;  // kSameAgain: equal in every number
  std::vector<Range> ranges;
  std::string lacks;  // kSameAgain: of the first of them, in devices
  QueuePlace place;   // kInLine: at the start; `why` explains the head of the line
  std::string head;
  size_t last_place = 0, last_length = 0;
};

// The state of the job at the end of the story.
struct Standing {
  SimTime time;
  JobState state = JobState::kWaiting;
  SimTime since;  // when it began to wait, or to run, or ended
  uint32_t attempts_failed = 0;
  std::vector<StoryEvent::Where> where;  // while it holds something
  std::optional<SimTime> ends;           // of the current run
  // While it waits:
  QueuePlace place;
  std::string head;  // of the line, explained by `head_why`
  std::optional<AttemptExplanation> head_why;
  std::optional<AttemptExplanation> why;  // absent: its pods would fit
  std::vector<AttemptExplainer::Prospect> prospects;
  // In the API server's state.
  std::vector<std::string> claims;
  // For a waiting job with claims: the last attempt, in the scheduler's words, and whether the
  // claims have changed on the API server since.
  std::optional<SimTime> last_tried;
  std::string last_seen;
  bool claims_changed = false;
};

struct Story {
  // The run.
  std::string ledger;
  bool partial = false;  // it was killed; the story ends with its last record
  std::string policy, mode, queue, front_end;
  // The pod and its job.
  std::string pod;
  std::string job;
  uint32_t pods = 1;  // of the job
  std::string tenant;
  int32_t priority = 0;
  std::string wants;  // the request of each pod, in words; if they differ, of the pod in question
  SimTime arrival;
  bool arrived = true;  // by the time in question; if not, everything below is empty
  bool brief = false;
  std::vector<StoryEvent> events;
  Standing standing;
  std::vector<std::string> warnings;  // a line each
};

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_STORY_H_
