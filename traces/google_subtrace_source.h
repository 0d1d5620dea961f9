// Task lists with run times, made from traces of Google's cells ("google-subtrace"), as the
// simulators of Sparrow, Eagle and Megha read them.
//
// One job per line, "arrival n_tasks mean_duration d1 .. dn", separated by blanks, in seconds.
//   * Every task is a job of its own: one pod of one core called "job-LINE-I" (LINE from 1, I from
//     0), which arrives with its line and runs for its d. The mean must be a number and is not
//     used.
//   * Bad lines: too few fields, numbers that are none, another number of tasks than of run times,
//     an arrival ahead of that of the line before, a line of more than 64 MiB.
//   * Streams: memory grows with the longest line only.
#ifndef DRASIM_TRACES_GOOGLE_SUBTRACE_SOURCE_H_
#define DRASIM_TRACES_GOOGLE_SUBTRACE_SOURCE_H_

#include "traces/format_source.h"

namespace drasim {

// Entry of the registry in formats.h.
SpecialFormat GoogleSubtraceFormat();

}  // namespace drasim

#endif  // DRASIM_TRACES_GOOGLE_SUBTRACE_SOURCE_H_
