#include "sim/bench/instructions.h"

#include <link.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "model/status_macros.h"
#include "sim/bench/build_flags.h"
#include "sim/bench/scratch_folder.h"
#include "sim/record/atomic_file.h"
#include "sim/run/input_files.h"
#include "traces/byte_source.h"

namespace drasim::bench {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kFingerprintMark = "fingerprint ";
constexpr char kProgramLink[] = "program";
constexpr size_t kLibraryDigits = 12;
constexpr size_t kMaxCountBytes = 64u << 20;  // cachegrind's file has a line per function
constexpr double kProbeSeconds = 60;

// The output of a short program; an error if it cannot run.
absl::StatusOr<std::string> OutputOfTool(const std::vector<std::string>& arguments) {
  absl::StatusOr<std::string> output = absl::UnknownError("");
  RETURN_IF_ERROR(RunPrograms(
      1, {1, kProbeSeconds},
      [&](size_t) {
        return Program{arguments, ""};
      },
      [&](size_t, const ChildResult& result) { output = result.answer; }));
  return output;
}

std::string FirstLine(absl::string_view text) {
  return std::string(absl::StripAsciiWhitespace(text.substr(0, text.find('\n'))));
}

int AddLibrary(dl_phdr_info* info, size_t, void* paths) {
  const absl::string_view name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  if (absl::StartsWith(name, "/"))
    static_cast<std::vector<std::string>*>(paths)->emplace_back(name);
  return 0;
}

absl::StatusOr<std::vector<std::string>> LoadedLibraries() {
  std::vector<std::string> paths;
  dl_iterate_phdr(AddLibrary, &paths);
  std::vector<std::string> libraries;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const std::string hash, FileSha256(path));
    libraries.push_back(
        absl::StrCat(fs::path(path).filename().string(), " ", hash.substr(0, kLibraryDigits)));
  }
  std::sort(libraries.begin(), libraries.end());
  return libraries;
}

// cachegrind's file ends with "summary: COUNT".
absl::StatusOr<uint64_t> CountOfCachegrind(absl::string_view text) {
  constexpr absl::string_view kSummary = "\nsummary: ";
  const size_t at = text.rfind(kSummary);
  uint64_t count = 0;
  if (at == absl::string_view::npos ||
      !absl::SimpleAtoi(absl::StripAsciiWhitespace(text.substr(at + kSummary.size())), &count)) {
    return absl::AbortedError("cachegrind wrote no summary");
  }
  return count;
}

std::vector<std::string> PrefixOf(const std::string& method, const std::string& out) {
  if (method == kPerf) return {"perf", "stat", "-x,", "-e", "instructions:u", "-o", out, "--"};
  return {"valgrind",          "-q",
          "--tool=cachegrind", "--cache-sim=no",
          "--branch-sim=no",   absl::StrCat("--cachegrind-out-file=", out)};
}

absl::StatusOr<uint64_t> ReadCount(const std::string& method, const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  ASSIGN_OR_RETURN(const std::string text, ReadAll(*source, kMaxCountBytes));
  return method == kPerf ? InstructionsInPerf(text) : CountOfCachegrind(text);
}

}  // namespace

std::string CostSetup::DifferenceTo(const CostSetup& other) const {
  std::vector<std::string> differences;
  const auto compare = [&](absl::string_view what, absl::string_view mine,
                           absl::string_view theirs) {
    if (mine != theirs) differences.push_back(absl::StrCat(what, " ", mine, " and ", theirs));
  };
  compare("method", method, other.method);
  compare("tool", tool, other.tool);
  compare("compiler", compiler, other.compiler);
  compare("flags", flags, other.flags);
  if (libraries != other.libraries) {
    std::vector<std::string> mine;
    std::set_difference(libraries.begin(), libraries.end(), other.libraries.begin(),
                        other.libraries.end(), std::back_inserter(mine));
    std::vector<std::string> theirs;
    std::set_difference(other.libraries.begin(), other.libraries.end(), libraries.begin(),
                        libraries.end(), std::back_inserter(theirs));
    compare("libraries", absl::StrCat("[", absl::StrJoin(mine, ", "), "]"),
            absl::StrCat("[", absl::StrJoin(theirs, ", "), "]"));
  }
  return absl::StrJoin(differences, "; ");
}

absl::StatusOr<uint64_t> InstructionsInPerf(absl::string_view text) {
  uint64_t sum = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    // "123,,instructions:u,...", or "<not supported>,,instructions:u,..."
    const std::vector<absl::string_view> fields = absl::StrSplit(line, ',');
    uint64_t count = 0;
    if (fields.size() > 2 && absl::StrContains(fields[2], "instructions") &&
        absl::SimpleAtoi(fields[0], &count)) {
      sum += count;
    }
  }
  if (sum == 0) return absl::AbortedError("perf counted no instructions");
  return sum;
}

absl::StatusOr<CostSetup> FindCostSetup() { return FindCostSetup(OutputOfTool); }

absl::StatusOr<CostSetup> FindCostSetup(RunTool run_tool) {
  CostSetup setup;
  const absl::StatusOr<std::string> valgrind = run_tool({"valgrind", "--version"});
  if (valgrind.ok()) {
    setup.method = kCachegrind;
    setup.tool = FirstLine(*valgrind);
  } else {
    const absl::StatusOr<std::string> counted =
        run_tool({"perf", "stat", "-x,", "-e", "instructions:u", "--", "true"});
    if (!counted.ok() || !InstructionsInPerf(*counted).ok()) {
      return absl::NotFoundError(
          "found neither valgrind nor hardware counters for perf, expected one of them: install "
          "the package valgrind");
    }
    ASSIGN_OR_RETURN(const std::string version, run_tool({"perf", "--version"}));
    setup.method = kPerf;
    setup.tool = FirstLine(version);
  }
  setup.compiler = std::string(BuildCompiler());
  setup.flags = std::string(BuildFlags());
  ASSIGN_OR_RETURN(setup.libraries, LoadedLibraries());
  return setup;
}

Program ProgramOfCell(std::vector<std::string> prefix, const std::string& program,
                      const BenchCell& cell, const std::string& scenario_file) {
  prefix.push_back(program);
  if (cell.cases.has_value()) {
    prefix.insert(prefix.end(), {"bench", "cases", "-"});
  } else {
    prefix.insert(prefix.end(), {"run", "-", "--quiet"});
  }
  return {std::move(prefix), scenario_file};
}

std::string FingerprintIn(absl::string_view answer) {
  for (absl::string_view line : absl::StrSplit(answer, '\n')) {
    if (absl::ConsumePrefix(&line, kFingerprintMark)) return std::string(line);
  }
  return "";
}

absl::Status CountInstructions(const CostSetup& setup, const std::string& program,
                               absl::Span<const BenchCell* const> cells,
                               const ChildRunOptions& options,
                               absl::FunctionRef<void(size_t, const InstructionCount&)> done) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ScratchFolder> scratch, ScratchFolder::Make());
  std::error_code error;
  fs::create_symlink(fs::absolute(program, error), scratch->PathOf(kProgramLink), error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat(scratch->path(), ": cannot make a link: ", error.message()));
  }
  const auto name_of = [](size_t i, absl::string_view kind) {
    return absl::StrCat(absl::Dec(i, absl::kZeroPad6), kind);
  };
  for (size_t i = 0; i < cells.size(); ++i) {
    RETURN_IF_ERROR(WriteFileAtomically(scratch->PathOf(name_of(i, ".yaml")), cells[i]->scenario));
  }
  return RunPrograms(
      cells.size(), options,
      [&](size_t i) {
        Program run = ProgramOfCell(PrefixOf(setup.method, name_of(i, ".out")),
                                    absl::StrCat("./", kProgramLink), *cells[i],
                                    scratch->PathOf(name_of(i, ".yaml")));
        run.directory = scratch->path();
        return run;
      },
      [&](size_t i, const ChildResult& result) {
        InstructionCount count{absl::UnknownError(""), ""};
        if (result.answer.ok()) {
          count.instructions = ReadCount(setup.method, scratch->PathOf(name_of(i, ".out")));
          count.fingerprint = FingerprintIn(*result.answer);
        } else {
          count.instructions = result.answer.status();
        }
        done(i, count);
      });
}

}  // namespace drasim::bench
