// Early returns of errors: RETURN_IF_ERROR and ASSIGN_OR_RETURN.
//
//   absl::Status Check(const Spec& spec) {
//     RETURN_IF_ERROR(CheckName(spec.name));
//     ASSIGN_OR_RETURN(const SimDuration timeout, ParseDuration(spec.timeout));
//     return CheckTimeout(timeout);
//   }
//
// Either macro ends the statement's function with the status of `expr` unless that is OK, so the
// function returns absl::Status or an absl::StatusOr. `expr` is evaluated once. The left-hand side
// of ASSIGN_OR_RETURN is a declaration or an existing variable; a type with commas needs an alias.
#ifndef DRASIM_MODEL_STATUS_MACROS_H_
#define DRASIM_MODEL_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define RETURN_IF_ERROR(expr)                                       \
  do {                                                              \
    if (absl::Status drasim_status = (expr); !drasim_status.ok()) { \
      return drasim_status;                                         \
    }                                                               \
  } while (false)

// A declaration cannot stand in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define DRASIM_STATUS_CONCAT_INNER(a, b) a##b
#define DRASIM_STATUS_CONCAT(a, b) DRASIM_STATUS_CONCAT_INNER(a, b)
#define DRASIM_ASSIGN_OR_RETURN(result, lhs, expr)     \
  auto result = (expr);                                \
  if (!result.ok()) return std::move(result).status(); \
  lhs = *std::move(result)
// NOLINTEND(bugprone-macro-parentheses)

#define ASSIGN_OR_RETURN(lhs, expr) \
  DRASIM_ASSIGN_OR_RETURN(DRASIM_STATUS_CONCAT(drasim_result_, __LINE__), lhs, expr)

#endif  // DRASIM_MODEL_STATUS_MACROS_H_
