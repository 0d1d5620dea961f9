// Comparisons of the GUI's tables in tests.
#ifndef DRASIM_TESTS_GUI_VIEW_TABLE_CHECKS_H_
#define DRASIM_TESTS_GUI_VIEW_TABLE_CHECKS_H_

#include <cstddef>

#include "gtest/gtest.h"
#include "gui/view/table_model.h"

namespace drasim::gui {

// Every cell in its exact form.
inline void ExpectSameTables(const view::TableSource& table, const view::TableSource& wanted) {
  ASSERT_EQ(table.rows(), wanted.rows());
  for (size_t row = 0; row < wanted.rows(); ++row) {
    for (size_t column = 0; column < wanted.columns().size(); ++column) {
      ASSERT_EQ(table.Exact(row, column), wanted.Exact(row, column)) << row << " " << column;
    }
  }
}

}  // namespace drasim::gui

#endif  // DRASIM_TESTS_GUI_VIEW_TABLE_CHECKS_H_
