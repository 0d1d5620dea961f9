// Files that have other engines run the shards of a command: Slurm's job arrays, Indexed Jobs of
// Kubernetes. In both a second job merges the shards.
#ifndef DRASIM_SIM_APP_EMITTED_JOBS_H_
#define DRASIM_SIM_APP_EMITTED_JOBS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace drasim {

struct ShardedJob {
  std::string name;                // such as "core"
  std::string program;             // path of drasim; on Kubernetes the image's is used
  std::vector<std::string> words;  // the command without --shard, --out and --jobs
  std::string out;                 // of the merged results; the shards are in OUT.shards/K
  std::string result_file;         // that a shard leaves last, such as "cells.csv"
  uint32_t shards = 1;
  size_t cpus = 1;  // of a shard
};

// A word as sh takes it, in quotes if need be.
std::string ShellWord(absl::string_view word);

// A script for sh that submits a job array and a merge that depends on it. Shards whose node dies
// are requeued, and go on where they were. The merge begins when all have ended in any way, since
// it says itself what is missing.
std::string SlurmScript(const ShardedJob& job);

// An Indexed Job, and a Job whose container waits for all shards and merges them. The image
// `drasim:VERSION` and the volume claim `drasim` are for users to provide.
std::string KubernetesManifests(const ShardedJob& job);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_EMITTED_JOBS_H_
