#include "sim/core/kube_cycle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/check.h"
#include "model/status_macros.h"
#include "policies/framework/fit_error.h"
#include "policies/framework/plugin.h"
#include "sim/core/extender_binder.h"

namespace drasim {
namespace {

constexpr ReasonIndex kNotAsked = VerdictCache::kUnknown;

// Numbers of nodes per call of the filters. Small chunks at the end of a search, because work on
// nodes after the last feasible one is wasted.
constexpr size_t kLargestChunk = 256;
constexpr size_t kSmallestChunk = 16;
constexpr size_t kBlock = VerdictCache::Column::kBlock;

static_assert(std::endian::native == std::endian::little, "bytes stand in the order of bits");
static_assert(kFits == 0);

// One byte for each bit: kFits where it is set, and another verdict elsewhere.
void SpreadBits(uint64_t bits, ReasonIndex* bytes) {
  if (~bits == 0) {
    std::memset(bytes, 0, kBlock);
    return;
  }
  constexpr uint64_t kEachByte = 0x0101010101010101;
  for (size_t i = 0; i < kBlock / 8; ++i) {
    // Byte k keeps bit k of the eight; a byte that is not zero then gets its highest bit.
    const uint64_t eight = (bits >> (8 * i) & 0xff) * kEachByte & 0x8040201008040201;
    const uint64_t set = ((eight + 0x7f7f7f7f7f7f7f7f) | eight) >> 7 & kEachByte;
    const uint64_t out = set ^ kEachByte;
    std::memcpy(bytes + 8 * i, &out, sizeof(out));
  }
}

// The inverse: a bit for each byte that is kFits.
uint64_t GatherBits(const ReasonIndex* bytes) {
  constexpr uint64_t kLow = 0x7f7f7f7f7f7f7f7f;
  uint64_t bits = 0;
  for (size_t i = 0; i < kBlock / 8; ++i) {
    uint64_t eight;
    std::memcpy(&eight, bytes + 8 * i, sizeof(eight));
    const uint64_t zero = ~(((eight & kLow) + kLow) | eight | kLow) >> 7;
    // The product moves bit 8k to bit 56 + k.
    bits |= (zero * 0x0102040810204080 >> 56) << (8 * i);
  }
  return bits;
}

// The higher sum, then the node that was added earlier.
bool IsBetter(const VerdictCache::Column::Best& a, const VerdictCache::Column::Best& b) {
  return a.sum > b.sum || (a.sum == b.sum && a.node < b.node);
}

std::string MessageOf(const Plugin& plugin, const StepResult& result) {
  if (!result.message.empty() || result.reason == kFits) return result.message;
  return std::string(plugin.reasons()[result.reason - size_t{1}].text);
}

// "[NodeAffinity VolumeBinding]"
std::string NamesText(absl::Span<const Plugin* const> plugins) {
  std::vector<absl::string_view> names;
  for (const Plugin* plugin : plugins) names.push_back(plugin->name());
  std::sort(names.begin(), names.end());
  return absl::StrCat("[", absl::StrJoin(names, " "), "]");
}

template <typename T>
void SortByNode(std::vector<T>* list) {
  std::stable_sort(list->begin(), list->end(),
                   [](const T& a, const T& b) { return a.node < b.node; });
}

}  // namespace

size_t NodesToFind(int32_t percentage, size_t nodes) {
  constexpr size_t kLeast = 100;
  if (nodes < kLeast) return nodes;
  auto share = static_cast<size_t>(percentage);
  if (percentage == 0) share = nodes / 125 >= 45 ? 5 : 50 - nodes / 125;
  return std::max(kLeast, nodes * share / 100);
}

struct KubeCycle::ProfileState {
  ProfileState(Profile* of, const ClusterState* cluster, const KubeCycleOptions& options)
      : profile(of), cache(of, cluster, options.use_cache, options.cache_bytes) {
    for (const PreFilterPlugin* plugin : of->pre_filters()) {
      uint64_t bits = 0;
      for (size_t f = 0; f < of->filters().size(); ++f) {
        const Plugin* const filter = of->filters()[f].plugin;
        if (filter == static_cast<const Plugin*>(plugin)) bits |= uint64_t{1} << f;
      }
      filters_of_pre.push_back(bits);
    }
    for (const ScorePlugin* plugin : of->pre_scores()) {
      uint64_t bits = 0;
      for (size_t p = 0; p < of->scores().size(); ++p) {
        if (of->scores()[p].plugin == plugin) bits |= uint64_t{1} << p;
      }
      scores_of_pre.push_back(bits);
    }
    for (BindPlugin* const plugin : of->binds()) {
      if (dynamic_cast<const ExtenderBinder*>(static_cast<Plugin*>(plugin)) == nullptr) continue;
      by_extender = of->ReasonOf(plugin, kRejectedByExtender);
    }
  }

  Profile* profile;
  VerdictCache cache;
  // The places of the same plugins at Filter and Score, as bits, by place at PreFilter and
  // PreScore.
  std::vector<uint64_t> filters_of_pre;
  std::vector<uint64_t> scores_of_pre;
  ReasonIndex by_extender = kFits;  // of nodes that extenders reject; kFits: not listed
};

// One attempt, and scratch that outlives it to avoid allocation.
struct KubeCycle::Attempt {
  void Begin(ProfileState* of, const PodContext& context, bool message, AttemptDetail* details) {
    state = of;
    profile = of->profile;
    pod = &context;
    wants_message = message;
    detail = details;
    result = AttemptResult();
    filters.reset();
    column = nullptr;
    skipped_filters = 0;
    pre_filters_run = 0;
    pre_rejection.reset();
    pre_reason = kFits;
    has_subset = false;
    naming.clear();
    restrictions.clear();
    restricts = false;
    nominated_rejection.reset();
    stopped = false;
    feasible.clear();
    rejected.clear();
    statuses.clear();
    rejected_by_extenders = 0;
    parts.clear();
    in_parts = 0;
    domain_scores.plugin = nullptr;
    skipped_scores = 0;
  }

  bool wants_texts() const { return wants_message || detail != nullptr; }
  const AttemptFilters& Filters(ClusterState* cluster, const Nominator* nominator) {
    if (!filters.has_value()) {
      filters.emplace(profile, cluster, nominator, *pod, skipped_filters, wants_texts());
    }
    return *filters;
  }

  ProfileState* state = nullptr;
  Profile* profile = nullptr;
  const PodContext* pod = nullptr;
  bool wants_message = false;
  AttemptDetail* detail = nullptr;
  AttemptResult result;
  std::optional<AttemptFilters> filters;
  VerdictCache::Column* column = nullptr;

  // PreFilter.
  uint64_t skipped_filters = 0;  // by place in the profile
  size_t pre_filters_run = 0;
  std::optional<NodeStatus> pre_rejection;
  ReasonIndex pre_reason = kFits;  // of the profile; kFits: of no list
  bool has_subset = false;
  std::vector<NodeId> subset;         // ascending
  std::vector<const Plugin*> naming;  // that gave subsets
  std::vector<NodeRestriction> restrictions;
  bool restricts = false;

  // Filter.
  absl::Span<const NodeId> nodes;  // to be searched
  std::vector<NodeId> listed;
  size_t to_find = 0;
  bool stopped = false;  // one more than enough is feasible
  std::vector<NodeId> feasible;
  std::vector<RejectedNode> rejected;
  std::vector<NodeStatus> statuses;  // of some of `rejected`
  uint32_t rejected_by_extenders = 0;
  std::optional<RejectedNode> nominated_rejection;

  // Score.
  uint64_t skipped_scores = 0;
  std::vector<int64_t> totals;  // beside `feasible`
  std::vector<int64_t> scores;
  std::vector<NodeId> best;

  // The feasible nodes of a search by blocks, in its order; bits as in VerdictCache::Column.
  struct BlockPart {
    size_t block;
    uint64_t nodes;
  };
  std::vector<BlockPart> parts;
  size_t in_parts = 0;  // how many
  // A score that depends on the topology domain alone: asked for one feasible node of each domain.
  struct DomainScores {
    ScorePlugin* plugin = nullptr;
    uint64_t places = 0;               // in the profile
    absl::Span<const uint64_t> words;  // DomainBlocks::WordsOf
    size_t per_block = 0;
    std::vector<NodeId> nodes;
    std::vector<uint32_t> domains;  // beside `nodes`
    std::vector<int64_t> sums;      // beside `nodes`: weighted
    std::vector<int64_t> scores;
  };
  DomainScores domain_scores;
  std::vector<DomainLimit> limits;

  std::vector<NodeId> found;  // never shrinks
  // Scratch for one chunk of nodes.
  std::vector<NodeId> chunk;
  std::vector<ReasonIndex> verdicts;
  std::vector<uint32_t> verdict_status;
  std::vector<NodeId> asked;
  std::vector<size_t> asked_places;
  std::vector<ReasonIndex> asked_verdicts;
};

KubeCycle::KubeCycle(ClusterState* cluster, const Nominator* nominator, KubeCycleOptions options,
                     uint64_t seed)
    : cluster_(cluster),
      nominator_(nominator),
      options_(options),
      domain_blocks_(cluster),
      ties_(seed, "kube ties"),
      offsets_(seed, "kube preemption"),
      attempt_(std::make_unique<Attempt>()) {}

KubeCycle::~KubeCycle() = default;

KubeCycle::ProfileState& KubeCycle::StateOf(Profile* profile) {
  for (const std::unique_ptr<ProfileState>& state : states_) {
    if (state->profile == profile) return *state;
  }
  states_.push_back(std::make_unique<ProfileState>(profile, cluster_, options_));
  return *states_.back();
}

// --- PreFilter ---

// False: the pod is rejected, or a plugin failed.
bool KubeCycle::RunPreFilters(Attempt* a) {
  const std::vector<PreFilterPlugin*>& plugins = a->profile->pre_filters();
  const auto reject = [&](const Plugin* plugin, StepCode code, std::string text,
                          ReasonIndex local = kFits) {
    a->pre_rejection = NodeStatus{plugin, code, {std::move(text)}, NodeId()};
    a->pre_reason = a->profile->ReasonOf(plugin, local);
  };
  for (size_t i = 0; i < plugins.size(); ++i) {
    PreFilterPlugin& plugin = *plugins[i];
    StepResult step = plugin.PreFilter(*a->pod, *cluster_);
    ++a->pre_filters_run;
    if (step.code == StepCode::kSkip) {
      a->skipped_filters |= a->state->filters_of_pre[i];
      if (a->detail != nullptr) a->detail->skipped_filters.push_back(&plugin);
      continue;
    }
    // A rejection that is not final is remembered, and the other plugins are asked as well.
    if (step.code == StepCode::kReject) {
      reject(&plugin, step.code, MessageOf(plugin, step), step.reason);
      continue;
    }
    if (step.code == StepCode::kUnresolvable) {
      reject(&plugin, step.code, MessageOf(plugin, step), step.reason);
      a->naming.clear();
      return false;
    }
    if (step.code != StepCode::kSuccess) {
      a->result.outcome = AttemptResult::Outcome::kError;
      a->result.message = absl::StrCat("running PreFilter plugin \"", plugin.name(),
                                       "\": ", MessageOf(plugin, step));
      return false;
    }
    if (!step.names_nodes) continue;
    a->naming.push_back(&plugin);
    if (!std::exchange(a->has_subset, true)) {
      a->subset = std::move(step.nodes);
      continue;
    }
    std::vector<NodeId> both;
    std::set_intersection(a->subset.begin(), a->subset.end(), step.nodes.begin(), step.nodes.end(),
                          std::back_inserter(both));
    a->subset = std::move(both);
    if (!a->subset.empty()) continue;
    reject(
        nullptr, StepCode::kUnresolvable,
        absl::StrCat("node(s) didn't satisfy plugin(s) ", NamesText(a->naming), " simultaneously"));
    return false;
  }
  return !a->pre_rejection.has_value();
}

// --- Filter ---

// True: the node that preemption chose for the pod takes it.
bool KubeCycle::TryNominatedNode(Attempt* a) {
  if (!a->pod->pod.valid() || nominator_->empty()) return false;
  const NodeId node = nominator_->NodeOf(a->pod->pod);
  if (!node.valid() || !cluster_->node(node).available) return false;
  NodeStatus why;
  ReasonIndex reason = a->Filters(cluster_, nominator_).Judge(node, &why);
  // As upstream, an error here means no more than that the node is not taken.
  if (reason == AttemptFilters::kFailed) return false;
  for (const NodeRestriction& restriction : a->restrictions) {
    if (reason == kFits && !restriction.Passes(node)) reason = kNotAsked;
  }
  if (reason == kFits) {
    a->feasible.push_back(node);
    return true;
  }
  RejectedNode& rejection = a->nominated_rejection.emplace(RejectedNode{node, reason, 0});
  if (reason == kNotAsked) return false;
  a->statuses.push_back(std::move(why));
  rejection.status = static_cast<uint32_t>(a->statuses.size());
  return false;
}

void KubeCycle::ListNodes(Attempt* a) {
  const absl::Span<const NodeId> all = cluster_->node_order();
  a->nodes = all;
  if (a->has_subset) {
    a->listed.clear();
    for (const NodeId node : a->subset) {
      if (cluster_->node(node).available) a->listed.push_back(node);
    }
    // The order decides only where some nodes are not visited.
    if (a->listed.size() > NodesToFind(a->profile->percentage_of_nodes(), a->listed.size())) {
      a->listed.clear();
      for (const NodeId node : all) {
        if (std::binary_search(a->subset.begin(), a->subset.end(), node)) a->listed.push_back(node);
      }
    }
    a->nodes = a->listed;
  }
  a->to_find = a->profile->scores().empty() && !extenders_narrow_
                   ? 1
                   : NodesToFind(a->profile->percentage_of_nodes(), a->nodes.size());
}

// The verdicts of the nodes in `chunk`, where they do not follow from single nodes alone. Plain
// pointers: these are inner loops.
void KubeCycle::JudgeChunk(Attempt* a) {
  VerdictCache& cache = a->state->cache;
  const size_t n = a->chunk.size();
  a->verdicts.resize(n);
  const NodeId* const chunk = a->chunk.data();
  ReasonIndex* const verdicts = a->verdicts.data();
  const ReasonIndex* const known = a->column->verdict.data();
  const auto look_up = [&] {
    bool all_known = true;
    for (size_t i = 0; i < n; ++i) {
      verdicts[i] = known[chunk[i].value()];
      all_known &= verdicts[i] != kNotAsked;
    }
    return all_known;
  };
  if (!look_up()) {
    cache.AskVerdicts(*a->pod, a->chunk, a->column);
    look_up();
  }
  const uint64_t asked = cache.cluster_filters() & ~a->skipped_filters;
  const std::vector<Profile::FilterEntry>& filters = a->profile->filters();
  a->asked_verdicts.resize(n);
  ReasonIndex* const answers = a->asked_verdicts.data();
  const uint8_t* const filter_of = cache.filter_of();
  for (size_t f = 0; asked >> f != 0; ++f) {
    if ((asked >> f & 1) == 0) continue;
    // A node that an earlier filter rejects is not asked about: it has an answer.
    for (size_t i = 0; i < n; ++i) answers[i] = filter_of[verdicts[i]] > f ? kFits : kNotAsked;
    filters[f].plugin->AskFilter(*a->pod, *cluster_, a->chunk, absl::MakeSpan(a->asked_verdicts));
    const ReasonIndex base = filters[f].reason_base;
    for (size_t i = 0; i < n; ++i) {
      const ReasonIndex answer = answers[i];
      const bool rejects = answer != kFits && answer != kNotAsked;
      verdicts[i] = rejects ? static_cast<ReasonIndex>(base + answer) : verdicts[i];
    }
  }
  const bool any_nominated = !nominator_->empty();
  a->verdict_status.clear();
  if (!any_nominated && !a->restricts) return;
  a->verdict_status.resize(n);
  for (size_t i = 0; i < n; ++i) {
    const NodeId node = a->chunk[i];
    if (any_nominated && a->Filters(cluster_, nominator_).HasNominees(node)) {
      NodeStatus why;
      a->verdicts[i] = a->filters->Judge(node, &why);
      if (a->verdicts[i] != kFits) {
        a->statuses.push_back(std::move(why));
        a->verdict_status[i] = static_cast<uint32_t>(a->statuses.size());
      }
    }
    for (const NodeRestriction& restriction : a->restrictions) {
      if (a->verdicts[i] == kFits && !restriction.Passes(node)) a->verdicts[i] = kNotAsked;
    }
  }
}

// The nodes of the chunk, with their verdicts.
void KubeCycle::VisitChunk(Attempt* a) {
  const size_t room = a->to_find - a->feasible.size();
  if (a->found.size() < a->to_find) a->found.resize(a->to_find);
  const size_t n = a->chunk.size();
  const NodeId* const chunk = a->chunk.data();
  const ReasonIndex* const verdicts = a->verdicts.data();
  NodeId* const out = a->found.data();
  size_t found = 0;
  for (size_t i = 0; i < n; ++i) {
    if (verdicts[i] != kFits) {
      const uint32_t status = a->verdict_status.empty() ? 0 : a->verdict_status[i];
      a->rejected.push_back({chunk[i], verdicts[i], status});
    } else if (found == room) {
      a->stopped = true;
      break;
    } else {
      out[found++] = chunk[i];
    }
  }
  a->feasible.insert(a->feasible.end(), out, out + found);
}

// Visits the nodes from `place` on, as far as single nodes decide: `count` of them, or up to the
// first without a known verdict. Returns their number. Plain pointers: this is the innermost loop.
size_t KubeCycle::VisitKnown(Attempt* a, size_t place, size_t count) {
  const size_t before = a->feasible.size();
  const size_t room = a->to_find - before;
  if (a->found.size() < a->to_find) a->found.resize(a->to_find);
  const size_t n = a->nodes.size();
  const NodeId* const nodes = a->nodes.data();
  const ReasonIndex* const known = a->column->verdict.data();
  NodeId* const out = a->found.data();
  size_t found = 0;
  size_t visited = 0;
  while (visited < count) {
    // Mostly, one node after the other fits.
    const size_t most = std::min({count - visited, n - place, room - found});
    size_t run = 0;
    for (; run < most; ++run) {
      const NodeId node = nodes[place + run];
      if (known[node.value()] != kFits) break;
      out[found + run] = node;
    }
    found += run;
    visited += run;
    place = place + run == n ? 0 : place + run;
    if (visited == count) break;
    const NodeId node = nodes[place];
    const ReasonIndex verdict = known[node.value()];
    if (verdict == kNotAsked) break;
    if (verdict == kFits) {
      if (found < room) continue;
      a->stopped = true;
      break;
    }
    a->rejected.push_back({node, verdict, 0});
    ++visited;
    if (++place == n) place = 0;
  }
  a->feasible.insert(a->feasible.end(), out, out + found);
  return visited;
}

// Whether the nodes can be searched by blocks: all of them, verdicts being remembered, if nothing
// but filters has a say and nobody wants to know about single nodes. Decisions are the same.
bool KubeCycle::GoesByBlocks(const Attempt& a) const {
  return options_.use_cache && a.detail == nullptr && !a.has_subset && a.restrictions.empty() &&
         a.to_find > 1 && nominator_->empty() && extenders_.empty();
}

// Narrows `fits` to the nodes that `filters` of Reach::kCluster accept.
uint64_t KubeCycle::JudgeBlock(const Attempt& a, size_t block, uint64_t fits,
                               uint64_t filters) const {
  std::array<ReasonIndex, kBlock> verdicts;
  SpreadBits(fits, verdicts.data());
  const absl::Span<const NodeId> nodes = a.nodes.subspan(block * kBlock, kBlock);
  for (; filters != 0; filters &= filters - 1) {
    const auto f = static_cast<size_t>(std::countr_zero(filters));
    a.profile->filters()[f].plugin->AskFilter(*a.pod, *cluster_, nodes,
                                              absl::MakeSpan(verdicts.data(), nodes.size()));
  }
  return GatherBits(verdicts.data());
}

// Returns the number of nodes visited; 0 if no node is feasible: Search then finds out why. Else
// `parts` is set; ListParts makes a list of them where one is needed.
uint64_t KubeCycle::SearchBlocks(Attempt* a) {
  VerdictCache& cache = a->state->cache;
  VerdictCache::Column& column = *a->column;
  uint64_t filters = cache.cluster_filters() & ~a->skipped_filters;
  domain_blocks_.Begin();
  for (uint64_t left = filters; left != 0; left &= left - 1) {
    const auto f = static_cast<size_t>(std::countr_zero(left));
    a->limits.clear();
    const size_t before = domain_blocks_.limits();
    const bool told = a->profile->filters()[f].plugin->ListLimits(&a->limits) &&
                      std::all_of(a->limits.begin(), a->limits.end(),
                                  [&](const DomainLimit& l) { return domain_blocks_.Add(l); });
    if (told) {
      filters &= ~(uint64_t{1} << f);
    } else {
      domain_blocks_.KeepFirst(before);
    }
  }
  const size_t n = a->nodes.size();
  a->parts.clear();
  size_t found = 0;
  size_t done = 0;
  while (done < n) {
    const size_t place = (start_ + done) % n;
    const size_t block = place / kBlock;
    const size_t first = place % kBlock;
    const size_t count = std::min({kBlock - first, n - place, n - done});
    const uint64_t wanted = ~uint64_t{0} >> (kBlock - count) << first;
    if ((column.unknown[block] & wanted) != 0) {
      a->chunk.clear();
      for (uint64_t left = column.unknown[block] & wanted; left != 0; left &= left - 1) {
        const auto at = static_cast<size_t>(std::countr_zero(left));
        a->chunk.push_back(a->nodes[block * kBlock + at]);
      }
      cache.AskVerdicts(*a->pod, a->chunk, &column);
    }
    uint64_t fits = column.fits[block] & wanted & domain_blocks_.Passing(block);
    if (filters != 0 && fits != 0) fits = JudgeBlock(*a, block, fits, filters);
    const auto more = static_cast<size_t>(std::popcount(fits));
    // One more than enough ends the search; the next one begins there.
    const bool ends = found + more > a->to_find;
    if (ends) {
      uint64_t late = fits;
      for (size_t i = found; i < a->to_find; ++i) late &= late - 1;
      const int end = std::countr_zero(late);
      fits &= (uint64_t{1} << end) - 1;
      done += static_cast<size_t>(end) - first;
      found = a->to_find;
    } else {
      done += count;
      found += more;
    }
    if (fits != 0) a->parts.push_back({block, fits});
    if (ends) break;
  }
  a->in_parts = found;
  return found == 0 ? 0 : done;
}

void KubeCycle::ListParts(Attempt* a) {
  if (!a->feasible.empty()) return;
  a->feasible.resize(a->in_parts);
  NodeId* out = a->feasible.data();
  for (const Attempt::BlockPart& part : a->parts) {
    const NodeId* const nodes = a->nodes.data() + part.block * kBlock;
    for (uint64_t left = part.nodes; left != 0; left &= left - 1) {
      *out++ = nodes[std::countr_zero(left)];
    }
  }
}

// The search goes on after enough nodes, until it meets one more that is feasible: the next attempt
// begins there.
void KubeCycle::Search(Attempt* a) {
  const size_t n = a->nodes.size();
  VerdictCache& cache = a->state->cache;
  const bool single =
      (cache.cluster_filters() & ~a->skipped_filters) == 0 && !a->restricts && nominator_->empty();
  size_t done = 0;
  while (done < n && !a->stopped) {
    size_t place = (start_ + done) % n;
    if (single) {
      done += VisitKnown(a, place, n - done);
      if (done == n || a->stopped) return;
      place = (start_ + done) % n;
    }
    const size_t wanted = a->to_find + 1 - a->feasible.size();
    const size_t count = std::min(n - done, std::clamp(wanted, kSmallestChunk, kLargestChunk));
    a->chunk.clear();
    if (single) {
      // Single changed nodes lie far apart; in a new column, all are unknown.
      for (size_t i = 0; i < count; ++i) {
        const NodeId node = a->nodes[place];
        if (a->column->verdict[node.value()] != kNotAsked) break;
        a->chunk.push_back(node);
        if (++place == n) place = 0;
      }
    } else {
      const NodeId* const nodes = a->nodes.data();
      const size_t to_end = std::min(count, n - place);
      a->chunk.insert(a->chunk.end(), nodes + place, nodes + place + to_end);
      a->chunk.insert(a->chunk.end(), nodes, nodes + (count - to_end));
    }
    if (single) {
      cache.AskVerdicts(*a->pod, a->chunk, a->column);
      continue;
    }
    JudgeChunk(a);
    VisitChunk(a);
    done += count;
  }
}

// The search with a filter that cannot be asked (Profile::unprepared_filters): a node either fails
// earlier, or fails the attempt. False: it did the latter.
bool KubeCycle::SearchUnprepared(Attempt* a) {
  const AttemptFilters& filters = a->Filters(cluster_, nominator_);
  const size_t n = a->nodes.size();
  for (size_t i = 0; i < n; ++i) {
    const NodeId node = a->nodes[(start_ + i) % n];
    NodeStatus why;
    const ReasonIndex reason = filters.Judge(node, &why);
    if (reason == AttemptFilters::kFailed) {
      a->result.outcome = AttemptResult::Outcome::kError;
      a->result.message = why.reasons[0];
      return false;
    }
    a->statuses.push_back(std::move(why));
    a->rejected.push_back({node, reason, static_cast<uint32_t>(a->statuses.size())});
  }
  return true;
}

// A nominated node that failed, and was not visited again, keeps its status.
void KubeCycle::CountNominatedNode(Attempt* a) {
  if (!a->nominated_rejection.has_value()) return;
  const NodeId node = a->nominated_rejection->node;
  for (const RejectedNode& rejected : a->rejected) {
    if (rejected.node == node) return;
  }
  a->rejected.push_back(*a->nominated_rejection);
}

// --- Extenders ---

void KubeCycle::set_extenders(std::vector<Extender*> extenders) {
  extenders_ = std::move(extenders);
  extenders_narrow_ = std::any_of(extenders_.begin(), extenders_.end(), [](const Extender* e) {
    return e->filters() || e->prioritizes();
  });
}

// The node's status from now on. A plugin that rejected it before is still remembered.
void KubeCycle::SetStatus(Attempt* a, ExtenderVerdict::Failure&& failure) {
  const StepCode code = failure.unresolvable ? StepCode::kUnresolvable : StepCode::kReject;
  a->statuses.push_back(NodeStatus{nullptr, code, {std::move(failure.message)}, failure.node});
  const auto status = static_cast<uint32_t>(a->statuses.size());
  for (RejectedNode& rejected : a->rejected) {
    if (rejected.node != failure.node) continue;
    rejected.status = status;
    return;
  }
  a->rejected.push_back({failure.node, kNotAsked, status});
}

// Narrows the feasible nodes, one extender after the other (upstream's findNodesThatPassExtenders).
absl::Status KubeCycle::RunExtenderFilters(Attempt* a) {
  for (Extender* extender : extenders_) {
    if (a->feasible.empty()) break;
    if (!extender->filters() || !extender->IsInterested(a->pod->pod)) continue;
    ++a->result.extender_waits;
    absl::StatusOr<ExtenderVerdict> verdict = extender->Filter(a->pod->pod, a->feasible);
    if (!verdict.ok()) {
      if (extender->ignorable()) continue;
      return verdict.status();
    }
    for (ExtenderVerdict::Failure& failure : verdict->failures) SetStatus(a, std::move(failure));
    a->feasible = std::move(verdict->passed);
  }
  return absl::OkStatus();
}

// As upstream, errors mean no more than that the node is not taken.
bool KubeCycle::NominatedPassesExtenders(Attempt* a) {
  const NodeId node = a->feasible[0];
  if (!RunExtenderFilters(a).ok()) a->feasible.clear();
  for (const RejectedNode& rejected : a->rejected) {
    if (rejected.node == node) a->nominated_rejection = rejected;
  }
  a->rejected.clear();
  return !a->feasible.empty();
}

// False: an extender failed.
bool KubeCycle::PassesExtenders(Attempt* a) {
  const size_t before = a->feasible.size();
  const absl::Status status = RunExtenderFilters(a);
  if (!status.ok()) {
    a->result.outcome = AttemptResult::Outcome::kError;
    a->result.message = std::string(status.message());
    return false;
  }
  a->result.by_extender = a->feasible.size() != before;
  a->rejected_by_extenders = static_cast<uint32_t>(before - std::min(before, a->feasible.size()));
  return true;
}

// Errors are passed over. Sums wrap around, as in Go.
void KubeCycle::AddExtenderScores(Attempt* a) {
  std::vector<uint64_t> added(cluster_->node_count());
  bool asked = false;
  for (Extender* extender : extenders_) {
    if (!extender->prioritizes() || !extender->IsInterested(a->pod->pod)) continue;
    asked = true;
    const auto scores = extender->Prioritize(a->pod->pod, a->feasible);
    if (!scores.ok()) continue;
    const auto factor = static_cast<uint64_t>(extender->weight() * kExtenderScoreFactor);
    for (const ExtenderScore& score : *scores) {
      added[score.node.value()] += static_cast<uint64_t>(score.score) * factor;
    }
  }
  if (!asked) return;
  ++a->result.extender_waits;
  const auto add = [&](absl::Span<const NodeId> nodes, std::vector<int64_t>* totals) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      int64_t& total = (*totals)[i];
      total = static_cast<int64_t>(static_cast<uint64_t>(total) + added[nodes[i].value()]);
    }
  };
  add(a->feasible, &a->totals);
  if (a->detail != nullptr) add(a->detail->feasible, &a->detail->totals);
}

// --- Score ---

// Prepares the score of one plugin by topology domain. False: it needs the feasible nodes.
bool KubeCycle::ListDomains(Attempt* a, size_t pre_score) {
  Attempt::DomainScores& out = a->domain_scores;
  if (a->in_parts == 0 || out.plugin != nullptr || options_.ties != KubeCycleOptions::Ties::kFirst)
    return false;
  ScorePlugin* const plugin = a->profile->pre_scores()[pre_score];
  const TopologyDomains* const topology = plugin->ScoredDomains(*a->pod, *cluster_);
  if (topology == nullptr) return false;
  out.words = domain_blocks_.WordsOf(*topology);
  if (out.words.empty()) return false;
  out.plugin = plugin;
  out.places = a->state->scores_of_pre[pre_score];
  out.per_block = topology->size();
  out.nodes.clear();
  out.domains.clear();
  for (uint32_t domain = 0; domain < out.per_block; ++domain) {
    for (const Attempt::BlockPart& part : a->parts) {
      const uint64_t nodes = part.nodes & out.words[part.block * out.per_block + domain];
      if (nodes == 0) continue;
      const auto at = static_cast<size_t>(std::countr_zero(nodes));
      out.nodes.push_back(a->nodes[part.block * kBlock + at]);
      out.domains.push_back(domain);
      break;
    }
  }
  return true;
}

// False: a plugin failed.
bool KubeCycle::RunPreScores(Attempt* a) {
  const std::vector<ScorePlugin*>& plugins = a->profile->pre_scores();
  for (size_t i = 0; i < plugins.size(); ++i) {
    const std::vector<NodeId>* nodes = &a->feasible;
    if (plugins[i]->PreScoreReadsNodes(*a->pod, *cluster_)) {
      if (ListDomains(a, i)) {
        nodes = &a->domain_scores.nodes;
      } else {
        ListParts(a);
      }
    }
    const StepResult step = plugins[i]->PreScore(*a->pod, *cluster_, *nodes);
    if (step.code == StepCode::kSuccess) continue;
    if (step.code != StepCode::kSkip) {
      a->result.outcome = AttemptResult::Outcome::kError;
      a->result.message = absl::StrCat("running PreScore plugin \"", plugins[i]->name(),
                                       "\": ", MessageOf(*plugins[i], step));
      return false;
    }
    a->skipped_scores |= a->state->scores_of_pre[i];
    if (a->detail != nullptr) a->detail->skipped_scores.push_back(plugins[i]);
  }
  const uint64_t unprepared = a->profile->unprepared_scores();
  if (unprepared != 0) {
    const ScorePlugin* const plugin =
        a->profile->scores()[static_cast<size_t>(std::countr_zero(unprepared))].plugin;
    a->result.outcome = AttemptResult::Outcome::kError;
    a->result.message = absl::StrCat("running Score plugins: plugin \"", plugin->name(),
                                     "\" failed with: ", plugin->WithoutPreScore());
    return false;
  }
  return true;
}

// Prepares the column. Returns the plugins (bits by place in the profile) that normalise.
uint64_t KubeCycle::ExpectScores(Attempt* a) const {
  const std::vector<Profile::ScoreEntry>& entries = a->profile->scores();
  uint64_t normalised = 0;
  for (size_t p = 0; p < entries.size(); ++p) {
    if (entries[p].plugin->normalize(*cluster_) != Normalize::kNone) normalised |= uint64_t{1} << p;
  }
  a->state->cache.ExpectScores(a->skipped_scores, normalised, a->column);
  return normalised;
}

// The weighted scores of ListDomains' plugin.
void KubeCycle::ScoreDomains(Attempt* a, uint64_t normalised) const {
  Attempt::DomainScores& out = a->domain_scores;
  out.sums.assign(out.nodes.size(), 0);
  out.scores.resize(out.nodes.size());
  const uint64_t asked = out.places & ~a->skipped_scores;
  for (uint64_t left = asked; left != 0; left &= left - 1) {
    const auto p = static_cast<size_t>(std::countr_zero(left));
    out.plugin->AskScore(*a->pod, *cluster_, out.nodes, absl::MakeSpan(out.scores));
    if ((normalised >> p & 1) != 0) {
      out.plugin->NormalizeScore(out.nodes, absl::MakeSpan(out.scores));
    }
    const int64_t weight = a->profile->scores()[p].weight;
    for (size_t i = 0; i < out.sums.size(); ++i) out.sums[i] += out.scores[i] * weight;
  }
}

// Chooses where the remembered sums and scores by domain decide. False: the scores must be added,
// node by node.
bool KubeCycle::PickByBlocks(Attempt* a) const {
  if (options_.ties != KubeCycleOptions::Ties::kFirst) return false;
  VerdictCache& cache = a->state->cache;
  VerdictCache::Column& column = *a->column;
  const uint64_t normalised = ExpectScores(a);
  a->asked.clear();
  for (const Attempt::BlockPart& part : a->parts) {
    const NodeId* const nodes = a->nodes.data() + part.block * kBlock;
    for (uint64_t left = part.nodes & column.unscored[part.block]; left != 0; left &= left - 1) {
      a->asked.push_back(nodes[std::countr_zero(left)]);
    }
  }
  if (!a->asked.empty()) cache.AskScores(*a->pod, a->asked, &column);
  // A score that is the same for all nodes decides nothing.
  uint64_t left =
      ~a->skipped_scores & ((normalised & column.mixed_scores) | ~cache.remembered_scores());
  const std::vector<Profile::ScoreEntry>& entries = a->profile->scores();
  left &= ~uint64_t{0} >> (64 - entries.size());
  Attempt::DomainScores& by_domain = a->domain_scores;
  if (by_domain.plugin != nullptr) left &= ~by_domain.places;
  for (; left != 0; left &= left - 1) {
    const auto p = static_cast<size_t>(std::countr_zero(left));
    const bool remembered = (cache.remembered_scores() >> p & 1) != 0;
    if (remembered || !entries[p].plugin->ScoresAlike(*a->pod, *cluster_)) return false;
  }
  VerdictCache::Column::Best best;
  // Considers the `members` of a part, whose totals are their sums plus `added`. `of_block` is the
  // best node of the block: none is better, and most parts contain it.
  const auto consider = [&](const Attempt::BlockPart& part, uint64_t members, int64_t added,
                            VerdictCache::Column::Best of_block) {
    of_block.sum += added;
    if (!IsBetter(of_block, best)) return;
    if (members == column.fits[part.block]) {
      best = of_block;
      return;
    }
    const NodeId* const nodes = a->nodes.data() + part.block * kBlock;
    for (uint64_t rest = members; rest != 0; rest &= rest - 1) {
      const NodeId node = nodes[std::countr_zero(rest)];
      const VerdictCache::Column::Best own = {column.sum[node.value()] + added, node};
      if (IsBetter(own, best)) best = own;
    }
  };
  if (by_domain.plugin == nullptr) {
    for (const Attempt::BlockPart& part : a->parts) {
      consider(part, part.nodes, 0, cache.BestOf(part.block, &column));
    }
  } else {
    ScoreDomains(a, normalised);
    const int64_t most = *std::max_element(by_domain.sums.begin(), by_domain.sums.end());
    for (const Attempt::BlockPart& part : a->parts) {
      const VerdictCache::Column::Best of_block = cache.BestOf(part.block, &column);
      if (!IsBetter({of_block.sum + most, of_block.node}, best)) continue;
      const uint64_t* const words = by_domain.words.data() + part.block * by_domain.per_block;
      for (size_t i = 0; i < by_domain.sums.size(); ++i) {
        const uint64_t members = part.nodes & words[by_domain.domains[i]];
        if (members != 0) consider(part, members, by_domain.sums[i], of_block);
      }
    }
  }
  a->result.node = best.node;
  return true;
}

void KubeCycle::SumScores(Attempt* a) {
  const std::vector<Profile::ScoreEntry>& entries = a->profile->scores();
  const size_t n = a->feasible.size();
  const uint64_t normalised = ExpectScores(a);
  VerdictCache& cache = a->state->cache;
  // Plain pointers: these are innermost loops.
  a->totals.resize(n);
  a->scores.resize(n);
  const NodeId* const nodes = a->feasible.data();
  int64_t* const totals = a->totals.data();
  int64_t* const scores = a->scores.data();
  const int64_t* const sums = a->column->sum.data();
  a->asked.clear();
  a->asked_places.clear();
  for (size_t i = 0; i < n; ++i) {
    totals[i] = sums[nodes[i].value()];
    if (totals[i] != VerdictCache::kNoScore) [[likely]]
      continue;
    a->asked.push_back(nodes[i]);
    a->asked_places.push_back(i);
  }
  if (!a->asked.empty()) {
    cache.AskScores(*a->pod, a->asked, a->column);
    for (const size_t i : a->asked_places) totals[i] = sums[nodes[i].value()];
  }
  const uint64_t remembered = cache.remembered_scores();
  // A score that is the same for all nodes decides nothing.
  const uint64_t left = ~a->skipped_scores & ((normalised & a->column->mixed_scores) | ~remembered);
  for (size_t p = 0; p < entries.size(); ++p) {
    if ((left >> p & 1) == 0) continue;
    if ((remembered >> p & 1) != 0) {
      const int64_t* const raw = a->column->raw[p].data();
      for (size_t i = 0; i < n; ++i) scores[i] = raw[nodes[i].value()];
    } else {
      if (entries[p].plugin->ScoresAlike(*a->pod, *cluster_)) continue;
      work_.nodes_scored += n;
      entries[p].plugin->AskScore(*a->pod, *cluster_, a->feasible, absl::MakeSpan(a->scores));
    }
    if ((normalised >> p & 1) != 0) {
      entries[p].plugin->NormalizeScore(a->feasible, absl::MakeSpan(a->scores));
    }
    const int64_t weight = entries[p].weight;
    for (size_t i = 0; i < n; ++i) totals[i] += scores[i] * weight;
  }
}

// The same without the cache, score by score.
void KubeCycle::ExplainScores(Attempt* a) {
  const size_t n = a->feasible.size();
  // The detail lists nodes in order of addition.
  std::vector<size_t> places(n);
  std::iota(places.begin(), places.end(), size_t{0});
  std::sort(places.begin(), places.end(),
            [a](size_t x, size_t y) { return a->feasible[x] < a->feasible[y]; });
  const auto sorted = [&](absl::Span<const int64_t> values, int64_t factor) {
    std::vector<int64_t> out;
    for (const size_t i : places) out.push_back(values[i] * factor);
    return out;
  };
  a->totals.assign(n, 0);
  a->scores.resize(n);
  const std::vector<Profile::ScoreEntry>& entries = a->profile->scores();
  for (size_t p = 0; p < entries.size(); ++p) {
    if ((a->skipped_scores >> p & 1) != 0) continue;
    entries[p].plugin->Score(*a->pod, *cluster_, a->feasible, absl::MakeSpan(a->scores));
    AttemptDetail::PluginScores& out = a->detail->scores.emplace_back();
    out.plugin = entries[p].plugin;
    out.weight = entries[p].weight;
    out.raw = sorted(a->scores, 1);
    if (entries[p].plugin->normalize(*cluster_) != Normalize::kNone) {
      entries[p].plugin->NormalizeScore(a->feasible, absl::MakeSpan(a->scores));
    }
    out.weighted = sorted(a->scores, out.weight);
    for (size_t i = 0; i < n; ++i) a->totals[i] += a->scores[i] * out.weight;
  }
  if (entries.empty() && extenders_.empty()) a->totals.assign(n, 1);
  a->detail->totals = sorted(a->totals, 1);
}

// The heap is never built: which index comes out on top follows from the comparisons alone (a child
// moves up, and the right one is preferred, only if it is greater).
size_t KubeCycle::HeapRoot(absl::Span<const int64_t> totals) {
  std::vector<size_t> winner(totals.size());
  for (size_t i = totals.size(); i-- > 0;) {
    winner[i] = i;
    const size_t left = 2 * i + 1;
    if (left >= totals.size()) continue;
    size_t child = winner[left];
    if (left + 1 < totals.size() && totals[winner[left + 1]] > totals[child]) {
      child = winner[left + 1];
    }
    if (totals[child] > totals[i]) winner[i] = child;
  }
  return winner[0];
}

NodeId KubeCycle::PickBest(Attempt* a) {
  const size_t n = a->feasible.size();
  const NodeId* const nodes = a->feasible.data();
  const int64_t* const totals = a->totals.data();
  size_t best = 0;
  int64_t best_total = totals[0];
  for (size_t i = 1; i < n; ++i) {
    if (totals[i] < best_total) continue;
    if (totals[i] == best_total && nodes[i] > nodes[best]) continue;
    best = i;
    best_total = totals[i];
  }
  if (options_.ties == KubeCycleOptions::Ties::kFirst && a->detail == nullptr) {
    return a->feasible[best];
  }
  a->best.clear();
  for (size_t i = 0; i < n; ++i) {
    if (a->totals[i] == a->totals[best]) a->best.push_back(a->feasible[i]);
  }
  NodeId chosen = a->feasible[best];
  if (options_.ties == KubeCycleOptions::Ties::kHeapRoot) {
    chosen = a->feasible[HeapRoot(absl::MakeConstSpan(a->totals).first(n))];
  }
  if (options_.ties == KubeCycleOptions::Ties::kRandom && a->best.size() > 1) {
    chosen = a->best[static_cast<size_t>(ties_.Below(a->best.size()))];
  }
  if (a->detail != nullptr) {
    a->detail->best = a->best;
    std::sort(a->detail->best.begin(), a->detail->best.end());
  }
  return chosen;
}

// False: a plugin failed.
bool KubeCycle::PickNode(Attempt* a) {
  if (a->in_parts == 1) ListParts(a);
  if (a->feasible.size() == 1) {
    a->result.node = a->feasible[0];
    if (a->detail != nullptr) a->detail->best = a->feasible;
  } else {
    // As upstream: without scores, nothing is prepared.
    const bool scores = !a->profile->scores().empty();
    if ((scores || !extenders_.empty()) && !RunPreScores(a)) return false;
    if (a->in_parts > 0 && PickByBlocks(a)) {
      a->result.outcome = AttemptResult::Outcome::kFound;
      return true;
    }
    ListParts(a);
    // Prepared for some nodes so far.
    if (ScorePlugin* const plugin = a->domain_scores.plugin; plugin != nullptr) {
      plugin->PreScore(*a->pod, *cluster_, a->feasible);
    }
    if (a->detail != nullptr) {
      ExplainScores(a);
    } else if (scores) {
      SumScores(a);
    } else {
      a->totals.assign(a->feasible.size(), extenders_.empty() ? 1 : 0);
    }
    if (!extenders_.empty()) AddExtenderScores(a);
    a->result.node = PickBest(a);
  }
  a->result.outcome = AttemptResult::Outcome::kFound;
  return true;
}

// --- Failure ---

// The reasons of nodes that a restriction keeps out are asked for once nothing is left.
void KubeCycle::ExplainRestrictions(Attempt* a) {
  if (!a->restricts) return;
  std::vector<RejectedNode*> kept_out;
  for (RejectedNode& rejected : a->rejected) {
    if (rejected.reason == kNotAsked && rejected.status == 0) kept_out.push_back(&rejected);
  }
  std::sort(kept_out.begin(), kept_out.end(),
            [](const RejectedNode* x, const RejectedNode* y) { return x->node < y->node; });
  for (RejectedNode* rejected : kept_out) {
    for (NodeRestrictionPlugin* plugin : a->profile->restrictions()) {
      const ReasonIndex local = plugin->WhyRestricted(*a->pod, rejected->node);
      if (local == kFits) continue;
      NodeStatus status{plugin, StepCode::kUnresolvable, {}, rejected->node};
      const ReasonIndex reason = a->profile->ReasonOf(plugin, local);
      status.reasons.push_back(a->profile->reasons()[reason - size_t{1}]);
      a->statuses.push_back(std::move(status));
      rejected->reason = reason;
      rejected->status = static_cast<uint32_t>(a->statuses.size());
      break;
    }
  }
}

uint64_t KubeCycle::RejectorsOf(const Attempt& a) {
  uint64_t rejectors = 0;
  const auto add = [&](const Plugin* plugin) {
    rejectors |= uint64_t{1} << a.profile->RequeueIndex(plugin);
  };
  for (const Plugin* plugin : a.naming) add(plugin);
  if (a.pre_rejection.has_value()) {
    if (a.pre_rejection->plugin != nullptr) add(a.pre_rejection->plugin);
    return rejectors;
  }
  std::vector<bool> seen(size_t{kNotAsked} + 1);
  for (const RejectedNode& rejected : a.rejected) seen[rejected.reason] = true;
  // A nominated node that was visited again has another status now, but its first rejector stays.
  if (a.nominated_rejection.has_value()) seen[a.nominated_rejection->reason] = true;
  const std::vector<Profile::FilterEntry>& filters = a.profile->filters();
  for (size_t reason = 1; reason < kNotAsked; ++reason) {
    if (!seen[reason]) continue;
    const size_t f = a.state->cache.filter_of()[reason];
    DRASIM_CHECK_LT(f, filters.size());
    add(filters[f].plugin);
  }
  return rejectors;
}

void KubeCycle::CountRejections(Attempt* a) const {
  std::array<uint32_t, size_t{kNotAsked} + 1> counts{};
  for (const RejectedNode& rejected : a->rejected) ++counts[rejected.reason];
  if (a->pre_rejection.has_value()) {
    counts[a->pre_reason] += static_cast<uint32_t>(cluster_->node_order().size());
  }
  // An extender that passes no node need not name those that it rejects.
  counts[a->state->by_extender] += a->rejected_by_extenders;
  for (size_t reason = 1; reason < kNotAsked; ++reason) {
    if (counts[reason] == 0) continue;
    a->result.rejected.emplace_back(static_cast<ReasonIndex>(reason), counts[reason]);
  }
}

NodeStatus KubeCycle::StatusOf(const Attempt& a, const RejectedNode& rejected) {
  if (rejected.status != 0) return a.statuses[rejected.status - size_t{1}];
  if (rejected.reason == kNotAsked) return {nullptr, StepCode::kUnresolvable, {}, rejected.node};
  return a.filters->StatusOf(rejected.node, rejected.reason);
}

std::string KubeCycle::SubsetText(const Attempt& a) {
  return absl::StrCat("node(s) didn't satisfy plugin(s) ", NamesText(a.naming));
}

std::string KubeCycle::FitErrorOf(const Attempt& a) const {
  const size_t all = cluster_->node_order().size();
  FitError error(all);
  if (a.pre_rejection.has_value()) {
    error.set_pre_filter(a.pre_rejection->reasons[0]);
    return error.Text();
  }
  for (const RejectedNode& rejected : a.rejected) {
    for (const std::string& reason : StatusOf(a, rejected).reasons) error.Add(reason);
  }
  if (a.has_subset) error.Add(SubsetText(a), static_cast<int64_t>(all - a.rejected.size()));
  return error.Text();
}

// Asks PostFilter plugins in turn (upstream's RunPostFilterPlugins).
void KubeCycle::RunPostFilters(Attempt* a) {
  PostFilterResult& result = a->result.post_filter;
  result.keeps_nomination = true;
  const std::vector<PostFilterPlugin*>& plugins = a->profile->post_filters();
  if (!runs_post_filter_ || plugins.empty() || !a->pod->pod.valid()) return;
  // No reader wants the reasons, and there is no nomination that could be lost.
  if (jobs_ != nullptr && !a->wants_texts() && !nominator_->NodeOf(a->pod->pod).valid()) {
    const int32_t priority = cluster_->pod_priority(a->pod->pod);
    const auto may_help = [&](const PostFilterPlugin* plugin) {
      return plugin->PostFilterMayHelp(priority, *jobs_);
    };
    if (std::none_of(plugins.begin(), plugins.end(), may_help)) return;
  }
  PreemptionReport report;
  FailedSearch failed;
  failed.pod = a->pod;
  failed.profile = a->profile;
  failed.filters = &a->Filters(cluster_, nominator_);
  failed.rejected = a->rejected;
  failed.statuses = a->statuses;
  failed.all_resolvable =
      a->pre_rejection.has_value() && a->pre_rejection->code == StepCode::kReject;
  failed.pre_filters_run = a->pre_filters_run;
  failed.wants_texts = a->wants_texts();
  failed.report = a->detail == nullptr ? nullptr : &report;
  PostFilterOptions options;
  options.jobs = jobs_;
  options.control = control_;
  options.offsets = options_.ties == KubeCycleOptions::Ties::kRandom ? &offsets_ : nullptr;
  options.tries_all = options_.tries_all;
  options.extenders = extenders_;
  options.extender_waits = &a->result.extender_waits;
  KubePostFilter handle(failed, options, nominator_, cluster_);
  std::vector<std::string> messages;
  size_t next = 0;
  for (bool ended = false; next < plugins.size() && !ended; ++next) {
    PostFilterResult step = plugins[next]->PostFilter(*a->pod, handle);
    if (step.code == StepCode::kReject) {
      if (!step.message.empty()) messages.push_back(std::move(step.message));
      if (!step.keeps_nomination) result = std::move(step);
      continue;
    }
    ended = true;
    messages = {std::move(step.message)};
    if (step.code == StepCode::kError) step.keeps_nomination = true;
    result = std::move(step);
  }
  result.message = absl::StrJoin(messages, ", ");
  if (a->detail == nullptr) return;
  // Find out what preemption would have done, although an earlier plugin ended the chain.
  options.offsets = nullptr;
  options.extenders = {};
  for (; next < plugins.size() && !report.ran; ++next) {
    KubePostFilter aside(failed, options, nominator_, cluster_);
    plugins[next]->PostFilter(*a->pod, aside);
  }
  AttemptDetail& detail = *a->detail;
  detail.ran_post_filter = true;
  detail.preemption_ran = report.ran;
  detail.preemption_eligible = report.eligible;
  detail.not_eligible = std::move(report.not_eligible);
  detail.potential = std::move(report.potential);
  detail.candidates = std::move(report.candidates);
  detail.rejected = std::move(report.rejected);
  detail.best_candidates = std::move(report.best);
  SortByNode(&detail.candidates);
  SortByNode(&detail.rejected);
  std::sort(detail.potential.begin(), detail.potential.end());
  std::sort(detail.best_candidates.begin(), detail.best_candidates.end());
}

void KubeCycle::Fail(Attempt* a) {
  a->result.outcome = AttemptResult::Outcome::kUnschedulable;
  a->Filters(cluster_, nominator_);
  ExplainRestrictions(a);
  a->result.rejectors = RejectorsOf(*a);
  CountRejections(a);
  if (a->detail != nullptr) DescribeSearch(a);
  if (a->wants_message) a->result.message = FitErrorOf(*a);
  RunPostFilters(a);
  if (!a->wants_message || a->result.post_filter.message.empty()) return;
  absl::StrAppend(&a->result.message, " ", a->result.post_filter.message);
}

// --- Detail ---

void KubeCycle::DescribeSearch(Attempt* a) {
  AttemptDetail& detail = *a->detail;
  a->Filters(cluster_, nominator_);
  detail.feasible = a->feasible;
  std::sort(detail.feasible.begin(), detail.feasible.end());
  if (a->pre_rejection.has_value()) detail.pre_filter_message = a->pre_rejection->reasons[0];
  if (detail.via_nominated_node) return;
  std::vector<bool> known(cluster_->node_count());
  for (const NodeId node : a->feasible) known[node.value()] = true;
  for (const RejectedNode& rejected : a->rejected) {
    known[rejected.node.value()] = true;
    detail.infeasible.push_back(StatusOf(*a, rejected));
  }
  SortByNode(&detail.infeasible);
  for (const NodeId node : cluster_->node_order()) {
    if (known[node.value()]) continue;
    NodeStatus status{nullptr, StepCode::kUnresolvable, {}, node};
    if (a->pre_rejection.has_value()) {
      status = *a->pre_rejection;
      status.node = node;
    } else if (a->has_subset) {
      status.reasons.push_back(SubsetText(*a));
    }
    detail.absent.push_back(std::move(status));
  }
  SortByNode(&detail.absent);
  detail.visited_all = !a->stopped;
}

// --- The attempt ---

AttemptResult KubeCycle::Schedule(Profile* profile, const PodContext& pod, bool wants_message,
                                  AttemptDetail* detail) {
  Attempt* const a = attempt_.get();
  if (detail != nullptr) *detail = AttemptDetail();
  a->Begin(&StateOf(profile), pod, wants_message, detail);
  ++work_.decisions;
  const size_t all = cluster_->node_order().size();
  if (all == 0) {
    if (wants_message) a->result.message = "no nodes available to schedule pods";
    return std::move(a->result);
  }
  if (detail != nullptr) {
    detail->reached_filter = true;
    detail->start = start_;
    detail->next_start = start_;
  }
  if (!RunPreFilters(a)) {
    if (a->result.outcome != AttemptResult::Outcome::kError) Fail(a);
    return std::move(a->result);
  }
  for (NodeRestrictionPlugin* plugin : profile->restrictions()) {
    a->restrictions.push_back(plugin->Restriction(pod));
    a->restricts |= a->restrictions.back().restricts();
  }
  a->column = &a->state->cache.Find(pod, a->skipped_filters);
  bool nominated = TryNominatedNode(a);
  if (nominated && !extenders_.empty()) nominated = NominatedPassesExtenders(a);
  if (!nominated) {
    ListNodes(a);
    const uint64_t asked = a->state->cache.nodes_filtered();
    const bool failed = profile->unprepared_filters() != 0 && !SearchUnprepared(a);
    uint64_t visited = 0;
    if (profile->unprepared_filters() == 0 && GoesByBlocks(*a)) visited = SearchBlocks(a);
    if (visited == 0) {
      if (profile->unprepared_filters() == 0) Search(a);
      visited = a->feasible.size() + a->rejected.size();
    }
    // The last nodes that were asked about may lie behind the end of the search.
    work_.cache_hits += visited - std::min(visited, a->state->cache.nodes_filtered() - asked);
    const size_t rejected = a->rejected.size();
    CountNominatedNode(a);
    visited += a->rejected.size() - rejected;
    start_ = (start_ + visited) % all;
    if (failed) {
      if (detail != nullptr) detail->next_start = start_;
      return std::move(a->result);
    }
  }
  if (detail != nullptr) {
    detail->via_nominated_node = nominated;
    detail->next_start = start_;
  }
  if (!nominated && !extenders_.empty() && !PassesExtenders(a)) return std::move(a->result);
  if (a->feasible.empty() && a->in_parts == 0) {
    Fail(a);
    return std::move(a->result);
  }
  if (detail != nullptr) DescribeSearch(a);
  TellFeasible(a);
  PickNode(a);
  return std::move(a->result);
}

// Ends with PreFilter; the attempt is then ready for Filter, unless there is a message.
FilterSurvey KubeCycle::BeginSurvey(Profile* profile, const PodContext& pod) {
  DRASIM_CHECK(profile->restrictions().empty());
  Attempt* const a = attempt_.get();
  a->Begin(&StateOf(profile), pod, /*message=*/true, nullptr);
  FilterSurvey survey;
  if (!RunPreFilters(a)) {
    survey.failed = a->result.outcome == AttemptResult::Outcome::kError;
    if (survey.failed) {
      survey.message = a->result.message;
    } else {
      survey.message = a->pre_rejection->reasons[0];
      survey.rejector = a->pre_rejection->plugin;
    }
    return survey;
  }
  survey.has_subset = a->has_subset;
  if (a->has_subset) {
    survey.subset = a->subset;
    survey.naming = a->naming;
    survey.subset_message = SubsetText(*a);
  }
  return survey;
}

FilterSurvey KubeCycle::Survey(Profile* profile, const PodContext& pod,
                               absl::FunctionRef<void(const NodeStatus&)> tell) {
  FilterSurvey survey = BeginSurvey(profile, pod);
  if (!survey.message.empty()) return survey;
  const AttemptFilters& filters = attempt_->Filters(cluster_, nominator_);
  for (uint32_t i = 0; i < cluster_->node_count(); ++i) {
    const NodeId node(i);
    if (!cluster_->node(node).available) continue;
    if (!survey.Tries(node)) continue;
    filters.JudgeAll(node, tell);
  }
  return survey;
}

NodeStatus KubeCycle::WhyNot(Profile* profile, const PodContext& pod, NodeId node) {
  const FilterSurvey survey = BeginSurvey(profile, pod);
  if (!survey.message.empty()) {
    const StepCode code = survey.failed ? StepCode::kError : attempt_->pre_rejection->code;
    return {survey.rejector, code, {survey.message}, NodeId()};
  }
  if (!survey.Tries(node)) {
    return {nullptr, StepCode::kUnresolvable, {survey.subset_message}, node};
  }
  NodeStatus why;
  why.code = StepCode::kSuccess;
  attempt_->Filters(cluster_, nominator_).Judge(node, &why);
  return why;
}

void KubeCycle::TellFeasible(Attempt* a) {
  if (a->feasible.size() < 2) return;
  std::vector<NodeId> ascending;
  for (size_t i = 0; i < a->restrictions.size(); ++i) {
    if (!a->restrictions[i].wants_feasible) continue;
    if (ascending.empty()) {
      ascending = a->feasible;
      std::sort(ascending.begin(), ascending.end());
    }
    a->profile->restrictions()[i]->ListFeasible(*a->pod, ascending);
  }
}

WorkCounters KubeCycle::work() const {
  WorkCounters work = work_;
  for (const std::unique_ptr<ProfileState>& state : states_) {
    work.nodes_filtered += state->cache.nodes_filtered();
    work.nodes_scored += state->cache.nodes_scored();
  }
  return work;
}

void KubeCycle::set_progress(const Progress& progress) {
  start_ = progress.start;
  ties_ = progress.ties;
  offsets_ = progress.offsets;
}

void KubeCycle::Save(StateWriter& out) const {
  out.Section("kube cycle");
  out.U64(start_);
  ties_.Save(out);
  offsets_.Save(out);
}

absl::Status KubeCycle::Load(StateReader& in) {
  in.Section("kube cycle");
  start_ = static_cast<size_t>(in.U64());
  RETURN_IF_ERROR(ties_.Load(in));
  RETURN_IF_ERROR(offsets_.Load(in));
  // Nodes may have left since the search that ended there.
  if (in.status().ok() && start_ != 0 && start_ >= cluster_->node_count()) {
    return absl::DataLossError("a search begins behind the last node");
  }
  return in.status();
}

}  // namespace drasim
