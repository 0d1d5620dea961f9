// Kinds of reasons for which nodes and scheduling attempts turn pods down.
//
// A reason has an index (within its plugin or profile), a kind and a text. Code goes by the first
// two; the text is for people and may be edited at any time. A test rewrites every text and demands
// the same decisions (tests/sim/app/reason_texts_test.cc).
#ifndef DRASIM_MODEL_REASON_KIND_H_
#define DRASIM_MODEL_REASON_KIND_H_

#include <cstdint>

namespace drasim {

// Not part of any file's format: ledgers hold texts alone.
enum class ReasonKind : uint8_t {
  kOther,  // nothing is known beyond the text

  // The node has too little of something.
  kCpu,
  kMemory,
  kPodSlots,
  kExtendedResource,
  kGpu,
  kMigSlots,
  kGroupLimit,  // pods of the same group
  // The node is not what the pod asks for.
  kCordoned,
  kUntoleratedTaint,
  kNodeAffinity,
  kNoGpu,
  kGpuModel,
  kNoMig,
  kMigProfile,
  // The pod is kept off every node.
  kPodHold,

  kPlacementRule,  // the scheduling policy refuses what the node could give
  kClaim,          // resource claims of the pod cannot be served

  // No verdict: the attempt was one step of the negotiation for the pod's claims.
  kWaitsForDriver,   // a driver has been asked to allocate something
  kNegotiationStep,  // any other step; the next attempt may come to any end
  kStaleObject,      // the scheduler's view was out of date, or a call failed
};

// Whether the reason is a Filter's, about the node or the pod alone. Those of placement rules are
// not: they belong to one scheduling policy.
constexpr bool IsFilterKind(ReasonKind kind) {
  return kind >= ReasonKind::kCpu && kind <= ReasonKind::kPodHold;
}

// Whether the attempt found that there is no place for the pod at present.
constexpr bool IsVerdict(ReasonKind kind) { return kind < ReasonKind::kWaitsForDriver; }

}  // namespace drasim

#endif  // DRASIM_MODEL_REASON_KIND_H_
