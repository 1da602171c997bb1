; Plain comparisons: the standard library's, pretty_assertions 1.4 and similar-asserts 2.0. Whether one side is a
; literal, a file's content or neither is decided by the oracles. Calls inside other macros are found by the
; program, by the names given here.

((macro_invocation
   macro: [(identifier) @_call (scoped_identifier name: (identifier) @_call)]) @pin
 (#any-of? @_call "assert_eq" "debug_assert_eq" "assert_str_eq" "assert_serde_eq")
 (#set! pin.framework "assert")
 (#set! pin.form "equal"))

((macro_invocation
   macro: [(identifier) @_call (scoped_identifier name: (identifier) @_call)]) @pin
 (#any-of? @_call "assert_ne" "debug_assert_ne")
 (#set! pin.framework "assert")
 (#set! pin.form "unequal"))

((macro_invocation
   macro: [(identifier) @_call (scoped_identifier name: (identifier) @_call)]) @pin
 (#any-of? @_call "assert" "debug_assert")
 (#set! pin.framework "assert")
 (#set! pin.form "condition"))
