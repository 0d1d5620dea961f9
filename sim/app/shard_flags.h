// The flags --shard, --emit and --shards of commands whose work is spread over several machines.
#ifndef DRASIM_SIM_APP_SHARD_FLAGS_H_
#define DRASIM_SIM_APP_SHARD_FLAGS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/app/flags.h"
#include "sim/bench/shard.h"

namespace drasim {

// `own` with the three flags behind.
std::vector<FlagSpec> WithShardFlags(std::vector<FlagSpec> own);

// The value of --shard; nothing without it. InvalidArgument for anything else, and for --shards
// without --emit.
absl::StatusOr<std::optional<bench::Shard>> ShardFrom(const ParsedFlags& flags);

// Prints the files for the engine that --emit names, whose jobs run `command` ("bench run") with
// the other flags and arguments as given. `name` is for people; `result_file` is what a run leaves
// last in its folder. Reads no input. InvalidArgument for an unknown engine, without --shards or
// --out, and with --shard.
absl::Status EmitJobs(absl::string_view command, const std::string& name,
                      const std::string& result_file, const ParsedFlags& flags);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_SHARD_FLAGS_H_
