#include "model/run_streams.h"

#include <utility>

#include "model/go_random.h"
#include "model/random.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

// The recipe of the published experiments: one Go stream in the artifact's order of draws,
// including those that the artifact discards (one Int by a log statement before the shuffle, ten
// Float64 by client start-up before the node ranks). Source: docs/fidelity.md, "Artifact order".
class ArtifactStreams : public RunStreams {
 public:
  explicit ArtifactStreams(uint64_t seed) : go_(static_cast<int64_t>(seed)) { go_.Int(); }
  void ShuffleArrivals(absl::Span<uint32_t> order) override {
    go_.Shuffle(static_cast<int32_t>(order.size()), [&order](int32_t i, int32_t j) {
      std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(j)]);
    });
  }
  uint64_t DrawTuning(uint64_t n) override {
    return static_cast<uint64_t>(go_.Intn(static_cast<int32_t>(n)));
  }
  std::vector<uint32_t> NodeRanks(size_t nodes) override {
    for (int i = 0; i < 10; ++i) go_.Float64();
    std::vector<uint32_t> ranks;
    for (const int32_t rank : go_.Perm(static_cast<int32_t>(nodes)))
      ranks.push_back(static_cast<uint32_t>(rank));
    return ranks;
  }
  uint64_t DrawPolicy(uint64_t n) override { return DrawTuning(n); }
  void Save(StateWriter& out) const override { go_.Save(out); }
  absl::Status Load(StateReader& in) override { return go_.Load(in); }

 private:
  GoRandom go_;
};

class SeededStreams : public RunStreams {
 public:
  explicit SeededStreams(uint64_t seed)
      : arrivals_(seed, "run/arrivals"),
        tuning_(seed, "run/tuning"),
        ranks_(seed, "run/ranks"),
        policy_(seed, "run/policy") {}
  void ShuffleArrivals(absl::Span<uint32_t> order) override { arrivals_.Shuffle(order); }
  uint64_t DrawTuning(uint64_t n) override { return tuning_.Below(n); }
  std::vector<uint32_t> NodeRanks(size_t nodes) override {
    std::vector<uint32_t> ranks(nodes);
    for (size_t i = 0; i < nodes; ++i) ranks[i] = static_cast<uint32_t>(i);
    ranks_.Shuffle(absl::MakeSpan(ranks));
    return ranks;
  }
  uint64_t DrawPolicy(uint64_t n) override { return policy_.Below(n); }
  void Save(StateWriter& out) const override {
    for (const Random* r : {&arrivals_, &tuning_, &ranks_, &policy_}) r->Save(out);
  }
  absl::Status Load(StateReader& in) override {
    for (Random* r : {&arrivals_, &tuning_, &ranks_, &policy_}) {
      RETURN_IF_ERROR(r->Load(in));
    }
    return absl::OkStatus();
  }

 private:
  Random arrivals_;
  Random tuning_;
  Random ranks_;
  Random policy_;
};

}  // namespace

std::unique_ptr<RunStreams> MakeArtifactStreams(uint64_t seed) {
  return std::make_unique<ArtifactStreams>(seed);
}
std::unique_ptr<RunStreams> MakeSeededStreams(uint64_t seed) {
  return std::make_unique<SeededStreams>(seed);
}

}  // namespace drasim
