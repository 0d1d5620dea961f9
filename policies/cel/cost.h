// The worst-case cost of a device selector, as the API server estimates it at admission.
//
// Source of the rules: cel-go 0.29 (checker/cost), k8s.io/apiserver 1.37 (library cost estimator),
// and the sizes that k8s.io/dynamic-resource-allocation v0.37.2 declares for a device: driver and
// domain 63 characters, id 32, attribute value 64 characters or items, 32 entries per map.
#ifndef DRASIM_POLICIES_CEL_COST_H_
#define DRASIM_POLICIES_CEL_COST_H_

#include <cstdint>

#include "policies/cel/ast.h"
#include "policies/cel/checker.h"

namespace drasim::cel {

// Prices of single steps, shared by the estimate and the counter at run time.
inline constexpr uint64_t kListCost = 10;
inline constexpr uint64_t kMapCost = 30;
inline constexpr double kTraversalFactor = 0.1;  // per character
inline constexpr double kRegexFactor = 0.25;     // per character of a pattern

// ceil(units * factor), saturating.
uint64_t ScaleCost(uint64_t units, double factor);

// The upper bound of the cost of evaluating `ast` once, in CEL's units. Saturates at 2^64-1, which
// also stands for an unknown size.
uint64_t WorstCaseCost(const Ast& ast, const CheckedAst& checked);

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_COST_H_
