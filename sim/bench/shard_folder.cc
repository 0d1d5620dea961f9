#include "sim/bench/shard_folder.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/proto/shard.pb.h"
#include "model/status_macros.h"
#include "model/text/yaml_proto.h"
#include "model/text/yaml_writer.h"
#include "sim/bench/csv_rows.h"
#include "sim/record/atomic_file.h"
#include "traces/byte_source.h"

namespace drasim::bench {
namespace {

namespace fs = std::filesystem;

constexpr char kPlanHeader[] = "cell,inputs";
constexpr size_t kMaxNoteBytes = 1u << 20;
// Most missing shards that an error names.
constexpr size_t kNamedShards = 10;

std::string FileIn(const std::string& dir, const char* name) {
  return absl::StrCat(dir, "/", name);
}

std::string PlanCsv(const std::vector<PlannedCell>& plan) {
  std::string text = absl::StrCat(kPlanHeader, "\n");
  for (const PlannedCell& cell : plan)
    absl::StrAppend(&text, CsvRow{{cell.name, cell.inputs}}.Text(), "\n");
  return text;
}

absl::StatusOr<std::vector<PlannedCell>> ReadPlan(const std::string& path) {
  ASSIGN_OR_RETURN(const std::vector<CsvRow> rows, ReadCsvRows(path));
  if (rows[0].Text() != kPlanHeader)
    return absl::InvalidArgumentError(absl::StrCat(path, ":1:1: expected ", kPlanHeader));
  std::vector<PlannedCell> plan;
  for (size_t i = 1; i < rows.size(); ++i) plan.push_back({rows[i].fields[0], rows[i].fields[1]});
  return plan;
}

absl::StatusOr<ShardFolder> ReadShard(const std::string& dir) {
  const std::string file = FileIn(dir, kShardFile);
  std::error_code error;
  if (!fs::exists(file, error)) {
    return absl::InvalidArgumentError(absl::StrCat(dir, ": found no ", kShardFile,
                                                   ", expected the folder of a run with --shard"));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(file));
  ASSIGN_OR_RETURN(const std::string text, ReadAll(*source, kMaxNoteBytes));
  proto::ShardNote written;
  RETURN_IF_ERROR(MergeYaml(text, file, &written));
  ShardFolder folder;
  folder.dir = dir;
  ASSIGN_OR_RETURN(folder.note.shard,
                   ParseShard(absl::StrCat(written.shard(), "/", written.shards()), file));
  folder.note.command = written.command();
  folder.note.program = written.program();
  if (folder.note.command != kBenchRunCommand && folder.note.command != kSweepCommand) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": command: found '", written.command(),
                                                   "', expected ", kBenchRunCommand, " or ",
                                                   kSweepCommand));
  }
  ASSIGN_OR_RETURN(folder.plan, ReadPlan(FileIn(dir, kPlanFile)));
  return folder;
}

// The first difference of two plans, which exists.
absl::Status PlansDiffer(const ShardFolder& first, const ShardFolder& other) {
  const std::string place = FileIn(other.dir, kPlanFile);
  const size_t common = std::min(first.plan.size(), other.plan.size());
  for (size_t i = 0; i < common; ++i) {
    const PlannedCell& expected = first.plan[i];
    const PlannedCell& found = other.plan[i];
    if (found == expected) continue;
    const bool same_cell = found.name == expected.name;
    return absl::InvalidArgumentError(absl::StrCat(
        place, ":", i + 2, ":1: found cell ", found.name,
        same_cell
            ? absl::StrCat(" with other inputs (", found.inputs, "), expected ", expected.inputs)
            : absl::StrCat(", expected ", expected.name),
        ", as in ", first.dir, "; the shards ran other scenarios, files or settings"));
  }
  return absl::InvalidArgumentError(absl::StrCat(place, ": found ", other.plan.size(),
                                                 " cells, expected ", first.plan.size(), ", as in ",
                                                 first.dir));
}

// Whether both are shards of one run.
absl::Status CheckTogether(const ShardFolder& first, const ShardFolder& other) {
  const auto unlike = [&](absl::string_view found, absl::string_view expected) {
    return absl::InvalidArgumentError(
        absl::StrCat(other.dir, ": found ", found, ", expected ", expected, ", as in ", first.dir));
  };
  if (other.note.command != first.note.command) {
    return unlike(absl::StrCat("a shard of drasim ", other.note.command),
                  absl::StrCat("one of drasim ", first.note.command));
  }
  if (other.note.shard.count != first.note.shard.count) {
    return unlike(absl::StrCat("shard ", other.note.shard.Text()),
                  absl::StrCat("one of ", first.note.shard.count));
  }
  if (other.note.program != first.note.program) {
    return unlike(absl::StrCat("results of another program (", other.note.program, ")"),
                  first.note.program);
  }
  return other.plan == first.plan ? absl::OkStatus() : PlansDiffer(first, other);
}

// Each number from 1 on once; `shards` are sorted by number.
absl::Status CheckComplete(const std::vector<ShardFolder>& shards) {
  std::vector<uint32_t> missing;
  uint32_t next = 1;
  for (size_t i = 0; i < shards.size(); ++i) {
    const Shard& shard = shards[i].note.shard;
    if (i > 0 && shard.number == shards[i - 1].note.shard.number) {
      return absl::InvalidArgumentError(absl::StrCat(shards[i].dir, ": found shard ", shard.Text(),
                                                     " a second time; it is also in ",
                                                     shards[i - 1].dir));
    }
    for (; next < shard.number; ++next) missing.push_back(next);
    ++next;
  }
  const uint32_t count = shards[0].note.shard.count;
  for (; next <= count; ++next) missing.push_back(next);
  if (missing.empty()) return absl::OkStatus();
  const size_t more = missing.size() > kNamedShards ? missing.size() - kNamedShards : 0;
  missing.resize(missing.size() - more);
  return absl::InvalidArgumentError(absl::StrCat(
      "found ", shards.size(), " of ", count, " shards; missing: ", absl::StrJoin(missing, ", "),
      more > 0 ? absl::StrCat(" and ", more, " more") : ""));
}

}  // namespace

absl::Status WriteShard(const std::string& dir, const ShardNote& note,
                        const std::vector<PlannedCell>& plan) {
  proto::ShardNote written;
  written.set_command(note.command);
  written.set_shard(note.shard.number);
  written.set_shards(note.shard.count);
  written.set_program(note.program);
  const std::string yaml = ToYaml(written);
  const std::string csv = PlanCsv(plan);
  return WriteFilesAtomically({{FileIn(dir, kPlanFile), csv}, {FileIn(dir, kShardFile), yaml}});
}

void RemoveShard(const std::string& dir) {
  std::error_code error;
  for (const char* name : {kShardFile, kPlanFile}) fs::remove(FileIn(dir, name), error);
}

absl::StatusOr<std::vector<ShardFolder>> ReadShards(const std::vector<std::string>& dirs) {
  if (dirs.empty()) return absl::InvalidArgumentError("expected the folders of all shards");
  std::vector<ShardFolder> shards;
  for (const std::string& dir : dirs) {
    ASSIGN_OR_RETURN(ShardFolder folder, ReadShard(dir));
    if (!shards.empty()) RETURN_IF_ERROR(CheckTogether(shards[0], folder));
    shards.push_back(std::move(folder));
  }
  std::stable_sort(shards.begin(), shards.end(), [](const ShardFolder& a, const ShardFolder& b) {
    return a.note.shard.number < b.note.shard.number;
  });
  RETURN_IF_ERROR(CheckComplete(shards));
  return shards;
}

}  // namespace drasim::bench
