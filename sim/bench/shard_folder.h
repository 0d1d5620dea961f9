// The files that identify a shard's folder of results: shard.yaml says which shard it is, plan.csv
// lists the cells of all shards with their inputs.
//
//   RETURN_IF_ERROR(WriteShard(dir, {"sweep", *ParseShard("2/8", "--shard"), program}, plan));
//
//   ASSIGN_OR_RETURN(const std::vector<ShardFolder> shards, ReadShards({"s1", "s2"}));
#ifndef DRASIM_SIM_BENCH_SHARD_FOLDER_H_
#define DRASIM_SIM_BENCH_SHARD_FOLDER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/bench/shard.h"

namespace drasim::bench {

inline constexpr char kShardFile[] = "shard.yaml";
inline constexpr char kPlanFile[] = "plan.csv";
inline constexpr char kBenchRunCommand[] = "bench run";
inline constexpr char kSweepCommand[] = "sweep";

struct ShardNote {
  std::string command;  // kBenchRunCommand or kSweepCommand
  Shard shard;
  std::string program;  // identifies the program that ran it
};

struct PlannedCell {
  std::string name;
  std::string inputs;  // identifies what goes in

  bool operator==(const PlannedCell&) const = default;
};

struct ShardFolder {
  std::string dir;
  ShardNote note;
  std::vector<PlannedCell> plan;  // of all shards, in the order of the results
};

// Writes both files, before any cell runs, so that results in the folder always have them.
absl::Status WriteShard(const std::string& dir, const ShardNote& note,
                        const std::vector<PlannedCell>& plan);

// Removes both files: the folder gets whole results.
void RemoveShard(const std::string& dir);

// The shards of one run in the order of their numbers. InvalidArgument, naming the folders, unless
// they belong together (command, program, number of shards, cells, inputs), each is there, and none
// twice. Whether their results are there, too, is for the caller to check.
absl::StatusOr<std::vector<ShardFolder>> ReadShards(const std::vector<std::string>& dirs);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_SHARD_FOLDER_H_
