#include "policies/cel/parser.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "policies/cel/lexer.h"
#include "policies/cel/literal_text.h"
#include "policies/cel/macros.h"
#include "policies/cel/operators.h"
#include "policies/cel/tree_builder.h"

namespace drasim::cel {
namespace {

constexpr NodeId kNone = std::numeric_limits<NodeId>::max();
using Nodes = absl::InlinedVector<NodeId, 8>;

constexpr absl::string_view kReserved[] = {
    "as",  "break", "const",   "continue",  "else",   "for", "function", "if",   "import",
    "let", "loop",  "package", "namespace", "return", "var", "void",     "while"};

constexpr absl::string_view kPrimaries =
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, "
    "BYTES, IDENTIFIER}";

struct BinaryOperator {
  absl::string_view sign;
  absl::string_view function;
};

constexpr BinaryOperator kRelationSigns[] = {
    {"==", ops::kEqual},  {"!=", ops::kNotEqual},     {"<", ops::kLess}, {"<=", ops::kLessEqual},
    {">", ops::kGreater}, {">=", ops::kGreaterEqual}, {"in", ops::kIn}};
constexpr BinaryOperator kTermSigns[] = {{"+", ops::kAdd}, {"-", ops::kSubtract}};
constexpr BinaryOperator kFactorSigns[] = {
    {"*", ops::kMultiply}, {"/", ops::kDivide}, {"%", ops::kModulo}};

// A recursive-descent parser. Every function returns kNone after an error.
class Parser {
 public:
  Parser(Ast* ast, Heap* heap, SourceError* error)
      : ast_(ast), heap_(heap), build_(ast), error_(error), lexer_(ast->source) {
    Advance();
  }

  bool Run() {
    const NodeId root = Expression();
    if (root == kNone) return false;
    if (token_.kind != TokenKind::kEnd) {
      Unexpected("<EOF>");
      return false;
    }
    ast_->root = root;
    return true;
  }

 private:
  // Counts the depth of one rule of the grammar while it lives.
  class Depth {
   public:
    Depth(Parser* parser, int* depth) : parser_(parser), depth_(depth) {}
    ~Depth() { *depth_ -= entered_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    bool Enter() {
      ++entered_;
      if (++*depth_ <= kMaxDepth) return true;
      parser_->Fail(parser_->token_.position,
                    absl::StrCat("expression recursion limit exceeded: ", kMaxDepth));
      return false;
    }

   private:
    Parser* parser_;
    int* depth_;
    int entered_ = 0;
  };

  void Advance() { token_ = lexer_.Next(); }

  NodeId Fail(uint32_t position, std::string message) {
    if (!failed_) *error_ = {position, std::move(message)};
    failed_ = true;
    return kNone;
  }

  NodeId Unexpected(absl::string_view expected) {
    if (token_.kind == TokenKind::kBad) {
      return Fail(token_.position,
                  absl::StrCat("Syntax error: token recognition error at: '", token_.text, "'"));
    }
    const absl::string_view found = token_.kind == TokenKind::kEnd ? "<EOF>" : token_.text;
    return Fail(token_.position,
                absl::StrCat("Syntax error: mismatched input '", found, "' expecting ", expected));
  }

  bool IsSign(absl::string_view sign) const {
    return token_.kind == TokenKind::kSign && token_.text == sign;
  }

  bool Accept(absl::string_view sign) {
    if (!IsSign(sign)) return false;
    Advance();
    return true;
  }

  bool Expect(absl::string_view sign) {
    if (Accept(sign)) return true;
    Unexpected(absl::StrCat("'", sign, "'"));
    return false;
  }

  NodeId Expression() {
    Depth depth(this, &expression_depth_);
    if (!depth.Enter()) return kNone;
    const NodeId condition = Chain("||", ops::kOr, &Parser::And);
    if (condition == kNone || !IsSign("?")) return condition;
    const uint32_t position = token_.position;
    Advance();
    const NodeId yes = Chain("||", ops::kOr, &Parser::And);
    if (yes == kNone || !Expect(":")) return kNone;
    const NodeId no = Expression();
    if (no == kNone) return kNone;
    return build_.Call(position, ops::kConditional, {condition, yes, no});
  }

  NodeId And() { return Chain("&&", ops::kAnd, &Parser::Relation); }

  // a && b && c, as a balanced tree.
  NodeId Chain(absl::string_view sign, absl::string_view function, NodeId (Parser::*operand)()) {
    Nodes terms;
    absl::InlinedVector<uint32_t, 8> positions;
    for (;;) {
      const NodeId term = (this->*operand)();
      if (term == kNone) return kNone;
      terms.push_back(term);
      if (!IsSign(sign)) break;
      positions.push_back(token_.position);
      Advance();
    }
    return Balanced(function, terms, positions, 0, terms.size());
  }

  NodeId Balanced(absl::string_view function, const Nodes& terms,
                  const absl::InlinedVector<uint32_t, 8>& positions, size_t begin, size_t end) {
    if (end - begin == 1) return terms[begin];
    const size_t middle = begin + (end - begin + 1) / 2;
    const NodeId left = Balanced(function, terms, positions, begin, middle);
    const NodeId right = Balanced(function, terms, positions, middle, end);
    return build_.Call(positions[middle - 1], function, {left, right});
  }

  template <size_t kCount>
  const BinaryOperator* OperatorHere(const BinaryOperator (&operators)[kCount]) const {
    if (token_.kind != TokenKind::kSign && token_.kind != TokenKind::kIdent) return nullptr;
    for (const BinaryOperator& candidate : operators) {
      if (token_.text == candidate.sign) return &candidate;
    }
    return nullptr;
  }

  // a - b - c, from the left.
  template <size_t kCount>
  NodeId Binary(const BinaryOperator (&operators)[kCount], NodeId (Parser::*operand)(), int* rule) {
    Depth depth(this, rule);
    NodeId left = (this->*operand)();
    for (;;) {
      const BinaryOperator* found = left == kNone ? nullptr : OperatorHere(operators);
      if (found == nullptr) return left;
      if (!depth.Enter()) return kNone;
      const uint32_t position = token_.position;
      Advance();
      const NodeId right = (this->*operand)();
      if (right == kNone) return kNone;
      left = build_.Call(position, found->function, {left, right});
    }
  }

  NodeId Relation() { return Binary(kRelationSigns, &Parser::Sum, &relation_depth_); }
  NodeId Sum() { return Binary(kTermSigns, &Parser::Product, &sum_depth_); }
  NodeId Product() { return Binary(kFactorSigns, &Parser::Unary, &product_depth_); }

  NodeId Unary() {
    if (!IsSign("!") && !IsSign("-")) return Member();
    const bool negate = IsSign("-");
    const absl::string_view sign = token_.text;
    const uint32_t position = token_.position;
    size_t count = 0;
    while (IsSign(sign)) {
      ++count;
      Advance();
    }
    const bool number = token_.kind == TokenKind::kInt || token_.kind == TokenKind::kDouble;
    negative_ = negate && count % 2 == 1 && number;
    const bool in_literal = negative_;
    const NodeId operand = Member();
    if (operand == kNone || count % 2 == 0 || in_literal) return operand;
    return build_.Call(position, negate ? ops::kNegate : ops::kNot, {operand});
  }

  NodeId Member() {
    Depth depth(this, &member_depth_);
    NodeId node = Primary();
    while (node != kNone) {
      const uint32_t position = token_.position;
      if (IsSign("{")) {
        return Fail(position, "unsupported: construction of messages");
      }
      if (!IsSign(".") && !IsSign("[")) return node;
      if (!depth.Enter()) return kNone;
      const bool select = IsSign(".");
      Advance();
      const bool optional = Accept("?");
      node = select ? Selection(node, position, optional) : Index(node, position, optional);
    }
    return kNone;
  }

  NodeId Index(NodeId operand, uint32_t position, bool optional) {
    const NodeId index = Expression();
    if (index == kNone || !Expect("]")) return kNone;
    return build_.Call(position, optional ? ops::kOptIndex : ops::kIndex, {operand, index});
  }

  // Parses a selection or a call behind a dot.
  NodeId Selection(NodeId operand, uint32_t position, bool optional) {
    if (token_.kind != TokenKind::kIdent || IsWord(token_.text)) return Unexpected("IDENTIFIER");
    const absl::string_view field = token_.text;
    Advance();
    if (optional) {
      const NodeId name = build_.Text(position, field);
      return build_.Call(position, ops::kOptSelect, {operand, name});
    }
    if (!IsSign("(")) return build_.Select(position, operand, field);
    const uint32_t call = token_.position;
    Nodes arguments;
    if (!Arguments(&arguments)) return kNone;
    NodeId expanded = kNone;
    std::string problem;
    switch (ExpandMemberMacro(&build_, call, operand, field, arguments, &expanded, &problem)) {
      case MacroResult::kExpanded:
        return expanded;
      case MacroResult::kError:
        return Fail(call, std::move(problem));
      case MacroResult::kNoMacro:
        break;
    }
    Nodes children = {operand};
    children.insert(children.end(), arguments.begin(), arguments.end());
    return build_.MemberCall(call, field, children);
  }

  // From "(" to ")".
  bool Arguments(Nodes* arguments) {
    Advance();
    if (Accept(")")) return true;
    do {
      const NodeId argument = Expression();
      if (argument == kNone) return false;
      arguments->push_back(argument);
    } while (Accept(","));
    return Expect(")");
  }

  // Words of the grammar, which are no identifiers.
  static bool IsWord(absl::string_view text) {
    return text == "in" || text == "true" || text == "false" || text == "null";
  }

  NodeId Primary() {
    const Token token = token_;
    const bool negative = std::exchange(negative_, false);
    switch (token.kind) {
      case TokenKind::kInt:
      case TokenKind::kUint:
      case TokenKind::kDouble:
        Advance();
        return Number(token, negative);
      case TokenKind::kString:
      case TokenKind::kBytes:
        Advance();
        return Quoted(token);
      case TokenKind::kIdent:
        if (token.text == "in") return Unexpected(kPrimaries);
        Advance();
        return Word(token);
      case TokenKind::kSign:
        break;
      case TokenKind::kEnd:
      case TokenKind::kBad:
        return Unexpected(kPrimaries);
    }
    if (Accept("(")) {
      const NodeId inner = Expression();
      return inner == kNone || !Expect(")") ? kNone : inner;
    }
    if (Accept("[")) return ListLiteral(token.position);
    if (Accept("{")) return MapLiteral(token.position);
    if (Accept(".")) {
      const Token name = token_;
      if (name.kind != TokenKind::kIdent || IsWord(name.text)) return Unexpected("IDENTIFIER");
      Advance();
      return Word(name);
    }
    return Unexpected(kPrimaries);
  }

  NodeId Word(const Token& token) {
    if (token.text == "true") return build_.Bool(token.position, true);
    if (token.text == "false") return build_.Bool(token.position, false);
    if (token.text == "null") return build_.Null(token.position);
    if (!IsSign("(")) {
      if (absl::c_linear_search(kReserved, token.text)) {
        return Fail(token.position, absl::StrCat("reserved identifier: ", token.text));
      }
      return build_.Ident(token.position, token.text);
    }
    const uint32_t call = token_.position;
    Nodes arguments;
    if (!Arguments(&arguments)) return kNone;
    if (token.text == "has" && arguments.size() == 1) {
      Node& select = ast_->nodes[arguments[0]];
      if (select.kind != NodeKind::kSelect || select.test_only) {
        return Fail(select.position, "invalid argument to has() macro");
      }
      select.test_only = true;
      return arguments[0];
    }
    return build_.Call(call, token.text, arguments);
  }

  NodeId Number(const Token& token, bool negative) {
    const bool hex = absl::StartsWith(token.text, "0x");
    if (token.kind == TokenKind::kDouble) {
      double value = 0;
      if (!absl::SimpleAtod(token.text, &value) || value > std::numeric_limits<double>::max()) {
        return Fail(token.position, "Syntax error: invalid double literal");
      }
      return build_.Double(token.position, negative ? -value : value);
    }
    const bool is_unsigned = token.kind == TokenKind::kUint;
    const absl::string_view digits =
        token.text.substr(0, token.text.size() - (is_unsigned ? 1 : 0));
    uint64_t value = 0;
    const bool read = hex ? absl::SimpleHexAtoi(digits, &value) : absl::SimpleAtoi(digits, &value);
    const uint64_t limit =
        static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) + (negative ? 1U : 0U);
    if (!read || (!is_unsigned && value > limit)) {
      return Fail(token.position,
                  absl::StrCat("Syntax error: invalid ", is_unsigned ? "uint" : "int", " literal"));
    }
    if (is_unsigned) return build_.Uint(token.position, value);
    return build_.Int(token.position, static_cast<int64_t>(negative ? 0 - value : value));
  }

  NodeId Quoted(const Token& token) {
    const QuotedText quoted = SplitQuotes(token.text);
    absl::string_view text = quoted.inner;
    if (!quoted.raw && absl::StrContains(text, '\\')) {
      absl::StatusOr<std::string> plain = Unescape(quoted);
      if (!plain.ok()) {
        return Fail(token.position, absl::StrCat("Syntax error: ", plain.status().message()));
      }
      text = heap_->Text(*std::move(plain));
    }
    return quoted.bytes ? build_.Bytes(token.position, text) : build_.Text(token.position, text);
  }

  NodeId ListLiteral(uint32_t position) {
    Nodes elements;
    while (!IsSign("]")) {
      if (IsSign("?")) return Fail(token_.position, "unsupported: optional elements of lists");
      const NodeId element = Expression();
      if (element == kNone) return kNone;
      elements.push_back(element);
      if (!Accept(",")) break;
    }
    if (!Expect("]")) return kNone;
    return build_.List(position, elements);
  }

  NodeId MapLiteral(uint32_t position) {
    Nodes entries;
    while (!IsSign("}")) {
      if (IsSign("?")) return Fail(token_.position, "unsupported: optional entries of maps");
      const NodeId key = Expression();
      if (key == kNone || !Expect(":")) return kNone;
      const NodeId value = Expression();
      if (value == kNone) return kNone;
      entries.push_back(key);
      entries.push_back(value);
      if (!Accept(",")) break;
    }
    if (!Expect("}")) return kNone;
    return build_.Map(position, entries);
  }

  Ast* ast_;
  Heap* heap_;
  TreeBuilder build_;
  SourceError* error_;
  Lexer lexer_;
  Token token_;
  bool failed_ = false;
  bool negative_ = false;  // the number that comes next has a minus sign
  int expression_depth_ = 0;
  int relation_depth_ = 0;
  int sum_depth_ = 0;
  int product_depth_ = 0;
  int member_depth_ = 0;
};

}  // namespace

bool Parse(Ast* ast, Heap* heap, SourceError* error) {
  ast->nodes.reserve(16 + ast->source.size() / 4);
  ast->children.reserve(16 + ast->source.size() / 4);
  return Parser(ast, heap, error).Run();
}

}  // namespace drasim::cel
