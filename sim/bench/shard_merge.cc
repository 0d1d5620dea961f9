#include "sim/bench/shard_merge.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ios>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/status_macros.h"
#include "sim/bench/csv_rows.h"
#include "sim/bench/shard_folder.h"
#include "sim/record/atomic_file.h"

namespace drasim::bench {
namespace {

namespace fs = std::filesystem;

std::string FileIn(const std::string& dir, absl::string_view name) {
  return absl::StrCat(dir, "/", name);
}

std::string WholeFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

// A file of rows for cells that every shard has, and how a row names its cell.
struct CellFile {
  std::string name;
  std::function<absl::StatusOr<std::string>(const CsvRow& header, const CsvRow& row)> cell_of;
};

// The rows of one file of all shards, each taken once, in the order of the shard's cells.
class ShardRows {
 public:
  static absl::StatusOr<ShardRows> Read(const std::vector<ShardFolder>& shards, CellFile file) {
    ShardRows rows(std::move(file));
    for (const ShardFolder& shard : shards) {
      const std::string path = FileIn(shard.dir, rows.file_.name);
      std::error_code error;
      if (!fs::exists(path, error)) {
        return absl::InvalidArgumentError(absl::StrCat(shard.dir, ": found no ", rows.file_.name,
                                                       "; shard ", shard.note.shard.Text(),
                                                       " has not ended, run it again"));
      }
      ASSIGN_OR_RETURN(std::vector<CsvRow> read, ReadCsvRows(path));
      if (!rows.shards_.empty() && read[0].fields != rows.shards_[0].rows[0].fields) {
        return absl::InvalidArgumentError(
            absl::StrCat(path, ":1:1: found other columns than in ", shards[0].dir));
      }
      rows.shards_.push_back({path, std::move(read), 1});
    }
    rows.text_ = rows.shards_[0].rows[0].Text() + "\n";
    return rows;
  }

  // Takes the next row of that shard if it is the cell's.
  absl::StatusOr<bool> Take(size_t shard, const std::string& cell) {
    OneFile& file = shards_[shard];
    if (file.next == file.rows.size()) return false;
    ASSIGN_OR_RETURN(const std::string found, NameOfNext(file));
    if (found != cell) return false;
    absl::StrAppend(&text_, file.rows[file.next].Text(), "\n");
    ++file.next;
    return true;
  }

  // InvalidArgument if rows are left: they are not the shard's, or not in its order.
  absl::Status CheckAllTaken(const std::vector<ShardFolder>& shards) const {
    for (size_t i = 0; i < shards_.size(); ++i) {
      const OneFile& file = shards_[i];
      if (file.next == file.rows.size()) continue;
      ASSIGN_OR_RETURN(const std::string found, NameOfNext(file));
      return absl::InvalidArgumentError(
          absl::StrCat(file.path, ":", file.rows[file.next].line, ":1: found cell ", found,
                       ", which is not the next of shard ", shards[i].note.shard.Text()));
    }
    return absl::OkStatus();
  }

  // The header, and the rows in the order in which they were taken.
  const std::string& text() const { return text_; }

 private:
  struct OneFile {
    std::string path;
    std::vector<CsvRow> rows;  // the header first
    size_t next = 1;
  };

  explicit ShardRows(CellFile file) : file_(std::move(file)) {}

  absl::StatusOr<std::string> NameOfNext(const OneFile& file) const {
    const CsvRow& row = file.rows[file.next];
    const absl::StatusOr<std::string> name = file_.cell_of(file.rows[0], row);
    if (name.ok()) return name;
    return absl::InvalidArgumentError(
        absl::StrCat(file.path, ":", row.line, ":1: ", name.status().message()));
  }

  CellFile file_;
  std::vector<OneFile> shards_;
  std::string text_;
};

absl::Status LacksCell(const ShardFolder& shard, const std::string& cell) {
  return absl::InvalidArgumentError(absl::StrCat(shard.dir, ": lacks cell ", cell, " of shard ",
                                                 shard.note.shard.Text(), "; run it again"));
}

// CellId::Name() from columns entry, queue, policy and seed.
absl::StatusOr<std::string> BenchCellOf(const CsvRow& header, const CsvRow& row) {
  CellId id;
  for (const auto& [column, value] :
       {std::pair<absl::string_view, std::string*>{"entry", &id.entry},
        {"queue", &id.queue},
        {"policy", &id.policy}}) {
    const auto at = std::find(header.fields.begin(), header.fields.end(), column);
    if (at == header.fields.end())
      return absl::InvalidArgumentError(absl::StrCat("found no column ", column));
    *value = row.fields[static_cast<size_t>(at - header.fields.begin())];
  }
  const auto seed = std::find(header.fields.begin(), header.fields.end(), "seed");
  if (seed == header.fields.end() ||
      !absl::SimpleAtoi(row.fields[static_cast<size_t>(seed - header.fields.begin())], &id.seed)) {
    return absl::InvalidArgumentError("seed: expected a number from 0 on");
  }
  return id.Name();
}

// A sweep's rows begin with the key of their cell.
absl::StatusOr<std::string> SweepCellOf(const CsvRow&, const CsvRow& row) { return row.fields[0]; }

// Lists of finished cells end with this.
constexpr absl::string_view kPartialEnding = ".partial.csv";

// The finished cells of all shards, by file, with which a later run resumes.
std::map<std::string, std::string> JoinedPartials(const std::vector<ShardFolder>& shards) {
  std::map<std::string, std::string> files;
  for (const ShardFolder& shard : shards) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(shard.dir, error)) {
      const std::string name = entry.path().filename().string();
      if (!absl::EndsWith(name, kPartialEnding)) continue;
      std::string& joined = files[name];
      absl::StrAppend(&joined, WholeFile(FileIn(shard.dir, name)));
      // A killed run may have torn its last line; readers pass over it if it stands alone.
      if (!joined.empty() && joined.back() != '\n') joined += "\n";
    }
  }
  return files;
}

// Writes the files, by name, and the lists of finished cells.
absl::Status WriteMerged(const std::vector<ShardFolder>& shards, const std::string& out,
                         const std::vector<std::pair<std::string, absl::string_view>>& results) {
  const std::map<std::string, std::string> partials = JoinedPartials(shards);
  std::vector<std::pair<std::string, absl::string_view>> files;
  for (const auto& [name, text] : partials) files.emplace_back(FileIn(out, name), text);
  for (const auto& [name, text] : results) files.emplace_back(FileIn(out, name), text);
  return WriteFilesAtomically(files);
}

// Suite, version, tier, filter and what else was asked for are in bench.yaml, which all shards have
// alike.
absl::StatusOr<std::string> CommonSelection(const std::vector<ShardFolder>& shards) {
  std::string selection;
  for (const ShardFolder& shard : shards) {
    const std::string path = FileIn(shard.dir, "bench.yaml");
    const std::string text = WholeFile(path);
    if (shard.note.shard.number == 1) selection = text;
    if (text == selection) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": found another suite, version, selection or setup than in ",
                     FileIn(shards[0].dir, "bench.yaml")));
  }
  return selection;
}

absl::StatusOr<MergeSummary> MergeBench(const std::vector<ShardFolder>& shards,
                                        const std::string& out) {
  MergeSummary summary;
  ASSIGN_OR_RETURN(ShardRows cells, ShardRows::Read(shards, {"cells.csv", BenchCellOf}));
  ASSIGN_OR_RETURN(ShardRows costs, ShardRows::Read(shards, {"costs.csv", BenchCellOf}));
  ASSIGN_OR_RETURN(ShardRows missing, ShardRows::Read(shards, {"missing.csv", BenchCellOf}));
  ASSIGN_OR_RETURN(const std::string selection, CommonSelection(shards));
  for (const ShardFolder& shard : shards) {
    // Torn and repeated rows, and rows of another suite or version.
    ASSIGN_OR_RETURN(const BenchResults results, ReadBenchResults(shard.dir));
    summary.missing.insert(summary.missing.end(), results.missing.begin(), results.missing.end());
  }
  const std::vector<PlannedCell>& plan = shards[0].plan;
  for (size_t i = 0; i < plan.size(); ++i) {
    const size_t shard = i % shards.size();
    ASSIGN_OR_RETURN(const bool ran, cells.Take(shard, plan[i].name));
    ASSIGN_OR_RETURN(const bool there, (ran ? costs : missing).Take(shard, plan[i].name));
    if (!there) return LacksCell(shards[shard], plan[i].name);
    // A cell that ran may have a problem besides.
    if (ran) RETURN_IF_ERROR(missing.Take(shard, plan[i].name).status());
  }
  for (const ShardRows* rows : {&cells, &costs, &missing})
    RETURN_IF_ERROR(rows->CheckAllTaken(shards));
  std::sort(summary.missing.begin(), summary.missing.end(),
            [](const CellProblem& a, const CellProblem& b) { return a.id < b.id; });
  RETURN_IF_ERROR(WriteMerged(shards, out,
                              {{"bench.yaml", selection},
                               {"missing.csv", missing.text()},
                               {"costs.csv", costs.text()},
                               {"cells.csv", cells.text()}}));
  return summary;
}

absl::StatusOr<MergeSummary> MergeSweep(const std::vector<ShardFolder>& shards,
                                        const std::string& out) {
  ASSIGN_OR_RETURN(ShardRows rows, ShardRows::Read(shards, {"sweep.csv", SweepCellOf}));
  const std::vector<PlannedCell>& plan = shards[0].plan;
  for (size_t i = 0; i < plan.size(); ++i) {
    const size_t shard = i % shards.size();
    ASSIGN_OR_RETURN(const bool there, rows.Take(shard, plan[i].inputs));
    if (!there) return LacksCell(shards[shard], plan[i].name);
  }
  RETURN_IF_ERROR(rows.CheckAllTaken(shards));
  RETURN_IF_ERROR(WriteMerged(shards, out, {{"sweep.csv", rows.text()}}));
  return MergeSummary();
}

}  // namespace

absl::StatusOr<MergeSummary> MergeShards(const std::vector<std::string>& dirs,
                                         const std::string& out) {
  for (const std::string& dir : dirs) {
    std::error_code error;
    if (!fs::equivalent(dir, out, error)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--out: found ", out, ", which holds a shard, expected another folder"));
  }
  ASSIGN_OR_RETURN(const std::vector<ShardFolder> shards, ReadShards(dirs));
  absl::StatusOr<MergeSummary> summary =
      shards[0].note.command == kSweepCommand ? MergeSweep(shards, out) : MergeBench(shards, out);
  if (!summary.ok()) return summary;
  // The folder may have held a shard before.
  RemoveShard(out);
  summary->shards = shards.size();
  summary->cells = shards[0].plan.size();
  return summary;
}

}  // namespace drasim::bench
