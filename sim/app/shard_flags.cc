#include "sim/app/shard_flags.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/status_macros.h"
#include "sim/app/emitted_jobs.h"
#include "sim/compare/cell.h"
#include "sim/compare/parallel.h"

namespace drasim {
namespace {

// Flags that the jobs set themselves, or that are of no use to them.
bool IsForJobs(const FlagSpec& flag) {
  for (const absl::string_view own :
       {"emit", "shards", "shard", "out", "jobs", "quiet", "format", "force"}) {
    if (flag.name == own) return false;
  }
  return true;
}

absl::StatusOr<ShardedJob> JobOf(absl::string_view command, const std::string& name,
                                 const std::string& result_file, const ParsedFlags& flags) {
  ShardedJob job;
  job.name = name;
  job.result_file = result_file;
  if (flags.Has("shard"))
    return absl::InvalidArgumentError("--emit takes --shards N, the number of shards, not --shard");
  const std::string shards = flags.GetOr("shards", "");
  if (!absl::SimpleAtoi(shards, &job.shards) || job.shards < 1 || job.shards > bench::kMaxShards) {
    return absl::InvalidArgumentError(absl::StrCat("--shards: found '", shards,
                                                   "', expected a number from 1 to ",
                                                   bench::kMaxShards, " with --emit"));
  }
  job.out = flags.GetOr("out", "");
  while (job.out.size() > 1 && job.out.back() == '/') job.out.pop_back();
  if (job.out.empty()) return absl::InvalidArgumentError("--emit needs --out DIR");
  ASSIGN_OR_RETURN(job.cpus, ParseJobs(flags.GetOr("jobs", "1")));
  std::error_code error;
  job.program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  job.words = absl::StrSplit(command, ' ');
  for (const GivenFlag& given : flags.given()) {
    if (!IsForJobs(given.spec)) continue;
    job.words.push_back(absl::StrCat("--", given.spec.name));
    if (!given.spec.value.empty()) job.words.back() += "=" + given.value;
  }
  job.words.insert(job.words.end(), flags.positional().begin(), flags.positional().end());
  return job;
}

}  // namespace

std::vector<FlagSpec> WithShardFlags(std::vector<FlagSpec> own) {
  own.push_back(
      {"shard", "", "K/N", "only part K of N, such as 2/8; `drasim merge` joins the parts"});
  own.push_back({"emit", "", "ENGINE", "print jobs that run the shards and merge them into DIR",
                 "slurm,kubernetes"});
  own.push_back({"shards", "", "N", "with --emit: the number of shards"});
  return own;
}

absl::StatusOr<std::optional<bench::Shard>> ShardFrom(const ParsedFlags& flags) {
  if (flags.Has("shards")) return absl::InvalidArgumentError("--shards needs --emit ENGINE");
  const std::optional<std::string> text = flags.Get("shard");
  if (!text.has_value()) return std::optional<bench::Shard>();
  ASSIGN_OR_RETURN(const bench::Shard shard, bench::ParseShard(*text, "--shard"));
  return std::optional<bench::Shard>(shard);
}

absl::Status EmitJobs(absl::string_view command, const std::string& name,
                      const std::string& result_file, const ParsedFlags& flags) {
  const std::string engine = flags.GetOr("emit", "");
  if (engine != "slurm" && engine != "kubernetes") {
    return absl::InvalidArgumentError(
        absl::StrCat("--emit: found '", engine, "', expected slurm or kubernetes"));
  }
  ASSIGN_OR_RETURN(const ShardedJob job, JobOf(command, name, result_file, flags));
  const std::string text = engine == "slurm" ? SlurmScript(job) : KubernetesManifests(job);
  std::fputs(text.c_str(), stdout);
  return absl::OkStatus();
}

}  // namespace drasim
