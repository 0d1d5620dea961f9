// CEL expressions of random clusters, and their meaning without CEL.
#ifndef DRASIM_TESTS_POLICIES_ALLOCATOR_NAIVE_SELECTORS_H_
#define DRASIM_TESTS_POLICIES_ALLOCATOR_NAIVE_SELECTORS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "model/proto/resource.pb.h"

namespace drasim {

// `risky`: with the expressions that are errors on some devices, which come last.
size_t NaiveSelectorCount(bool risky);
std::string NaiveSelectorText(size_t index);
// Nullopt: an error. The text is one of the above.
std::optional<bool> NaiveSelects(const std::string& text, const std::string& driver,
                                 const proto::kube::Device& device);

size_t NaiveDerivedCount(bool risky);
std::string NaiveDerivedText(size_t index);
// Nullopt: an error.
std::optional<int64_t> NaiveDerives(const std::string& text, const proto::kube::Device& device);

}  // namespace drasim

#endif  // DRASIM_TESTS_POLICIES_ALLOCATOR_NAIVE_SELECTORS_H_
