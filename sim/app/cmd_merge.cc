// drasim merge: the results of shards as those of a single run.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "model/status_macros.h"
#include "sim/app/bench_flags.h"
#include "sim/app/commands.h"
#include "sim/app/exit_codes.h"
#include "sim/app/format_flag.h"
#include "sim/bench/shard_merge.h"
#include "sim/record/data_table.h"
#include "sim/record/folder_lock.h"
#include "sim/run/run_outputs.h"

namespace drasim {

absl::Status MergeCommand(const ParsedFlags& flags) {
  const std::string dir = flags.GetOr("out", "");
  if (dir.empty()) return absl::InvalidArgumentError("merge needs --out DIR");
  ASSIGN_OR_RETURN(const std::unique_ptr<FolderLock> lock,
                   PrepareOutputDir(dir, flags.Has("force")));
  ASSIGN_OR_RETURN(const bench::MergeSummary merged, bench::MergeShards(flags.positional(), dir));
  PrintCellProblems("missing", merged.missing, flags);
  const OutputFormat format = FormatOf(flags);
  if (format == OutputFormat::kText) {
    std::printf("%zu cells of %zu shards (%zu missing) in %s\n", merged.cells, merged.shards,
                merged.missing.size(), dir.c_str());
  } else {
    DataTable done({"shards", "cells", "missing", "out"});
    done.AddRow().Int(static_cast<int64_t>(merged.shards));
    done.Int(static_cast<int64_t>(merged.cells)).Int(static_cast<int64_t>(merged.missing.size()));
    done.Text(dir);
    std::fputs(DocumentOf("merge", done, format).c_str(), stdout);
  }
  return merged.missing.empty() ? absl::OkStatus() : QuietFailure(kExitMissing);
}

}  // namespace drasim
