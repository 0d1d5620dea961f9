// RunStreams: the random choices of a run, behind one interface with two recipes.
//
// `artifact` draws everything from a single Go-compatible stream in the order of the published FGD
// artifact, which reproduces its pod orders and node ranks bit for bit (docs/fidelity.md, "Artifact
// order"). `seeded` gives every purpose its own named stream, so an additional draw for one purpose
// changes no other.
#ifndef DRASIM_MODEL_RUN_STREAMS_H_
#define DRASIM_MODEL_RUN_STREAMS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "model/state_io.h"

namespace drasim {

// Call order within a run: ShuffleArrivals, then DrawTuning any number of times, then NodeRanks,
// then DrawPolicy.
class RunStreams {
 public:
  virtual ~RunStreams() = default;
  // Permutes the arrivals in place.
  virtual void ShuffleArrivals(absl::Span<uint32_t> order) = 0;
  // Uniform in [0, n), n > 0: the pod to clone or erase during tuning.
  virtual uint64_t DrawTuning(uint64_t n) = 0;
  // A permutation: rank of the i-th node in name order; the tie-break among equal scores.
  virtual std::vector<uint32_t> NodeRanks(size_t nodes) = 0;
  // Uniform in [0, n), n > 0: choices of randomised policies.
  virtual uint64_t DrawPolicy(uint64_t n) = 0;
  virtual void Save(StateWriter& out) const = 0;
  virtual absl::Status Load(StateReader& in) = 0;
};

std::unique_ptr<RunStreams> MakeArtifactStreams(uint64_t seed);
std::unique_ptr<RunStreams> MakeSeededStreams(uint64_t seed);

}  // namespace drasim

#endif  // DRASIM_MODEL_RUN_STREAMS_H_
