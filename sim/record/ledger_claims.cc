#include "sim/record/ledger_claims.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "model/device_grant.h"
#include "model/ids.h"
#include "model/proto/ledger.pb.h"
#include "sim/record/ledger_frame.h"

namespace drasim {
namespace {

constexpr unsigned kImmediateFlag = 1;
constexpr unsigned kAllocatedFlag = 2;
constexpr unsigned kReleasingFlag = 4;
constexpr unsigned kDeletingFlag = 8;
constexpr unsigned kStructuredFlag = 16;

constexpr bool HasNode(ClaimChangeKind kind) {
  return kind == ClaimChangeKind::kNodeSelected || kind == ClaimChangeKind::kAllocated ||
         kind == ClaimChangeKind::kPrepared || kind == ClaimChangeKind::kPrepareFailed ||
         kind == ClaimChangeKind::kUnprepared;
}
constexpr bool HasAsked(ClaimChangeKind kind) {
  return kind == ClaimChangeKind::kDriverAsked || kind == ClaimChangeKind::kNodeSelected ||
         kind == ClaimChangeKind::kDriverAnswered;
}
constexpr bool HasText(ClaimChangeKind kind) {
  return kind == ClaimChangeKind::kDriverAnswered || kind == ClaimChangeKind::kAllocationFailed ||
         kind == ClaimChangeKind::kReserved || kind == ClaimChangeKind::kUnreserved ||
         kind == ClaimChangeKind::kPrepareFailed;
}

// Texts by the order of their first use in a frame; 0: the empty text.
template <typename Columns>
class TextPool {
 public:
  explicit TextPool(Columns* columns) : columns_(columns) {}
  uint32_t Intern(const std::string& text) {
    if (text.empty()) return 0;
    const auto [found, added] =
        index_.try_emplace(text, static_cast<uint32_t>(columns_->texts_size()) + 1);
    if (added) columns_->add_texts(text);
    return found->second;
  }

 private:
  Columns* columns_;
  absl::flat_hash_map<std::string, uint32_t> index_;
};

// False if there is no such text.
template <typename Columns>
bool FindText(const Columns& columns, uint32_t index, std::string* text) {
  if (index > static_cast<uint32_t>(columns.texts_size())) return false;
  *text = index == 0 ? std::string() : columns.texts(static_cast<int>(index) - 1);
  return true;
}

// A text stands once in a frame and is copied at each use, so that a small frame of a hostile
// ledger may unpack to more than any memory holds. No sound one comes near this.
constexpr uint64_t kMaxTextBytes = uint64_t{1} << 30;

// Whether the texts that the columns of indices name are shorter than that together.
template <typename Columns, typename... Indices>
bool TextsFit(const Columns& columns, const Indices&... indices) {
  uint64_t bytes = 0;
  const auto add = [&](const auto& column) {
    for (const uint32_t index : column) {
      if (index == 0 || index > static_cast<uint32_t>(columns.texts_size())) continue;
      bytes += columns.texts(static_cast<int>(index) - 1).size();
      if (bytes > kMaxTextBytes) return false;
    }
    return true;
  };
  return (add(indices) && ...);
}

// 1 + node; 0: none.
uint32_t NodeWord(NodeId node) { return node.valid() ? node.value() + 1 : 0; }
bool FindNode(uint32_t word, size_t nodes, NodeId* node) {
  if (word > nodes) return false;
  *node = word == 0 ? NodeId() : NodeId(word - 1);
  return true;
}

// Packs `columns` into the frame `out`.
template <typename Columns, typename Frame>
std::string Packed(uint64_t records, SimTime time, const Columns& columns, Frame* out) {
  const std::string bytes = columns.SerializeAsString();
  out->set_records(records);
  out->set_time_ns(time.ns());
  out->set_columns_bytes(bytes.size());
  out->set_columns(Pack(bytes));
  return out->SerializeAsString();
}

template <typename Frame, typename Columns>
bool Unpacked(const std::string& payload, Frame* frame, Columns* columns) {
  std::string bytes;
  return frame->ParseFromString(payload) && CanUnpackTo(frame->columns(), frame->columns_bytes()) &&
         Unpack(frame->columns(), frame->columns_bytes(), &bytes) &&
         columns->ParseFromString(bytes);
}

// Reads a column from its begin to its end.
template <typename Column>
class ColumnCursor {
 public:
  explicit ColumnCursor(const Column& column) : column_(column) {}
  template <typename T>
  bool Next(T* value) {
    if (next_ == column_.size()) return false;
    *value = static_cast<T>(column_.Get(next_++));
    return true;
  }
  bool at_end() const { return next_ == column_.size(); }

 private:
  const Column& column_;
  int next_ = 0;
};

template <typename Columns>
void AddGrants(const DeviceGrants& grants, Columns* out) {
  out->add_grants(static_cast<uint32_t>(grants.size()));
  for (const DeviceGrant& grant : grants) out->add_grant(GrantWord(grant));
}

template <typename Count, typename Word>
bool NextGrants(Count* counts, Word* words, DeviceGrants* grants) {
  uint32_t count = 0;
  if (!counts->Next(&count)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t word = 0;
    if (!words->Next(&word)) return false;
    grants->push_back(GrantOfWord(word));
  }
  return true;
}

// Appends the devices of an allocation to their columns.
void AddDevices(const std::vector<ClaimDevice>& devices, TextPool<proto::LedgerClaimChanges>* texts,
                proto::LedgerClaimChanges* out) {
  out->add_devices(static_cast<uint32_t>(devices.size()));
  for (const ClaimDevice& device : devices) {
    out->add_request(texts->Intern(device.request));
    out->add_driver(texts->Intern(device.driver));
    out->add_pool(texts->Intern(device.pool));
    out->add_device(texts->Intern(device.device));
    out->add_slice(texts->Intern(device.slice));
    out->add_facts(static_cast<uint32_t>(device.facts.size()));
    for (const DeviceFact& fact : device.facts) {
      out->mutable_fact_kind()->push_back(static_cast<char>(fact.kind));
      out->add_fact_name(texts->Intern(fact.name));
      out->add_fact_value(texts->Intern(fact.value));
    }
  }
}

// Reads the columns of devices from their begin to their end.
class DeviceReader {
 public:
  explicit DeviceReader(const proto::LedgerClaimChanges& columns)
      : columns_(columns),
        counts_(columns.devices()),
        requests_(columns.request()),
        drivers_(columns.driver()),
        pools_(columns.pool()),
        devices_(columns.device()),
        slices_(columns.slice()),
        facts_(columns.facts()),
        names_(columns.fact_name()),
        values_(columns.fact_value()) {}

  // The devices of the next allocation; false if the columns are unreadable.
  bool Next(std::vector<ClaimDevice>* devices) {
    if (columns_.devices().empty()) return true;
    uint32_t count = 0;
    if (!counts_.Next(&count)) return false;
    for (uint32_t i = 0; i < count; ++i) {
      ClaimDevice device;
      uint32_t facts = 0;
      if (!NextText(&requests_, &device.request) || !NextText(&drivers_, &device.driver) ||
          !NextText(&pools_, &device.pool) || !NextText(&devices_, &device.device) ||
          !NextText(&slices_, &device.slice) || !facts_.Next(&facts)) {
        return false;
      }
      for (uint32_t f = 0; f < facts; ++f) {
        if (kinds_ == columns_.fact_kind().size()) return false;
        const auto kind = static_cast<unsigned char>(columns_.fact_kind()[kinds_++]);
        DeviceFact fact;
        if (kind >= kDeviceFactKinds || !NextText(&names_, &fact.name) ||
            !NextText(&values_, &fact.value)) {
          return false;
        }
        fact.kind = static_cast<DeviceFactKind>(kind);
        device.facts.push_back(std::move(fact));
      }
      devices->push_back(std::move(device));
    }
    return true;
  }

  bool at_end() const {
    return counts_.at_end() && requests_.at_end() && drivers_.at_end() && pools_.at_end() &&
           devices_.at_end() && slices_.at_end() && facts_.at_end() && names_.at_end() &&
           values_.at_end() && kinds_ == columns_.fact_kind().size();
  }

 private:
  using Column = google::protobuf::RepeatedField<uint32_t>;

  bool NextText(ColumnCursor<Column>* column, std::string* text) {
    uint32_t word = 0;
    return column->Next(&word) && FindText(columns_, word, text);
  }

  const proto::LedgerClaimChanges& columns_;
  ColumnCursor<Column> counts_;
  ColumnCursor<Column> requests_;
  ColumnCursor<Column> drivers_;
  ColumnCursor<Column> pools_;
  ColumnCursor<Column> devices_;
  ColumnCursor<Column> slices_;
  ColumnCursor<Column> facts_;
  ColumnCursor<Column> names_;
  ColumnCursor<Column> values_;
  size_t kinds_ = 0;  // read of fact_kind
};

}  // namespace

std::string PackClaims(uint64_t records, SimTime time, absl::Span<const LoggedClaimChange> changes,
                       absl::Span<const ClientCalls> calls) {
  proto::LedgerClaimChanges p;
  TextPool texts(&p);
  uint64_t records_before = 0;
  SimTime time_before;
  uint64_t claim_before = 0;
  const bool has_devices = absl::c_any_of(
      changes, [](const LoggedClaimChange& logged) { return !logged.change.devices.empty(); });
  for (const auto& [place, change] : changes) {
    const ClaimChangeKind kind = change.kind;
    p.mutable_kind()->push_back(static_cast<char>(kind));
    p.add_records(place - records_before);
    records_before = place;
    p.add_time_ns(change.time.ns() - time_before.ns());
    time_before = change.time;
    p.add_claim(static_cast<int64_t>(change.claim - claim_before));
    claim_before = change.claim;
    if (kind == ClaimChangeKind::kCreated) {
      p.add_name(change.identity.name);
      p.add_pod(texts.Intern(change.identity.pod));
      p.add_class_name(texts.Intern(change.identity.class_name));
      p.mutable_mode()->push_back(static_cast<char>(change.identity.mode));
    }
    if (HasNode(kind)) p.add_node(NodeWord(change.node));
    if (HasAsked(kind)) p.add_asked(change.asked);
    if (kind == ClaimChangeKind::kDriverAnswered) p.add_refused(change.refused);
    if (kind == ClaimChangeKind::kAllocated) {
      AddGrants(change.grants, &p);
      if (has_devices) AddDevices(change.devices, &texts, &p);
    }
    if (HasText(kind)) p.add_text(texts.Intern(change.text));
  }
  proto::LedgerClaims frame;
  for (const ClientCalls& of_client : calls) {
    frame.add_client(of_client.client);
    frame.add_calls(of_client.calls);
  }
  return Packed(records, time, p, &frame);
}

bool UnpackCalls(const std::string& payload, CallsSample* sample) {
  proto::LedgerClaims frame;
  if (!frame.ParseFromString(payload) || frame.client_size() != frame.calls_size()) return false;
  sample->time = SimTime(frame.time_ns());
  sample->clients.clear();
  for (int i = 0; i < frame.client_size(); ++i) {
    sample->clients.push_back({frame.client(i), frame.calls(i)});
  }
  return true;
}

bool UnpackClaims(const std::string& payload, size_t nodes,
                  std::vector<LoggedClaimChange>* changes) {
  proto::LedgerClaims frame;
  proto::LedgerClaimChanges p;
  if (!Unpacked(payload, &frame, &p)) return false;
  if (!TextsFit(p, p.text(), p.pod(), p.class_name(), p.request(), p.driver(), p.pool(), p.device(),
                p.slice(), p.fact_name(), p.fact_value())) {
    return false;
  }
  DeviceReader devices(p);
  ColumnCursor records(p.records());
  ColumnCursor times(p.time_ns());
  ColumnCursor claims(p.claim());
  ColumnCursor node_words(p.node());
  ColumnCursor asked(p.asked());
  ColumnCursor refused(p.refused());
  ColumnCursor grant_counts(p.grants());
  ColumnCursor grant_words(p.grant());
  ColumnCursor text_words(p.text());
  ColumnCursor pods(p.pod());
  ColumnCursor classes(p.class_name());
  size_t created = 0;
  uint64_t place = 0;
  int64_t time_ns = 0;
  uint64_t claim = 0;
  for (const char byte : p.kind()) {
    if (static_cast<unsigned char>(byte) >= kClaimChangeKinds) return false;
    LoggedClaimChange logged;
    ClaimChange& change = logged.change;
    change.kind = static_cast<ClaimChangeKind>(byte);
    uint64_t step = 0;
    int64_t time_step = 0;
    uint64_t claim_step = 0;
    if (!records.Next(&step) || step > frame.records() - place || !times.Next(&time_step) ||
        __builtin_add_overflow(time_ns, time_step, &time_ns) || time_ns < 0 ||
        !claims.Next(&claim_step)) {
      return false;
    }
    place += step;
    claim += claim_step;
    logged.records = place;
    change.time = SimTime(time_ns);
    change.claim = claim;
    if (change.kind == ClaimChangeKind::kCreated) {
      uint32_t pod = 0;
      uint32_t class_name = 0;
      if (created >= static_cast<size_t>(p.name_size()) || created >= p.mode().size() ||
          static_cast<unsigned char>(p.mode()[created]) >= kClaimModes || !pods.Next(&pod) ||
          !classes.Next(&class_name) || !FindText(p, pod, &change.identity.pod) ||
          !FindText(p, class_name, &change.identity.class_name)) {
        return false;
      }
      change.identity.name = p.name(static_cast<int>(created));
      change.identity.mode = static_cast<ClaimMode>(p.mode()[created++]);
    }
    uint32_t word = 0;
    if (HasNode(change.kind) && (!node_words.Next(&word) || !FindNode(word, nodes, &change.node))) {
      return false;
    }
    if (HasAsked(change.kind) && !asked.Next(&change.asked)) return false;
    if (change.kind == ClaimChangeKind::kDriverAnswered && !refused.Next(&change.refused)) {
      return false;
    }
    if (change.kind == ClaimChangeKind::kAllocated &&
        (!NextGrants(&grant_counts, &grant_words, &change.grants) ||
         !devices.Next(&change.devices))) {
      return false;
    }
    if (HasText(change.kind) && (!text_words.Next(&word) || !FindText(p, word, &change.text))) {
      return false;
    }
    changes->push_back(std::move(logged));
  }
  return records.at_end() && times.at_end() && claims.at_end() && node_words.at_end() &&
         asked.at_end() && refused.at_end() && grant_counts.at_end() && grant_words.at_end() &&
         text_words.at_end() && pods.at_end() && classes.at_end() && devices.at_end() &&
         created == static_cast<size_t>(p.name_size()) && created == p.mode().size();
}

std::string PackLiveClaims(uint64_t records, SimTime time, const LiveClaims& claims) {
  proto::LedgerLiveClaimColumns p;
  TextPool texts(&p);
  uint64_t uid_before = 0;
  SimTime since_before;
  const bool has_devices = absl::c_any_of(
      claims.claims(), [](const auto& entry) { return !entry.second.devices.empty(); });
  for (const auto& [uid, claim] : claims.claims()) {
    p.add_claim(uid - uid_before);
    uid_before = uid;
    p.add_name(claim.identity.name);
    p.add_pod(texts.Intern(claim.identity.pod));
    p.add_class_name(texts.Intern(claim.identity.class_name));
    const unsigned flags = (claim.identity.mode == ClaimMode::kImmediate ? kImmediateFlag : 0U) |
                           (claim.identity.mode == ClaimMode::kStructured ? kStructuredFlag : 0U) |
                           (claim.allocated ? kAllocatedFlag : 0U) |
                           (claim.releasing ? kReleasingFlag : 0U) |
                           (claim.deleting ? kDeletingFlag : 0U);
    p.mutable_flags()->push_back(static_cast<char>(flags));
    p.mutable_state()->push_back(static_cast<char>(claim.state));
    p.add_since_ns(claim.since.ns() - since_before.ns());
    since_before = claim.since;
    p.add_selected(NodeWord(claim.selected));
    p.add_asked(claim.asked);
    p.add_refused(claim.refused);
    p.add_message(texts.Intern(claim.message));
    p.add_node(NodeWord(claim.node));
    AddGrants(claim.grants, &p);
    if (has_devices) p.add_devices(texts.Intern(claim.devices));
    p.add_reserved(claim.reserved);
    p.add_prepared(claim.prepared);
    for (const ClaimTally& tally : claim.tallies) {
      p.add_times(tally.times);
      if (tally.times == 0) continue;
      p.add_first_ns(tally.first.ns() - claim.since.ns());
      p.add_last_ns(tally.last.ns() - tally.first.ns());
    }
  }
  proto::LedgerLiveClaims frame;
  return Packed(records, time, p, &frame);
}

bool UnpackLiveClaims(const std::string& payload, size_t nodes, LiveClaims* claims) {
  proto::LedgerLiveClaims frame;
  proto::LedgerLiveClaimColumns p;
  if (!Unpacked(payload, &frame, &p)) return false;
  if (!TextsFit(p, p.message(), p.pod(), p.class_name(), p.devices())) return false;
  const int n = p.claim_size();
  for (const int size : {p.name_size(), p.pod_size(), p.class_name_size(), p.since_ns_size(),
                         p.selected_size(), p.asked_size(), p.refused_size(), p.message_size(),
                         p.node_size(), p.grants_size(), p.reserved_size(), p.prepared_size()}) {
    if (size != n) return false;
  }
  if (p.devices_size() != 0 && p.devices_size() != n) return false;
  const auto rows = static_cast<size_t>(n);
  if (p.flags().size() != rows || p.state().size() != rows ||
      static_cast<size_t>(p.times_size()) != rows * kClaimChangeKinds) {
    return false;
  }
  ColumnCursor grant_counts(p.grants());
  ColumnCursor grant_words(p.grant());
  ColumnCursor times(p.times());
  ColumnCursor firsts(p.first_ns());
  ColumnCursor lasts(p.last_ns());
  uint64_t uid = 0;
  int64_t since_ns = 0;
  for (int i = 0; i < n; ++i) {
    const auto flags = static_cast<unsigned char>(p.flags()[static_cast<size_t>(i)]);
    const auto state = static_cast<unsigned char>(p.state()[static_cast<size_t>(i)]);
    LiveClaim claim;
    // Uids ascend, from 1.
    if (p.claim(i) == 0 || __builtin_add_overflow(uid, p.claim(i), &uid) || state >= kClaimStates ||
        __builtin_add_overflow(since_ns, p.since_ns(i), &since_ns) || since_ns < 0 ||
        !FindText(p, p.pod(i), &claim.identity.pod) ||
        !FindText(p, p.class_name(i), &claim.identity.class_name) ||
        !FindText(p, p.message(i), &claim.message) ||
        (p.devices_size() > 0 && !FindText(p, p.devices(i), &claim.devices)) ||
        !FindNode(p.selected(i), nodes, &claim.selected) ||
        !FindNode(p.node(i), nodes, &claim.node) ||
        !NextGrants(&grant_counts, &grant_words, &claim.grants)) {
      return false;
    }
    claim.identity.name = p.name(i);
    if ((flags & kImmediateFlag) != 0) claim.identity.mode = ClaimMode::kImmediate;
    if ((flags & kStructuredFlag) != 0) claim.identity.mode = ClaimMode::kStructured;
    claim.allocated = (flags & kAllocatedFlag) != 0;
    claim.releasing = (flags & kReleasingFlag) != 0;
    claim.deleting = (flags & kDeletingFlag) != 0;
    claim.state = static_cast<ClaimState>(state);
    claim.since = SimTime(since_ns);
    claim.asked = p.asked(i);
    claim.refused = p.refused(i);
    claim.reserved = p.reserved(i);
    claim.prepared = p.prepared(i);
    for (ClaimTally& tally : claim.tallies) {
      if (!times.Next(&tally.times)) return false;
      if (tally.times == 0) continue;
      int64_t first_ns = 0;
      int64_t last_ns = 0;
      if (!firsts.Next(&first_ns) || !lasts.Next(&last_ns) ||
          __builtin_add_overflow(since_ns, first_ns, &first_ns) || first_ns < 0 ||
          __builtin_add_overflow(first_ns, last_ns, &last_ns) || last_ns < 0) {
        return false;
      }
      tally.first = SimTime(first_ns);
      tally.last = SimTime(last_ns);
    }
    claims->Set(uid, std::move(claim));
  }
  return grant_words.at_end() && firsts.at_end() && lasts.at_end();
}

void ClaimLog::Add(uint64_t records, const ClaimChange& change) {
  unwritten_.push_back({records, change});
  unfolded_.push_back(change);
}

void ClaimLog::Fold() {
  for (const ClaimChange& change : unfolded_) live_.Apply(change);
  unfolded_.clear();
}

}  // namespace drasim
