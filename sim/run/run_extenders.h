// RunExtenders: the scheduler extenders of a simulation, their channel, and their answers.
//
//   RunExtenders extenders(config.extenders);
//   extenders.set_channel(std::make_unique<HttpChannel>());
//   RETURN_IF_ERROR(extenders.Begin(&cluster));
//   kube_cycle.set_extenders(extenders.list());
//
// It is a sink of the run, which thus ends where a recording and the run part.
#ifndef DRASIM_SIM_RUN_RUN_EXTENDERS_H_
#define DRASIM_SIM_RUN_RUN_EXTENDERS_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/cluster_state.h"
#include "model/record.h"
#include "model/state_io.h"
#include "sim/core/extender.h"
#include "sim/extender/extender_channel.h"
#include "sim/extender/extender_log.h"
#include "sim/extender/http_extender.h"
#include "sim/record/ledger_reader.h"
#include "sim/run/extender_objects.h"
#include "sim/scenario/kube_config.h"

namespace drasim {

class RunExtenders : public RecordSink {
 public:
  explicit RunExtenders(std::vector<ExtenderSpec> specs) : specs_(std::move(specs)) {}
  RunExtenders(const RunExtenders&) = delete;
  RunExtenders& operator=(const RunExtenders&) = delete;

  // Before Begin. Through the channel, all extenders are asked.
  void set_channel(std::unique_ptr<ExtenderChannel> channel) { channel_ = std::move(channel); }
  // Takes the answers from the ledger of an earlier run. DataLoss if that is damaged.
  absl::Status ReplayFrom(LedgerReader& ledger);
  // Gets a line of a recording (extender_log.h) for every call.
  void set_on_call(std::function<void(absl::string_view line)> f) { on_call_ = std::move(f); }

  // FailedPrecondition without a channel; InvalidArgument for settings that are not supported.
  // `cluster` and the objects of manifests must outlive it.
  absl::Status Begin(const ClusterState* cluster, std::vector<const GivenObjects*> given);
  // In the configuration's order; empty before Begin. The list stays where it is.
  const std::vector<Extender*>& list() const { return list_; }

  // Call after the run: the error of the channel, if any.
  absl::Status Finish() { return calls_->Finish(); }

  void OnRecord(const Record&, const ClusterState&) override {}
  absl::Status status() const override { return calls_->status(); }
  // The number of calls so far.
  void Save(StateWriter& out) const override;
  absl::Status Load(StateReader& in) override;

 private:
  std::vector<ExtenderSpec> specs_;
  std::unique_ptr<ExtenderChannel> channel_;  // until Begin
  std::function<void(absl::string_view line)> on_call_;
  std::unique_ptr<RunObjects> objects_;
  std::unique_ptr<RecordingChannel> calls_;
  std::vector<std::unique_ptr<HttpExtender>> extenders_;
  std::vector<Extender*> list_;
};

// The recording in a ledger. DataLoss if it is damaged.
absl::StatusOr<std::string> ExtenderRecordingOf(LedgerReader& ledger);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_RUN_EXTENDERS_H_
