// PlaneWriter and PlaneReader: the state of a control plane's actors as bytes, for checkpoints.
//
// Both run over the same list of fields, so that they cannot disagree. A type lists its fields
// once, in a static member; its definition may stand in the type's source file, with an instance
// for each archive (DRASIM_PLANE_FIELDS):
//
//   template <typename Archive, typename Self>
//   static void Fields(Archive& a, Self& self) {
//     a(self.key_, self.stage_, self.pod_);
//   }
//
// Objects are immutable and shared by the server, caches and messages, so each is written once, and
// is shared again after loading. The same goes for names. Hash containers are written in the order
// of their keys: equal states have equal bytes. Messages of structured DRA (protobuf) are written
// once for each content, whoever shares them. Bad bytes fail the reader (status()); what has been
// loaded by then must not be used.
#ifndef DRASIM_SIM_DRA_API_PLANE_ARCHIVE_H_
#define DRASIM_SIM_DRA_API_PLANE_ARCHIVE_H_

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/node_set.h"
#include "model/kube/objects.h"
#include "model/kube/shared_message.h"
#include "model/random.h"
#include "model/state_io.h"
#include "model/time.h"

// In the source file of a type whose Fields is defined there.
#define DRASIM_PLANE_FIELDS(Type)                                                           \
  template void Type::Fields(PlaneWriter& archive, const std::type_identity_t<Type>& self); \
  template void Type::Fields(PlaneReader& archive, std::type_identity_t<Type>& self)

namespace drasim {

namespace plane_archive {

template <typename T>
concept Id = requires(const T& id) {
  { id.value() } -> std::same_as<uint32_t>;
  { id.valid() } -> std::same_as<bool>;
};
template <typename T>
concept Instant = std::is_same_v<T, SimTime> || std::is_same_v<T, SimDuration>;
template <typename T>
concept Associative = requires {
  typename T::key_type;
};
template <typename T>
concept Mapping = Associative<T> && requires {
  typename T::mapped_type;
};
template <typename T>
concept Hashed = Associative<T> && requires {
  typename T::hasher;
};
template <typename T>
concept Sequence = !std::is_same_v<T, std::string> && !Associative<T> &&
                   requires(T & list, typename T::value_type value) {
  list.push_back(std::move(value));
  list.size();
};

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsOwned = false;
template <typename T>
inline constexpr bool kIsOwned<std::unique_ptr<T>> = true;
template <typename T>
inline constexpr bool kIsRef = false;
template <typename T>
inline constexpr bool kIsRef<Ref<T>> = true;
template <typename T>
inline constexpr bool kIsPair = false;
template <typename A, typename B>
inline constexpr bool kIsPair<std::pair<A, B>> = true;
template <typename T>
inline constexpr bool kIsArray = false;
template <typename T, size_t kSize>
inline constexpr bool kIsArray<std::array<T, kSize>> = true;

// The order of keys in the bytes. Names have no order of their own.
template <typename K>
bool IsBefore(const K& a, const K& b) {
  return a < b;
}
inline bool IsBefore(const Name& a, const Name& b) { return a.text() < b.text(); }
template <typename A, typename B>
bool IsBefore(const std::pair<A, B>& a, const std::pair<A, B>& b) {
  if (IsBefore(a.first, b.first)) return true;
  return !IsBefore(b.first, a.first) && IsBefore(a.second, b.second);
}

// Something for every type of object that is shared.
template <template <typename> typename Table>
using OfObjects =
    std::tuple<Table<Pod>, Table<ResourceClass>, Table<ResourceClaim>, Table<ResourceClaimTemplate>,
               Table<PodSchedulingContext>, Table<ParametersObject>, Table<DeviceClassObject>,
               Table<ResourceSliceObject>, Table<DeviceTaintRuleObject>, Table<Allocation>>;

template <typename T, typename Tuple>
inline constexpr bool kIsOneOf = false;
template <typename T, typename... Ts>
inline constexpr bool kIsOneOf<T, std::tuple<Ts...>> = (std::is_same_v<T, Ts> || ...);
template <typename T>
using Itself = T;
// References to other types are references to messages.
template <typename T>
inline constexpr bool kIsObject = kIsOneOf<T, OfObjects<Itself>>;
template <typename T>
inline constexpr bool kIsSharedMessage = false;
template <typename T>
inline constexpr bool kIsSharedMessage<SharedMessage<T>> = true;
// A message that is part of something else.
template <typename T>
concept OwnMessage = requires {
  T::descriptor();
};

// Messages as bytes, with maps in the order of their keys, and back (null if the bytes are bad).
// Instances are in plane_archive.cc, so that types may be incomplete here.
template <typename T>
std::string BytesOfMessage(const T& message);
template <typename T>
Ref<T> MessageOfBytes(absl::string_view bytes);
template <typename T>
SharedMessage<T> SharedMessageOf(Ref<T> message);
template <typename T>
inline constexpr char kTypeTag = 0;

// Fields of a type of the archive: const when it writes.
template <typename Archive, typename T>
using FieldsOf = std::conditional_t<Archive::kLoads, T, const T>;

}  // namespace plane_archive

// Types that list their own fields.
template <typename Archive, typename T>
requires requires(Archive& a, T& value) { std::remove_const_t<T>::Fields(a, value); }
void Fields(Archive& a, T& value) { std::remove_const_t<T>::Fields(a, value); }

class PlaneWriter {
 public:
  static constexpr bool kLoads = false;

  // `out` must outlive it. One archive per state: what was written once is not written again.
  explicit PlaneWriter(StateWriter* out) : out_(out) {}

  template <typename... T>
  void operator()(const T&... values) {
    (Put(values), ...);
  }
  StateWriter& state() { return *out_; }
  // The reader will know this very message, by as many calls before it reads. Messages that were
  // there before the run need not be written.
  template <typename T>
  void Know(const SharedMessage<T>& message) {
    by_address_.try_emplace(message.shared().get(), next_message_++);
  }

 private:
  template <typename T>
  using Seen = absl::flat_hash_map<const T*, uint64_t>;

  template <typename T>
  void Put(const T& value) {
    if constexpr (std::is_enum_v<T> || std::is_unsigned_v<T>) {
      out_->U64(static_cast<uint64_t>(value));
    } else if constexpr (std::is_integral_v<T>) {
      out_->I64(value);
    } else if constexpr (std::is_same_v<T, double>) {
      out_->F64(value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      out_->Str(value);
    } else if constexpr (plane_archive::Instant<T>) {
      out_->I64(value.ns());
    } else if constexpr (plane_archive::Id<T>) {
      out_->U64(value.valid() ? uint64_t{value.value()} + 1 : 0);
    } else if constexpr (std::is_same_v<T, Random>) {
      value.Save(*out_);
    } else if constexpr (plane_archive::kIsOptional<T> || plane_archive::kIsOwned<T>) {
      const bool any = static_cast<bool>(value);
      out_->Bool(any);
      if (any) Put(*value);
    } else if constexpr (plane_archive::kIsPair<T>) {
      Put(value.first);
      Put(value.second);
    } else if constexpr (std::is_same_v<T, absl::int128>) {
      out_->I64(absl::Int128High64(value));
      out_->U64(absl::Int128Low64(value));
    } else if constexpr (std::is_same_v<T, absl::Status>) {
      out_->U64(static_cast<uint64_t>(value.code()));
      out_->Str(value.message());
    } else {
      PutLarge(value);
    }
  }

  template <typename T>
  void PutLarge(const T& value) {
    if constexpr (plane_archive::kIsSharedMessage<T>) {
      PutMessage(value.shared().get(), /*is_shared=*/true);
    } else if constexpr (plane_archive::kIsRef<T>) {
      PutRef(value);
    } else if constexpr (plane_archive::OwnMessage<T>) {
      PutMessage(&value, /*is_shared=*/false);
    } else if constexpr (plane_archive::Hashed<T>) {
      PutSorted(value);
    } else if constexpr (plane_archive::Associative<T> || plane_archive::Sequence<T>) {
      out_->U64(value.size());
      for (const typename T::value_type& element : value) Put(element);
    } else if constexpr (plane_archive::kIsArray<T>) {
      for (const auto& element : value) Put(element);
    } else {
      Fields(*this, value);
    }
  }

  void Put(const Name& name) {
    if (name.empty()) return out_->U64(0);
    const auto [found, is_new] = names_.try_emplace(name, names_.size() + 2);
    out_->U64(is_new ? 1 : found->second);
    if (is_new) out_->Str(name.text());
  }

  void Put(const NodeSet& nodes) {
    out_->Bool(nodes.everywhere());
    if (nodes.everywhere()) return;
    out_->U64(nodes.nodes().size());
    for (const NodeId node : nodes.nodes()) Put(node);
  }

  void Put(const ObjectRef& object) {
    out_->U64(object.index());
    std::visit([this](const auto& ref) { PutRef(ref); }, object);
  }

  // 0: none; 1: a new one follows; from 2 on: one of those before.
  template <typename T>
  void PutRef(const Ref<T>& object) {
    if constexpr (!plane_archive::kIsObject<T>) {
      return PutMessage(object.get(), /*is_shared=*/true);
    } else {
      PutObject(object);
    }
  }
  template <typename T>
  void PutObject(const Ref<T>& object) {
    if (object == nullptr) return out_->U64(0);
    auto& seen = std::get<Seen<T>>(seen_);
    const auto [found, is_new] = seen.try_emplace(object.get(), seen.size() + 2);
    out_->U64(is_new ? 1 : found->second);
    if (is_new) Fields(*this, *object);
  }

  // Likewise. A message that is shared stays where it is while the state is written.
  template <typename T>
  void PutMessage(const T* message, bool is_shared) {
    if (message == nullptr) return out_->U64(0);
    if (is_shared) {
      const auto known = by_address_.find(message);
      if (known != by_address_.end()) return out_->U64(known->second);
    }
    const auto [found, is_new] =
        by_content_.try_emplace(plane_archive::BytesOfMessage(*message), next_message_);
    if (is_new) ++next_message_;
    out_->U64(is_new ? 1 : found->second);
    if (is_new) out_->Str(found->first);
    if (is_shared) by_address_.try_emplace(message, found->second);
  }

  template <typename T>
  void PutSorted(const T& container) {
    std::vector<const typename T::value_type*> elements;
    elements.reserve(container.size());
    absl::c_for_each(container, [&](const auto& element) { elements.push_back(&element); });
    std::sort(elements.begin(), elements.end(), [](const auto* a, const auto* b) {
      if constexpr (plane_archive::Mapping<T>) {
        return plane_archive::IsBefore(a->first, b->first);
      } else {
        return plane_archive::IsBefore(*a, *b);
      }
    });
    out_->U64(elements.size());
    for (const auto* element : elements) Put(*element);
  }

  StateWriter* out_;
  absl::flat_hash_map<Name, uint64_t> names_;
  absl::flat_hash_map<const void*, uint64_t> by_address_;
  absl::flat_hash_map<std::string, uint64_t> by_content_;
  uint64_t next_message_ = 2;
  plane_archive::OfObjects<Seen> seen_;
};

class PlaneReader {
 public:
  static constexpr bool kLoads = true;

  // Both must outlive it.
  PlaneReader(StateReader* in, NamePool* names) : in_(in), names_(names) {}

  template <typename... T>
  void operator()(T&... values) {
    (Get(values), ...);
  }
  StateReader& state() { return *in_; }
  bool ok() const { return in_->status().ok(); }
  void Fail(absl::string_view why) { in_->Fail(why); }
  template <typename T>
  void Know(const SharedMessage<T>& message) {
    known_messages_.push_back({"", {{&plane_archive::kTypeTag<T>, message.shared()}}});
  }

 private:
  template <typename T>
  using Known = std::vector<Ref<T>>;

  template <typename T>
  void Get(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = in_->Bool();
    } else if constexpr (std::is_enum_v<T> || std::is_unsigned_v<T>) {
      value = static_cast<T>(in_->U64());
    } else if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(in_->I64());
    } else if constexpr (std::is_same_v<T, double>) {
      value = in_->F64();
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = in_->Str();
    } else if constexpr (plane_archive::Instant<T>) {
      value = T(in_->I64());
    } else if constexpr (plane_archive::Id<T>) {
      const uint64_t number = in_->U64();
      value = number == 0 ? T() : T(static_cast<uint32_t>(number - 1));
    } else if constexpr (std::is_same_v<T, Random>) {
      value.Load(*in_).IgnoreError();  // which the reader's status has
    } else {
      GetLarge(value);
    }
  }

  template <typename T>
  void GetLarge(T& value) {
    if constexpr (plane_archive::kIsOptional<T>) {
      value.reset();
      if (in_->Bool()) Get(value.emplace());
    } else if constexpr (plane_archive::kIsOwned<T>) {
      value.reset();
      if (in_->Bool()) value = std::make_unique<typename T::element_type>();
      if (value != nullptr) Get(*value);
    } else if constexpr (plane_archive::kIsPair<T>) {
      Get(value.first);
      Get(value.second);
    } else if constexpr (std::is_same_v<T, absl::int128>) {
      const int64_t high = in_->I64();
      value = absl::MakeInt128(high, in_->U64());
    } else if constexpr (std::is_same_v<T, absl::Status>) {
      const auto code = static_cast<absl::StatusCode>(in_->U64());
      value = absl::Status(code, in_->Str());
    } else if constexpr (plane_archive::kIsSharedMessage<T>) {
      GetSharedMessage(value);
    } else if constexpr (plane_archive::kIsRef<T>) {
      GetRef(value);
    } else if constexpr (plane_archive::OwnMessage<T>) {
      const Ref<T> message = GetMessage<T>();
      if (message != nullptr) value = *message;
    } else if constexpr (plane_archive::Associative<T>) {
      GetAssociative(value);
    } else if constexpr (plane_archive::Sequence<T>) {
      value.clear();
      for (size_t left = in_->Count(); left > 0 && ok(); --left) {
        typename T::value_type element{};
        Get(element);
        value.push_back(std::move(element));
      }
    } else if constexpr (plane_archive::kIsArray<T>) {
      for (auto& element : value) Get(element);
    } else {
      Fields(*this, value);
    }
  }

  void Get(Name& name) {
    name = Name();
    const uint64_t number = in_->U64();
    if (number == 0) return;
    if (number > 1 && number - 2 >= known_names_.size()) return Fail("a name is not known yet");
    if (number == 1) known_names_.push_back(names_->Intern(in_->Str()));
    name = number == 1 ? known_names_.back() : known_names_[static_cast<size_t>(number - 2)];
  }

  void Get(NodeSet& nodes) {
    nodes = NodeSet();
    if (in_->Bool()) return;
    std::vector<NodeId> list;
    Get(list);
    nodes = NodeSet::Of(std::move(list));
  }

  void Get(ObjectRef& object) {
    const uint64_t kind = in_->U64();
    if (kind >= std::variant_size_v<ObjectRef>) return Fail("an object of no kind");
    GetObject(static_cast<size_t>(kind), object,
              std::make_index_sequence<std::variant_size_v<ObjectRef>>());
  }
  template <size_t... kIndexes>
  void GetObject(size_t kind, ObjectRef& object, std::index_sequence<kIndexes...> /*indexes*/) {
    const auto get = [&](auto& ref) { GetRef(ref); };
    ((kind == kIndexes ? get(object.emplace<kIndexes>()) : void()), ...);
  }

  template <typename T>
  void GetSharedMessage(SharedMessage<T>& value) {
    const Ref<T> message = GetMessage<T>();
    value = message == nullptr ? SharedMessage<T>() : plane_archive::SharedMessageOf<T>(message);
  }

  template <typename T>
  Ref<T> GetMessage() {
    const uint64_t number = in_->U64();
    if (number == 0) return nullptr;
    if (number > 1 && number - 2 >= known_messages_.size()) {
      Fail("a message is not known yet");
      return nullptr;
    }
    if (number == 1) known_messages_.push_back({in_->Str(), {}});
    KnownMessage& known =
        number == 1 ? known_messages_.back() : known_messages_[static_cast<size_t>(number - 2)];
    const void* const type = &plane_archive::kTypeTag<T>;
    for (const auto& [of_type, message] : known.messages) {
      if (of_type == type) return std::static_pointer_cast<const T>(message);
    }
    Ref<T> message = plane_archive::MessageOfBytes<T>(known.bytes);
    if (message == nullptr) Fail("a message cannot be read");
    known.messages.emplace_back(type, message);
    return message;
  }

  template <typename T>
  void GetRef(Ref<T>& object) {
    if constexpr (!plane_archive::kIsObject<T>) {
      object = GetMessage<T>();
    } else {
      GetObjectRef(object);
    }
  }
  template <typename T>
  void GetObjectRef(Ref<T>& object) {
    object = nullptr;
    auto& known = std::get<Known<T>>(known_);
    const uint64_t number = in_->U64();
    if (number == 0) return;
    if (number > 1) {
      if (number - 2 >= known.size()) return Fail("an object is not known yet");
      object = known[static_cast<size_t>(number - 2)];
      return;
    }
    auto made = std::make_shared<T>();
    Fields(*this, *made);
    known.push_back(std::move(made));
    object = known.back();
  }

  template <typename T>
  void GetAssociative(T& container) {
    container.clear();
    for (size_t left = in_->Count(); left > 0 && ok(); --left) {
      typename T::key_type key{};
      Get(key);
      bool is_new = false;
      if constexpr (plane_archive::Mapping<T>) {
        typename T::mapped_type mapped{};
        Get(mapped);
        is_new = container.try_emplace(std::move(key), std::move(mapped)).second;
      } else {
        is_new = container.insert(std::move(key)).second;
      }
      if (!is_new && ok()) Fail("a key comes twice");
    }
  }

  StateReader* in_;
  NamePool* names_;
  std::vector<Name> known_names_;
  struct KnownMessage {
    std::string bytes;
    std::vector<std::pair<const void*, std::shared_ptr<const void>>> messages;  // by type
  };
  std::vector<KnownMessage> known_messages_;
  plane_archive::OfObjects<Known> known_;
};

// ---- The fields of objects (model/kube/objects.h). ----

template <typename A>
void Fields(A& a, plane_archive::FieldsOf<A, ObjectMeta>& m) {
  a(m.ns, m.name, m.uid, m.version, m.deleting, m.finalizers, m.owner);
}
template <typename A>
void Fields(A& a, plane_archive::FieldsOf<A, ParametersRef>& p) {
  a(p.api_group, p.kind, p.ns, p.name);
}
template <typename A>
void Fields(A& a, plane_archive::FieldsOf<A, ParametersObject>& p) {
  a(p.meta, p.api_group, p.kind, p.fields);
}
template <typename A>
void Fields(A& a, plane_archive::FieldsOf<A, ResourceClass>& c) {
  a(c.meta, c.driver, c.parameters, c.suitable_nodes);
}
template <typename A>
void Fields(A& a, plane_archive::FieldsOf<A, DeviceClassObject>& c) {
  a(c.meta, c.object);
}
template <typename A>
void Fields(A& a, plane_archive::FieldsOf<A, ResourceSliceObject>& s) {
  a(s.meta, s.object);
}
template <typename A>
void Fields(A& a, plane_archive::FieldsOf<A, DeviceTaintRuleObject::Eviction>& e) {
  a(e.known, e.in_progress, e.reason, e.message, e.generation, e.changed);
}
template <typename A>
void Fields(A& a, plane_archive::FieldsOf<A, DeviceTaintRuleObject>& r) {
  a(r.meta, r.generation, r.eviction);
}
template <typename A>
void Fields(A& a, plane_archive::FieldsOf<A, Consumer>& c) {
  a(c.resource, c.name, c.uid);
}
template <typename A>
void Fields(A& a, plane_archive::FieldsOf<A, ResourceHandle>& h) {
  a(h.driver, h.data);
}
template <typename A>
void Fields(A& a, plane_archive::FieldsOf<A, DeviceGrant>& g) {
  a(g.device, g.placement, g.milli);
}
template <typename A>
void Fields(A& a, plane_archive::FieldsOf<A, Allocation>& x) {
  a(x.handles, x.available_on, x.shareable, x.node, x.grants, x.result);
}
template <typename A>
void Fields(A& a, plane_archive::FieldsOf<A, ClaimSpec>& s) {
  a(s.class_name, s.parameters, s.mode, s.devices);
}
template <typename A>
void Fields(A& a, plane_archive::FieldsOf<A, ResourceClaimStatus>& s) {
  a(s.driver, s.allocation, s.reserved_for, s.deallocation_requested, s.devices);
}
template <typename A>
void Fields(A& a, plane_archive::FieldsOf<A, ResourceClaim>& c) {
  a(c.meta, c.pod_claim_name, c.for_extended_resources, c.labels, c.spec, c.status);
}
template <typename A>
void Fields(A& a, plane_archive::FieldsOf<A, ResourceClaimTemplate>& t) {
  a(t.meta, t.spec);
}
template <typename A>
void Fields(A& a, plane_archive::FieldsOf<A, PodSchedulingContext::ClaimNodes>& n) {
  a(n.entry, n.unsuitable);
}
template <typename A>
void Fields(A& a, plane_archive::FieldsOf<A, PodSchedulingContext>& c) {
  a(c.meta, c.selected, c.potential, c.claims);
}
template <typename A>
void Fields(A& a, plane_archive::FieldsOf<A, PodClaim>& c) {
  a(c.entry, c.claim, c.from_template, c.used);
}
template <typename A>
void Fields(A& a, plane_archive::FieldsOf<A, Pod::ClaimName>& n) {
  a(n.entry, n.claim);
}
template <typename A>
void Fields(A& a, plane_archive::FieldsOf<A, Pod>& p) {
  a(p.meta, p.claims, p.node, p.phase, p.claim_names, p.containers, p.extended_status,
    p.extended_claim, p.unschedulable, p.nominated, p.disrupted, p.row);
}

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_PLANE_ARCHIVE_H_
