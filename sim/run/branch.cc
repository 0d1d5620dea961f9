#include "sim/run/branch.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/proto/scenario.pb.h"
#include "model/saved_state.h"
#include "model/status_macros.h"
#include "model/text/yaml_proto.h"
#include "sim/record/atomic_file.h"
#include "sim/record/ledger_checkpoint.h"
#include "sim/record/ledger_frame.h"
#include "sim/record/ledger_index.h"
#include "sim/record/ledger_seek.h"
#include "sim/record/ledger_writer.h"
#include "sim/record/version.h"
#include "sim/run/resume.h"
#include "sim/scenario/resolve.h"

namespace drasim {
namespace {

namespace fs = std::filesystem;

struct Frame {
  FrameType type = FrameType::kBlock;
  uint64_t offset = 0;
};

// The frames ahead of the checkpoint but for checkpoints, in file order. A checkpoint builds on an
// earlier one by its place in the file, which is another one in the branch.
std::vector<Frame> FramesBefore(LedgerIndex index, const LedgerReader::Checkpoint& checkpoint) {
  index.CutAt(checkpoint.offset);
  std::vector<Frame> frames;
  for (int t = 0; t <= kLastFrameType; ++t) {
    const auto type = static_cast<FrameType>(t);
    const std::vector<LedgerPlace>* const places = index.ListOf(type);
    if (places == nullptr || type == FrameType::kCheckpoint) continue;
    for (const LedgerPlace& place : *places) frames.push_back({type, place.offset});
  }
  std::sort(frames.begin(), frames.end(),
            [](const Frame& a, const Frame& b) { return a.offset < b.offset; });
  return frames;
}

// Leaves the earlier run's ledger up to the point as that of the simulation.
absl::Status CopyLedger(LedgerReader* from, const BranchPoint& point, const SavedState& state,
                        const std::string& path, const Simulation& sim) {
  ASSIGN_OR_RETURN(const std::unique_ptr<LedgerWriter> header,
                   LedgerWriter::Create(path, ResolvedYaml(sim), sim.cluster(), sim.ranks(),
                                        sim.summaries(), LedgerPace(), sim.Layouts()));
  RETURN_IF_ERROR(header->Abandon());
  ASSIGN_OR_RETURN(LedgerIndex index, from->ReadIndex());
  std::error_code error;
  const uint64_t bytes = fs::file_size(absl::StrCat(path, ".partial"), error);
  AtomicFile file;
  file.KeepTemporary();
  RETURN_IF_ERROR(file.Reopen(path, bytes, ".partial"));
  for (const Frame& frame : FramesBefore(std::move(index), point.checkpoint)) {
    ASSIGN_OR_RETURN(const std::string payload, from->ReadPayload(frame.type, frame.offset));
    RETURN_IF_ERROR(file.Write(MakeFrame(frame.type, payload)));
  }
  const std::string checkpoint = PackCheckpoint(point.checkpoint.records, state, /*base_offset=*/0);
  RETURN_IF_ERROR(file.Write(MakeFrame(FrameType::kCheckpoint, checkpoint)));
  return file.Flush();
}

// The samples of the earlier run; those behind the point are cut off when the state is loaded.
absl::Status CopySamples(const std::string& from_dir, const std::string& dir) {
  std::error_code error;
  for (const char* const name : {"timeseries.csv.tmp", "timeseries.csv"}) {
    const fs::path source = fs::path(from_dir) / name;
    if (!fs::exists(source, error)) continue;
    fs::copy_file(source, fs::path(dir) / "timeseries.csv.tmp",
                  fs::copy_options::overwrite_existing, error);
    if (!error) return absl::OkStatus();
    return absl::UnavailableError(absl::StrCat(source.string(), ": ", error.message()));
  }
  return absl::NotFoundError(absl::StrCat(from_dir, "/timeseries.csv: there is no such file"));
}

}  // namespace

absl::StatusOr<BranchPoint> FindBranchPoint(const std::string& ledger, SimTime before,
                                            const proto::Scenario& scenario) {
  ASSIGN_OR_RETURN(const std::unique_ptr<LedgerReader> reader, LedgerReader::Open(ledger));
  const std::string& version = reader->header().drasim_version();
  if (version != kDrasimVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("the run is one of drasim ", version, ", not of ", kDrasimVersion));
  }
  proto::Scenario earlier;
  RETURN_IF_ERROR(MergeYaml(reader->header().scenario_yaml(), reader->path(), &earlier));
  ASSIGN_OR_RETURN(const RunSpec spec, ResolveScenario(earlier));
  RETURN_IF_ERROR(CheckSameScenario(scenario, *spec.written));
  ASSIGN_OR_RETURN(const std::vector<LedgerReader::Checkpoint> checkpoints,
                   reader->ListCheckpoints());
  ASSIGN_OR_RETURN(const std::unique_ptr<LedgerSeek> seek, LedgerSeek::Open(ledger));
  for (size_t i = checkpoints.size(); i-- > 0;) {
    RETURN_IF_ERROR(seek->ToRecord(checkpoints[i].records));
    if (seek->time() < before) return BranchPoint{checkpoints[i], seek->time()};
  }
  return absl::NotFoundError("there is no checkpoint before the event");
}

absl::StatusOr<std::unique_ptr<RunOutputs>> StartBranch(const std::string& ledger,
                                                        const BranchPoint& point,
                                                        const std::string& dir, Simulation* sim) {
  ASSIGN_OR_RETURN(const std::unique_ptr<LedgerReader> from, LedgerReader::Open(ledger));
  ASSIGN_OR_RETURN(const SavedState state, from->ReadSavedState(point.checkpoint));
  const std::string path = absl::StrCat(dir, "/ledger");
  RETURN_IF_ERROR(CopyLedger(from.get(), point, state, path, *sim));
  RETURN_IF_ERROR(CopySamples(fs::path(from->path()).parent_path().string(), dir));
  ASSIGN_OR_RETURN(const std::unique_ptr<LedgerReader> copy,
                   LedgerReader::Open(absl::StrCat(path, ".partial")));
  ASSIGN_OR_RETURN(const LedgerPosition position, FindLastCheckpoint(*copy));
  ASSIGN_OR_RETURN(std::unique_ptr<RunOutputs> outputs, RunOutputs::Resume(sim, dir, position));
  RETURN_IF_ERROR(sim->StartBranch(state.text));
  return outputs;
}

}  // namespace drasim
