// Synthetic pods that ask for one MIG instance each, drawn from a mix of profiles.
//
// These are the keys mig and offered_percent of the message Generated in
// model/proto/scenario.proto: the workload of acceptance experiments on MIG placement, where pods
// come until they have asked for a given share of the cluster. Everything is a function of
// (options, product, seed), on every machine.
#ifndef DRASIM_TRACES_MIG_GENERATOR_H_
#define DRASIM_TRACES_MIG_GENERATOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/event_source.h"
#include "model/ids.h"
#include "model/mig_product.h"
#include "model/random.h"
#include "model/shape_table.h"
#include "model/state_io.h"
#include "traces/generated_times.h"

namespace drasim {

// The profile that has this name on the product with some driver, letter case ignored; null when
// there is none. Points into `product`. O(profiles).
const MigProfile* MigProfileNamed(const MigProduct& product, absl::string_view name);

// " (did you mean '1g.10gb'?)" for a name that none of the products knows; see Suggest in
// model/text/did_you_mean.h.
std::string SuggestMigProfile(absl::string_view typed, absl::Span<const MigProduct> products);

struct MigMixOptions {
  // Profile, weight: a pod asks for the profile with the probability weight / sum of all weights.
  // At least one; weights are finite and above 0; no profile twice.
  std::vector<std::pair<std::string, double>> shares;
  int64_t pods = 0;  // 0: by offered_units; else 1..MigMixSource::kMaxPods
  // Pods come until their requests reach this many units of the placement axis; the one that
  // reaches it is the last. 0: by pods; else 1..MigMixSource::kMaxPods.
  int64_t offered_units = 0;
  // Between two arrivals; the first pod arrives at time 0. Empty: all arrive at time 0.
  std::string interarrival;  // a Distribution of seconds
  std::string run_time;      // a Distribution of seconds; empty: pods have no run time
  uint64_t seed = 0;
};

// Checks the options as far as they do not depend on a product, except for the two distributions.
// InvalidArgument, beginning with the scenario's key.
absl::Status CheckMigMix(const MigMixOptions& options);

// Pods "pod-0000000", "pod-0000001", ... (more digits when needed: byte order is order of
// creation), of priority 0 and without a tenant. Each asks for one instance and for no CPU or
// memory, so only the GPUs decide.
//
// Weights are rounded to 2^-40 of the greatest, and a chance never becomes none. Samples are
// rounded to the nanosecond; negative ones count as 0. Draws come from the streams
// "workload/mig_profile", "workload/interarrival" and "workload/run_time", so that changing one
// option leaves the others' draws alone: with the same seed, a greater offered_units only adds
// pods.
class MigMixSource : public EventSource {
 public:
  static constexpr int64_t kMaxPods = (int64_t{1} << 32) - 1;   // as many as there are PodIds
  static constexpr int64_t kMaxSeconds = kMaxGeneratedSeconds;  // of an arrival, and of a run time

  // Interns a shape for each share, in their order, into `shapes`; profiles get the name that the
  // product gives them. No argument is kept. InvalidArgument, beginning with the scenario's key,
  // when an option is out of range, not a distribution, or at odds with another, and for a profile
  // that the product does not have (with the nearest name) or that comes twice.
  static absl::StatusOr<std::unique_ptr<MigMixSource>> Create(const MigMixOptions& options,
                                                              const MigProduct& product,
                                                              ShapeTable* shapes);

  // InvalidArgument, which sticks, when an arrival or a run time is beyond kMaxSeconds.
  // O(log shares). Memory is constant.
  absl::StatusOr<bool> Next(JobArrival* out) override;
  void Save(StateWriter& out) const override;
  // After an error the source must not be used.
  absl::Status Load(StateReader& in) override;

 private:
  // The pods of one share.
  struct Kind {
    ShapeId shape;
    int32_t units = 0;
  };

  explicit MigMixSource(const MigMixOptions& options);

  absl::Status AddKinds(const MigMixOptions& options, const MigProduct& product,
                        ShapeTable* shapes);
  bool AtEnd() const { return pods_ > 0 ? next_ == pods_ : asked_units_ >= offered_units_; }

  const int64_t pods_;
  const int64_t offered_units_;
  size_t name_digits_ = 0;
  std::vector<Kind> kinds_;           // by number in the options
  std::vector<uint64_t> cumulative_;  // sums of the whole weights up to and including each kind
  GeneratedTimes times_;

  Random profile_stream_;
  int64_t next_ = 0;         // number of the pod that comes next
  int64_t asked_units_ = 0;  // by the pods so far
  int64_t time_ns_ = 0;      // of the last arrival
  absl::Status status_;      // the error that ended the source
};

}  // namespace drasim

#endif  // DRASIM_TRACES_MIG_GENERATOR_H_
