// The rules of csv_splitter.h once more, one character at a time, over the whole text: the oracle
// of its tests.
#ifndef DRASIM_TESTS_TRACES_NAIVE_CSV_H_
#define DRASIM_TESTS_TRACES_NAIVE_CSV_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "traces/byte_source.h"
#include "traces/csv_splitter.h"

namespace drasim {

// A row, or why there is none.
struct NaiveRow {
  int64_t line = 0;                 // 0 for a bad row
  std::vector<std::string> fields;  // empty for a bad row
  std::vector<CsvPosition>
      positions;    // of the fields, then the end; for a bad row the place of the mistake
  std::string bad;  // kind of the mistake
  bool operator==(const NaiveRow&) const = default;
};

// For failure messages.
inline std::string NaiveText(const std::vector<NaiveRow>& rows) {
  std::string text;
  for (const NaiveRow& row : rows) {
    absl::StrAppend(&text, "line ", row.line, " bad '", row.bad, "':");
    for (const std::string& field : row.fields) absl::StrAppend(&text, " <", field, ">");
    for (const CsvPosition& at : row.positions)
      absl::StrAppend(&text, " ", at.line, ":", at.column);
    absl::StrAppend(&text, "\n");
  }
  return text;
}

class NaiveCsv {
 public:
  NaiveCsv(std::string text, CsvOptions options)
      : text_(std::move(text)), options_(std::move(options)) {}

  std::vector<NaiveRow> Split() {
    if (text_.compare(0, 3, "\xEF\xBB\xBF") == 0) text_.erase(0, 3);
    while (at_ < text_.size()) {
      const size_t begin = at_;
      const int64_t line = here_.line;
      NaiveRow row;
      const std::string& comment = options_.comment;
      if (!comment.empty() && text_.compare(at_, comment.size(), comment) == 0) {
        SkipComment(&row);
      } else if (options_.separator == ' ') {
        ReadBlanks(&row);
      } else {
        ReadRow(&row);
      }
      if (!row.bad.empty()) {
        row.line = 0;
        row.fields.clear();
        at_ = begin;
        here_ = CsvPosition{line, 1};
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
        if (at_ < text_.size()) Advance();
        here_ = CsvPosition{line + 1, 1};
        rows_.push_back(row);
      } else if (!row.fields.empty()) {
        row.line = line;
        rows_.push_back(row);
      }
    }
    return rows_;
  }

 private:
  bool Eof() const { return at_ == text_.size(); }
  bool AtLineEnd() const { return Eof() || text_[at_] == '\n'; }
  void Advance() {
    if (text_[at_++] == '\n') {
      here_ = CsvPosition{here_.line + 1, 1};
    } else {
      ++here_.column;
    }
  }
  bool TooLong(size_t begin, int64_t line, NaiveRow* row) const {
    if (at_ - begin <= options_.max_row_bytes) return false;
    row->bad = std::string(kCsvRowTooLong);
    row->positions.assign(1, CsvPosition{line, 1});
    return true;
  }

  void SkipComment(NaiveRow* row) {
    const size_t begin = at_;
    const int64_t line = here_.line;
    for (;;) {
      if (TooLong(begin, line, row)) return;
      if (AtLineEnd()) break;
      Advance();
    }
    if (!Eof()) Advance();
  }

  void ReadBlanks(NaiveRow* row) {
    const size_t begin = at_;
    const int64_t line = here_.line;
    std::string text;
    for (;;) {
      if (TooLong(begin, line, row)) return;
      if (AtLineEnd()) break;
      text.push_back(text_[at_]);
      Advance();
    }
    if (!Eof()) Advance();
    if (!text.empty() && text.back() == '\r') text.pop_back();
    bool inside = false;
    for (size_t i = 0; i < text.size(); ++i) {
      const bool blank = text[i] == ' ' || text[i] == '\t';
      if (!blank && !inside) {
        row->fields.emplace_back();
        row->positions.push_back(CsvPosition{line, static_cast<int64_t>(i) + 1});
      }
      if (!blank) row->fields.back().push_back(text[i]);
      inside = !blank;
    }
    row->positions.push_back(CsvPosition{line, static_cast<int64_t>(text.size()) + 1});
  }

  void ReadRow(NaiveRow* row) {
    enum class State { kStart, kPlain, kQuoted, kClosed, kClosedCr };
    const size_t begin = at_;
    const int64_t line = here_.line;
    State state = State::kStart;
    CsvPosition field_at = here_;
    CsvPosition cr_at;
    std::string field;
    const auto add = [&] {
      row->fields.push_back(field);
      row->positions.push_back(field_at);
      field.clear();
    };
    const auto text_after_quote = [&](CsvPosition at) {
      row->bad = std::string(kCsvTextAfterQuote);
      row->positions.assign(1, at);
    };
    for (;;) {
      if (TooLong(begin, line, row)) return;
      const char c = Eof() ? '\n' : text_[at_];
      if (state == State::kQuoted) {
        if (Eof()) {
          row->bad = std::string(kCsvUnclosedQuote);
          row->positions.assign(1, field_at);
          return;
        }
        if (c == '"') {
          state = State::kClosed;
        } else {
          field.push_back(c);
        }
      } else if (c == '\n') {
        break;
      } else if (state == State::kClosedCr) {
        text_after_quote(cr_at);
        return;
      } else if (state == State::kClosed && c == '"') {
        field.push_back('"');
        state = State::kQuoted;
      } else if (state == State::kClosed && c == '\r') {
        state = State::kClosedCr;
        cr_at = here_;
      } else if (c == options_.separator) {
        add();
        state = State::kStart;
        field_at = here_;
        ++field_at.column;
      } else if (state == State::kClosed) {
        text_after_quote(here_);
        return;
      } else if (state == State::kStart && c == '"') {
        state = State::kQuoted;
      } else {
        field.push_back(c);
        state = State::kPlain;
      }
      Advance();
    }
    CsvPosition end = here_;
    if (state == State::kPlain && field.back() == '\r') {
      field.pop_back();
      --end.column;
    }
    if (state == State::kClosedCr) end = cr_at;
    if (!Eof()) Advance();
    const bool plain = state == State::kStart || state == State::kPlain;
    if (plain && field.empty() && row->fields.empty()) return;
    add();
    row->positions.push_back(end);
  }

  std::string text_;
  const CsvOptions options_;
  size_t at_ = 0;
  CsvPosition here_;
  std::vector<NaiveRow> rows_;
};

inline std::vector<NaiveRow> NaiveSplit(absl::string_view text, const CsvOptions& options) {
  return NaiveCsv(std::string(text), options).Split();
}

// The rows of `text` by the real splitter, in the same form.
inline std::vector<NaiveRow> RealSplit(absl::string_view text, const CsvOptions& options,
                                       const ByteSourceOptions& chunks) {
  std::vector<NaiveRow> rows;
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenMemory("test", text, chunks);
  if (!source.ok()) return rows;
  CsvSplitter splitter(source->get(), options);
  for (;;) {
    NaiveRow row;
    switch (splitter.Next()) {
      case CsvSplitter::Result::kRow:
        row.line = splitter.line();
        for (size_t i = 0; i < splitter.size(); ++i) {
          row.fields.emplace_back(splitter.field(i));
          row.positions.push_back(splitter.position(i));
        }
        row.positions.push_back(splitter.end_position());
        break;
      case CsvSplitter::Result::kBadRow:
        row.bad = std::string(splitter.error().kind);
        row.positions.push_back(splitter.error().at);
        break;
      case CsvSplitter::Result::kEnd:
        return rows;
      case CsvSplitter::Result::kFailed:
        row.bad = std::string(splitter.status().message());
        rows.push_back(row);
        return rows;
    }
    rows.push_back(row);
  }
}

}  // namespace drasim

#endif  // DRASIM_TESTS_TRACES_NAIVE_CSV_H_
