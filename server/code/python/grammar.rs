//! The words of tree-sitter-python 0.25 as numbers, so that a walk compares no texts.

use std::sync::OnceLock;

use tree_sitter::Node;

use crate::syntax::Language;
use crate::text::Span;

macro_rules! words {
    ($kind:ident, $($name:ident = $text:literal),* $(,)?) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum $kind { $($name,)* Other }

        impl $kind {
            pub(super) fn of(text: &str) -> $kind {
                match text {
                    $($text => $kind::$name,)*
                    _ => $kind::Other,
                }
            }
        }
    };
}

words! { Kind,
    ArgumentList = "argument_list", AsPattern = "as_pattern", AsPatternTarget = "as_pattern_target",
    AliasedImport = "aliased_import", AssertStatement = "assert_statement", Assignment = "assignment",
    Attribute = "attribute", AugmentedAssignment = "augmented_assignment", Await = "await",
    BinaryOperator = "binary_operator", Block = "block", BreakStatement = "break_statement", Colon = ":",
    ContinueStatement = "continue_statement", BooleanOperator = "boolean_operator", Call = "call",
    CaseClause = "case_clause", ClassDefinition = "class_definition", Comment = "comment",
    ComparisonOperator = "comparison_operator", ConcatenatedString = "concatenated_string",
    ConditionalExpression = "conditional_expression", DecoratedDefinition = "decorated_definition",
    Decorator = "decorator", DefaultParameter = "default_parameter", Dictionary = "dictionary",
    DictionaryComprehension = "dictionary_comprehension", DictionarySplat = "dictionary_splat",
    DictionarySplatPattern = "dictionary_splat_pattern", DottedName = "dotted_name", ElifClause = "elif_clause",
    Ellipsis = "ellipsis", ElseClause = "else_clause", ExceptClause = "except_clause",
    ExpressionList = "expression_list", ExpressionStatement = "expression_statement", False = "false",
    FinallyClause = "finally_clause", Float = "float", ForInClause = "for_in_clause",
    ForStatement = "for_statement", FormatSpecifier = "format_specifier",
    FunctionDefinition = "function_definition", GeneratorExpression = "generator_expression",
    Identifier = "identifier", IfClause = "if_clause", IfStatement = "if_statement",
    ImportFromStatement = "import_from_statement", ImportStatement = "import_statement", Integer = "integer",
    Interpolation = "interpolation", KeywordArgument = "keyword_argument", KeywordSeparator = "keyword_separator",
    Lambda = "lambda", LineContinuation = "line_continuation", List = "list",
    ListComprehension = "list_comprehension", ListPattern = "list_pattern", ListSplat = "list_splat",
    ListSplatPattern = "list_splat_pattern", MatchStatement = "match_statement",
    NamedExpression = "named_expression", None = "none", NotOperator = "not_operator", Pair = "pair",
    ParenthesizedExpression = "parenthesized_expression", ParenthesizedListSplat = "parenthesized_list_splat",
    PatternList = "pattern_list", RaiseStatement = "raise_statement", RelativeImport = "relative_import",
    ReturnStatement = "return_statement", Set = "set", SetComprehension = "set_comprehension", Slice = "slice",
    Str = "string", StringEnd = "string_end", StringStart = "string_start", Subscript = "subscript",
    True = "true", TryStatement = "try_statement", Tuple = "tuple", TuplePattern = "tuple_pattern",
    TypeConversion = "type_conversion", TypedDefaultParameter = "typed_default_parameter",
    TypedParameter = "typed_parameter", UnaryOperator = "unary_operator", WhileStatement = "while_statement",
    WildcardImport = "wildcard_import", WithClause = "with_clause", WithItem = "with_item",
    WithStatement = "with_statement", Yield = "yield",
    Equal = "==", NotEqual = "!=", Differ = "<>", Less = "<", LessEqual = "<=", More = ">", MoreEqual = ">=",
    In = "in", NotIn = "not in", Is = "is", IsNot = "is not", Or = "or", Plus = "+", Minus = "-", Star = "*",
    Slash = "/", Percent = "%", Becomes = "=", Comma = ",", Error = "ERROR",
}

words! { Field,
    Alias = "alias", Alternative = "alternative", Arguments = "arguments", Argument = "argument", Body = "body",
    Condition = "condition", Consequence = "consequence", Definition = "definition", Expression = "expression",
    Function = "function", Key = "key", Left = "left", ModuleName = "module_name", Name = "name",
    Object = "object", Parameters = "parameters", Right = "right", Subject = "subject", Subscripted = "subscript",
    Superclasses = "superclasses", Type = "type", Value = "value", AttributeName = "attribute",
    ReturnType = "return_type",
}

pub(super) struct Grammar {
    pub(super) kinds: Vec<Kind>,
    pub(super) fields: Vec<Field>,
}

pub(super) fn grammar() -> &'static Grammar {
    static GRAMMAR: OnceLock<Grammar> = OnceLock::new();
    GRAMMAR.get_or_init(|| {
        let language = Language::Python.grammar();
        Grammar {
            kinds: (0..language.node_kind_count())
                .map(|id| {
                    let kind = language.node_kind_for_id(id as u16).map_or(Kind::Other, Kind::of);
                    // The tokens `lambda`, `await` and `yield` are called like the nodes that they open.
                    if is_expression(kind) && !language.node_kind_is_named(id as u16) { Kind::Other } else { kind }
                })
                .collect(),
            fields: (0..=language.field_count())
                .map(|id| language.field_name_for_id(id as u16).map_or(Field::Other, Field::of))
                .collect(),
        }
    })
}

pub(super) fn span_of(node: Node) -> Span {
    Span::new(node.start_byte(), node.end_byte())
}

/// Whether a child is an operand rather than punctuation or a clause.
pub(super) fn is_expression(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::AsPattern
            | Kind::Attribute
            | Kind::Await
            | Kind::BinaryOperator
            | Kind::BooleanOperator
            | Kind::Call
            | Kind::ComparisonOperator
            | Kind::ConcatenatedString
            | Kind::ConditionalExpression
            | Kind::Dictionary
            | Kind::DictionaryComprehension
            | Kind::Ellipsis
            | Kind::ExpressionList
            | Kind::False
            | Kind::Float
            | Kind::GeneratorExpression
            | Kind::Identifier
            | Kind::Integer
            | Kind::Lambda
            | Kind::List
            | Kind::ListComprehension
            | Kind::NamedExpression
            | Kind::None
            | Kind::NotOperator
            | Kind::ParenthesizedExpression
            | Kind::Set
            | Kind::SetComprehension
            | Kind::Str
            | Kind::Subscript
            | Kind::True
            | Kind::Tuple
            | Kind::UnaryOperator
            | Kind::Yield
    )
}
