// Alibaba's GPU cluster trace of 2020 ("pai-2020"): jobs, tasks, instances and group tags, joined.
//
// The main file is pai_job_table; the tables "task" (required), "instance" and "group" (optional)
// are pai_task_table, pai_instance_table and pai_group_tag_table. All are .csv or .csv.gz without a
// header line; the published .tar.gz files must be unpacked first. Columns as in the trace's README
// (alibaba/clusterdata, cluster-trace-gpu-v2020).
//   * A job is one gang of the pods of all its tasks: inst_num pods, each of plan_cpu (percent of a
//     core), plan_mem (GiB) and plan_gpu (percent of a GPU). Up to 100 % is a share of one GPU;
//     more is whole GPUs, rounded up, which is counted where it makes a difference.
//   * It arrives at the job's start_time, which is its submission, and runs from the earliest
//     start_time of its tasks to the job's end_time. With the table "instance" it runs as long as
//     its longest instance instead, if one has both times.
//   * The acceptable GPU model is the gpu_type of the task, that is, of the machine that it ran on.
//     With the table "group" it is the gpu_type_spec of the job (found by inst_id), that is, what
//     the user asked for: any, if it is empty. Jobs without a tag keep the task's.
//   * The tenant is the job's user, else that of the group tag. A job of status Failed fails; one
//     of status Terminated succeeds.
//   * Left out, and counted: jobs that run or wait when the trace ends, jobs without tasks or whose
//     tasks never started, tasks without instances, rows of jobs that the job table does not have.
//   * Bad rows: those of TableReader, a second job of a name, an unknown status, an end before the
//     start, an ended job without a time, a job of more than kMaxPodsPerJob pods.
//   * Times are seconds from an invented origin (the time of day is right in UTC+8).
//   * Materialised and joined in memory: about 700 bytes a job and 200 a group tag; instances take
//     none.
#ifndef DRASIM_TRACES_PAI_SOURCE_H_
#define DRASIM_TRACES_PAI_SOURCE_H_

#include "traces/format_source.h"

namespace drasim {

// Entry of the registry in formats.h.
SpecialFormat PaiFormat();

}  // namespace drasim

#endif  // DRASIM_TRACES_PAI_SOURCE_H_
