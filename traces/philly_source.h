// Microsoft's Philly trace ("philly"): cluster_job_log, a JSON list of jobs, as published in
// msr-fiddle/philly-traces.
//
// {status, vc, jobid, attempts [{start_time, end_time, detail [{ip, gpus []}]}], submitted_time,
// user}; other keys are not looked at.
//   * The name is jobid, the tenant is vc; the user is not kept. Status Failed: the job fails; Pass
//     and Killed: it succeeds, for a killed job holds its GPUs until then just the same.
//   * Times are naive: Pacific time, "2017-10-03 05:48:00". They are read by the rule of 2017:
//     UTC-7 from 2017-03-12 02:00 to 2017-11-05 02:00, else UTC-8. The hour that came twice on the
//     latter day is read as the first one (UTC-7), unless that puts a time ahead of the one that
//     must precede it (submission, start, end, next start): then as the second. Jobs arrive at
//     nanoseconds from 1970 (UTC) plus the offset.
//   * null, "None" and "" are missing times. A last attempt without an end was still running when
//     the log was taken: the job is a service. Without a start but with an end, nothing is known of
//     its length: the job is left out and counted.
//   * The last attempt gives the run time; earlier ones are failed attempts of their length. An
//     earlier one that lacks a time is left out and counted.
//   * GPUs are those in the details of the last attempt that has some. Attempts that differ are
//     counted. Jobs without attempts were never started, so that their GPUs are unknown; they are
//     left out and counted, as are those without any GPU. CPU and memory are not in the log.
//   * A job of more GPUs than gpus_per_pod (8; 0: no limit) is a gang of such pods and perhaps a
//     smaller last one (see job_split.h). The nodes that it got are in the details, and are not
//     copied: placing it is the simulator's business.
//   * Bad rows: values of the wrong type, no jobid, a repeated jobid, an unknown status, no or a
//     malformed submitted_time, malformed times, an end before the start, an attempt that begins
//     before the end of the one before, more than kMaxPodsPerJob GPUs. Messages name the place
//     where the job begins. Text that is not JSON is an error even when lenient.
//   * Materialised and sorted by time, equal times in the order of the file: 400 bytes a job. The
//     text itself is streamed.
#ifndef DRASIM_TRACES_PHILLY_SOURCE_H_
#define DRASIM_TRACES_PHILLY_SOURCE_H_

#include <cstdint>

#include "traces/format_source.h"

namespace drasim {

// GPUs of one pod unless FormatInput says otherwise: those of the larger kind of node.
inline constexpr int32_t kPhillyGpusPerPod = 8;

// Entry of the registry in formats.h.
SpecialFormat PhillyFormat();

}  // namespace drasim

#endif  // DRASIM_TRACES_PHILLY_SOURCE_H_
