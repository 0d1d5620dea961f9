#include "sim/scenario/run_spec.h"

#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"

namespace drasim {

void RunSpec::SetSeed(uint64_t value) {
  seed = value;
  written->set_seed(value);
}

void RunSpec::SetOutputDir(const std::string& dir) {
  output.dir = dir;
  written->mutable_output()->set_dir(dir);
}

absl::Status RunSpec::SetMaxLedger(const std::string& text) {
  ASSIGN_OR_RETURN(output.max_ledger_bytes, ReadLedgerLimit(text));
  written->mutable_output()->set_max_ledger(text);
  return absl::OkStatus();
}

void RunSpec::SetNodesSha256(const std::string& sha256) {
  cluster.nodes.sha256 = sha256;
  written->mutable_cluster()->set_sha256(sha256);
}

void RunSpec::SetTraceSha256(const std::string& sha256) {
  workload.trace.sha256 = sha256;
  written->mutable_workload()->mutable_trace()->set_sha256(sha256);
}

absl::string_view RunModeName(RunMode mode) { return mode == RunMode::kReplay ? "replay" : "fill"; }

absl::string_view JobOrderName(JobOrder order) {
  switch (order) {
    case JobOrder::kArtifact:
      return "artifact";
    case JobOrder::kSeeded:
      return "seeded";
    case JobOrder::kTrace:
      return "trace";
  }
  return "";
}

}  // namespace drasim
