#include "sim/perf/text_template.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "sim/perf/template_eval.h"
#include "sim/perf/template_lexer.h"

namespace drasim::perf {
namespace {

using Token = TemplateToken;

constexpr int kMaxDepth = 100;
constexpr std::array<absl::string_view, 11> kOtherKeywords = {
    "block", "break", "continue", "define", "template", "with",
    "call",  "html",  "js",       "index",  "printf"};

// The tokens of one action, read from the front.
class ActionParser {
 public:
  ActionParser(const TemplatePiece& piece, absl::string_view file)
      : tokens_(piece.tokens), file_(file), line_(piece.line) {}

  bool done() const { return next_ == tokens_.size(); }
  bool AtWord(absl::string_view word) const {
    return !done() && tokens_[next_].kind == Token::Kind::kWord && tokens_[next_].text == word;
  }
  bool TakeWord(absl::string_view word) {
    if (!AtWord(word)) return false;
    ++next_;
    return true;
  }
  absl::Status End() const {
    return done() ? absl::OkStatus() : Error("unexpected words at the end of the action");
  }
  absl::Status Error(absl::string_view what) const { return TemplateError(file_, line_, what); }

  // With variables to set, of which `range` takes two.
  absl::StatusOr<TemplatePipeline> TakePipeline(bool in_range) {
    TemplatePipeline pipeline;
    pipeline.line = line_;
    size_t at = next_;
    while (at < tokens_.size() && tokens_[at].kind == Token::Kind::kVariable) {
      ++at;
      if (at < tokens_.size() && tokens_[at].kind == Token::Kind::kComma) ++at;
    }
    const bool sets =
        at < tokens_.size() && at > next_ &&
        (tokens_[at].kind == Token::Kind::kDeclare || tokens_[at].kind == Token::Kind::kAssign);
    if (sets) {
      for (size_t i = next_; i < at; ++i) {
        if (tokens_[i].kind == Token::Kind::kVariable) pipeline.targets.push_back(tokens_[i].text);
      }
      pipeline.declares = tokens_[at].kind == Token::Kind::kDeclare;
      next_ = at + 1;
      if (pipeline.targets.size() > (in_range ? 2u : 1u)) {
        return Error("found too many variables, expected one (of range, at most two)");
      }
    }
    RETURN_IF_ERROR(TakeCommands(&pipeline, 0));
    return pipeline;
  }

 private:
  absl::Status TakeCommands(TemplatePipeline* pipeline, int depth) {
    if (depth > kMaxDepth) return Error("found too many parentheses inside each other");
    while (true) {
      std::vector<TemplateOperand> command;
      while (!done() && tokens_[next_].kind != Token::Kind::kPipe &&
             tokens_[next_].kind != Token::Kind::kClose) {
        ASSIGN_OR_RETURN(TemplateOperand operand, TakeOperand(depth, command.empty()));
        command.push_back(std::move(operand));
      }
      if (command.empty()) return Error("found nothing, expected a value or a function");
      pipeline->commands.push_back(std::move(command));
      if (done() || tokens_[next_].kind != Token::Kind::kPipe) return absl::OkStatus();
      ++next_;
    }
  }

  absl::StatusOr<TemplateOperand> TakeOperand(int depth, bool first) {
    const Token& token = tokens_[next_];
    TemplateOperand operand;
    operand.token = token;
    ++next_;
    switch (token.kind) {
      case Token::Kind::kOpen: {
        auto inner = std::make_shared<TemplatePipeline>();
        inner->line = line_;
        RETURN_IF_ERROR(TakeCommands(inner.get(), depth + 1));
        if (done()) return Error("found no closing parenthesis");
        ++next_;
        operand.inner = std::move(inner);
        return operand;
      }
      case Token::Kind::kWord:
        RETURN_IF_ERROR(CheckWord(token.text, first));
        return operand;
      case Token::Kind::kClose:
      case Token::Kind::kPipe:
      case Token::Kind::kDeclare:
      case Token::Kind::kAssign:
      case Token::Kind::kComma:
        return Error("unexpected sign in the action");
      case Token::Kind::kField:
      case Token::Kind::kDot:
      case Token::Kind::kVariable:
      case Token::Kind::kInt:
      case Token::Kind::kReal:
      case Token::Kind::kText:
        break;
    }
    return operand;
  }

  absl::Status CheckWord(const std::string& word, bool first) const {
    if (word == "nil" || word == "true" || word == "false") return absl::OkStatus();
    const std::vector<std::string> names = TemplateFunctionNames();
    if (std::find(names.begin(), names.end(), word) == names.end()) {
      return Error(absl::StrCat("unknown function '", word, "'", Suggest(word, names)));
    }
    if (first) return absl::OkStatus();
    return Error(absl::StrCat("the function '", word, "' needs parentheses here"));
  }

  const std::vector<Token>& tokens_;
  absl::string_view file_;
  size_t line_;
  size_t next_ = 0;
};

class BlockParser {
 public:
  BlockParser(std::vector<TemplatePiece> pieces, absl::string_view file)
      : pieces_(std::move(pieces)), file_(file) {}

  absl::StatusOr<std::vector<TemplateNode>> All() {
    std::vector<TemplateNode> nodes;
    RETURN_IF_ERROR(TakeNodes(0, &nodes));
    if (next_ == pieces_.size()) return nodes;
    return TemplateError(file_, pieces_[next_].line, "found end or else without if or range");
  }

 private:
  bool AtBlockEnd() const {
    const ActionParser action(pieces_[next_], file_);
    return action.AtWord("end") || action.AtWord("else");
  }

  absl::Status TakeNodes(int depth, std::vector<TemplateNode>* nodes) {
    if (depth > kMaxDepth) {
      return TemplateError(file_, pieces_[next_ - 1].line,
                           "found too many blocks inside each other");
    }
    while (next_ < pieces_.size()) {
      const TemplatePiece& piece = pieces_[next_];
      TemplateNode node;
      node.line = piece.line;
      if (!piece.action) {
        node.text = piece.text;
        ++next_;
      } else if (AtBlockEnd()) {
        return absl::OkStatus();
      } else {
        ++next_;
        ActionParser action(piece, file_);
        RETURN_IF_ERROR(TakeAction(&action, depth, &node));
      }
      nodes->push_back(std::move(node));
    }
    return absl::OkStatus();
  }

  absl::Status TakeAction(ActionParser* action, int depth, TemplateNode* node) {
    for (const absl::string_view word : kOtherKeywords) {
      if (action->AtWord(word)) return action->Error(absl::StrCat("'", word, "' is not supported"));
    }
    const bool is_range = action->TakeWord("range");
    if (!is_range && !action->TakeWord("if")) {
      node->kind = TemplateNode::Kind::kPrint;
      ASSIGN_OR_RETURN(node->pipeline, action->TakePipeline(false));
      return action->End();
    }
    node->kind = is_range ? TemplateNode::Kind::kRange : TemplateNode::Kind::kIf;
    ASSIGN_OR_RETURN(node->pipeline, action->TakePipeline(is_range));
    RETURN_IF_ERROR(action->End());
    RETURN_IF_ERROR(TakeNodes(depth + 1, &node->then));
    return TakeBlockEnd(depth, node);
  }

  // `else if` is an `if` in the else branch, which shares its end.
  absl::Status TakeBlockEnd(int depth, TemplateNode* node) {
    if (next_ == pieces_.size()) return TemplateError(file_, node->line, "the block has no end");
    ActionParser action(pieces_[next_++], file_);
    if (action.TakeWord("end")) return action.End();
    action.TakeWord("else");
    if (action.AtWord("if")) {
      TemplateNode chained;
      chained.line = pieces_[next_ - 1].line;
      RETURN_IF_ERROR(TakeAction(&action, depth + 1, &chained));
      node->otherwise.push_back(std::move(chained));
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(action.End());
    RETURN_IF_ERROR(TakeNodes(depth + 1, &node->otherwise));
    if (next_ == pieces_.size()) return TemplateError(file_, node->line, "the block has no end");
    ActionParser last(pieces_[next_++], file_);
    if (last.TakeWord("end")) return last.End();
    return last.Error("found a second else");
  }

  std::vector<TemplatePiece> pieces_;
  absl::string_view file_;
  size_t next_ = 0;
};

bool UsesIndex(const TemplatePipeline& pipeline) {
  return std::any_of(pipeline.commands.begin(), pipeline.commands.end(), [](const auto& command) {
    return std::any_of(command.begin(), command.end(), [](const TemplateOperand& operand) {
      if (operand.inner != nullptr) return UsesIndex(*operand.inner);
      // All of `.` and `$` is more than anyone prints, but it has the index.
      if (operand.token.kind == Token::Kind::kDot) return true;
      if (operand.token.kind == Token::Kind::kVariable) return operand.token.text.empty();
      return operand.token.kind == Token::Kind::kField && operand.token.text == "Index";
    });
  });
}

bool UsesIndex(const std::vector<TemplateNode>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const TemplateNode& node) {
    return UsesIndex(node.pipeline) || UsesIndex(node.then) || UsesIndex(node.otherwise);
  });
}

}  // namespace

absl::StatusOr<TextTemplate> TextTemplate::Parse(absl::string_view text, absl::string_view file) {
  TextTemplate made;
  made.file_ = std::string(file);
  ASSIGN_OR_RETURN(std::vector<TemplatePiece> pieces, SplitTemplate(text, file));
  ASSIGN_OR_RETURN(made.nodes_, BlockParser(std::move(pieces), file).All());
  made.uses_index_ = UsesIndex(made.nodes_);
  return made;
}

absl::StatusOr<std::string> TextTemplate::Fill(const TemplateInput& input) const {
  return FillTemplate(nodes_, file_, input);
}

}  // namespace drasim::perf
