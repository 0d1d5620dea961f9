// Interned texts: names of objects, classes, drivers, finalizers and pod claim entries.
//
// A Name is one pointer; two names of one pool are equal exactly when their texts are. It lives as
// long as its pool. Hash and equality compare pointers, which differ between runs: sort by text().
#ifndef DRASIM_MODEL_KUBE_NAME_H_
#define DRASIM_MODEL_KUBE_NAME_H_

#include <string>
#include <utility>

#include "absl/container/node_hash_set.h"
#include "absl/strings/string_view.h"

namespace drasim {

class Name {
 public:
  constexpr Name() = default;
  bool empty() const { return text_ == nullptr; }
  absl::string_view text() const {
    return text_ == nullptr ? absl::string_view() : absl::string_view(*text_);
  }
  friend bool operator==(Name a, Name b) { return a.text_ == b.text_; }
  friend bool operator!=(Name a, Name b) { return a.text_ != b.text_; }
  template <typename H>
  friend H AbslHashValue(H h, Name name) {
    return H::combine(std::move(h), name.text_);
  }

 private:
  friend class NamePool;
  explicit Name(const std::string* text) : text_(text) {}
  const std::string* text_ = nullptr;  // null: the empty text
};

class NamePool {
 public:
  NamePool() = default;
  NamePool(const NamePool&) = delete;
  NamePool& operator=(const NamePool&) = delete;

  // Amortised O(length).
  Name Intern(absl::string_view text);

 private:
  absl::node_hash_set<std::string> texts_;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_NAME_H_
