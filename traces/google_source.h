// The task and machine events of Google's cluster trace of 2011 ("google-2011").
//
// Tasks: the table task_events of clusterdata-2011-2 ("Google cluster-usage traces: format +
// schema"); no header line, lines that begin with "#" are skipped. The parts of the table may be
// given as one file: gzip files can be put one behind the other.
//   * Every task is a job of one pod, called "JOB-INDEX"; its tenant is the user's name.
//   * Requests and capacities are fractions of the largest machine, see kGoogleCpuMilli. A missing
//     request is 0 and counted. Disk space and the scheduling class are not read.
//   * SUBMIT (0) creates a task with the request and priority of that row; later rows' values are
//     ignored. SCHEDULE (1) starts an attempt; EVICT (2), FAIL (3), FINISH (4), KILL (5) and
//     LOST (6) end it. UPDATE_PENDING (7) and UPDATE_RUNNING (8) are only counted.
//   * The last attempt gives the run time; a FAIL at its end makes the job fail. Earlier attempts
//     that FAIL become failed attempts. Those evicted or lost are left out: that was the
//     scheduler's doing, not the job's.
//   * FINISH and KILL end a task for good. A later SUBMIT of it is a new job, called
//     "JOB-INDEX.2" and so on.
//   * A task that ends before it was scheduled is deleted then. One that waits or runs at the end
//     of the table is a service.
//   * Events out of place (an end without a beginning, a second SUBMIT) are counted and ignored. A
//     SCHEDULE without a SUBMIT is counted and stands for both.
//   * With the different-machine constraint, at most one task of the job is on a node.
//   * Time 0 means "before the trace began"; the offset never moves it below 0, so that with -600 s
//     the trace begins at 0. Rows at 2^63-1, "after the trace ended", are counted and ignored.
//   * Bad rows: those of TableReader, events ahead of the one before, unknown event types.
//   * Materialised: 100 to 200 bytes a task.
#ifndef DRASIM_TRACES_GOOGLE_SOURCE_H_
#define DRASIM_TRACES_GOOGLE_SOURCE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "traces/format_source.h"

namespace drasim {

// The fraction 1.0 of google-2011 as amounts: 100 cores and 100 GiB. The true sizes are not public.
// Requests and capacities only need one scale, on which the fractions of the trace are whole base
// units.
inline constexpr int64_t kGoogleCpuMilli = 100'000;
inline constexpr int64_t kGoogleMemoryBytes = int64_t{100} << 30;

// Reads `input.path` as the table machine_events; shapes and tables of `input` are not used.
// Machines added at time 0, and those whose first event is not to be added, are there from the
// start; the others are absent until their change. A machine keeps the first capacity it is given;
// others are counted. One without any is left out and counted. Times and bad rows as those of the
// tasks.
absl::StatusOr<NodeList> ReadGoogleMachines(const FormatInput& input);

// Entry of the registry in formats.h.
SpecialFormat GoogleTaskEventsFormat();

}  // namespace drasim

#endif  // DRASIM_TRACES_GOOGLE_SOURCE_H_
