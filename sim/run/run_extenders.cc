#include "sim/run/run_extenders.h"

#include <cstddef>
#include <utility>

#include "model/status_macros.h"
#include "sim/record/ledger_extender_calls.h"
#include "sim/record/ledger_index.h"

namespace drasim {

absl::Status RunExtenders::Begin(const ClusterState* cluster,
                                 std::vector<const GivenObjects*> given) {
  if (channel_ == nullptr) {
    return absl::FailedPreconditionError(
        "scheduler.kube_config: found extenders, which only `drasim run` asks");
  }
  objects_ = std::make_unique<RunObjects>(cluster, std::move(given));
  calls_ = std::make_unique<RecordingChannel>(std::move(channel_), [this](absl::string_view line) {
    if (on_call_) on_call_(line);
  });
  ASSIGN_OR_RETURN(extenders_, MakeExtenders(specs_, cluster, objects_.get(), calls_.get()));
  for (const std::unique_ptr<HttpExtender>& extender : extenders_) list_.push_back(extender.get());
  return absl::OkStatus();
}

absl::StatusOr<std::string> ExtenderRecordingOf(LedgerReader& ledger) {
  ASSIGN_OR_RETURN(const LedgerIndex index, ledger.ReadIndex());
  ASSIGN_OR_RETURN(const std::string lines, ReadExtenderCalls(ledger, index));
  return ExtenderLogHeader() + lines;
}

absl::Status RunExtenders::ReplayFrom(LedgerReader& ledger) {
  ASSIGN_OR_RETURN(const std::string recording, ExtenderRecordingOf(ledger));
  ASSIGN_OR_RETURN(std::vector<ExtenderCall> calls, ReadExtenderLog(recording, ledger.path()));
  channel_ = std::make_unique<ReplayChannel>(std::move(calls), nullptr);
  return absl::OkStatus();
}

void RunExtenders::Save(StateWriter& out) const {
  out.Section("extenders");
  out.U64(calls_->calls());
}

absl::Status RunExtenders::Load(StateReader& in) {
  in.Section("extenders");
  calls_->SkipTo(static_cast<size_t>(in.U64()));
  return in.status();
}

}  // namespace drasim
