// ASSERT_OK_AND_ASSIGN: takes the value of an absl::StatusOr that a test needs.
//
//   ASSERT_OK_AND_ASSIGN(const Lowering lowering, Lowering::Make(rule));
//   EXPECT_EQ(lowering.rule(), rule);
//
// Ends the test as a failure that shows the status, unless the absl::StatusOr has a value. The
// left-hand side is a declaration or an existing variable; a type with commas needs an alias.
#ifndef DRASIM_TESTS_TESTING_ASSERT_OK_H_
#define DRASIM_TESTS_TESTING_ASSERT_OK_H_

#include <utility>

#include "gtest/gtest.h"
#include "model/status_macros.h"

// A declaration cannot stand in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define DRASIM_ASSERT_OK_AND_ASSIGN(result, lhs, ...) \
  auto result = __VA_ARGS__;                          \
  ASSERT_TRUE(result.ok()) << result.status();        \
  lhs = *std::move(result)
// NOLINTEND(bugprone-macro-parentheses)

// The expression comes last, so that it may have commas.
#define ASSERT_OK_AND_ASSIGN(lhs, ...) \
  DRASIM_ASSERT_OK_AND_ASSIGN(DRASIM_STATUS_CONCAT(drasim_result_, __LINE__), lhs, __VA_ARGS__)

#endif  // DRASIM_TESTS_TESTING_ASSERT_OK_H_
