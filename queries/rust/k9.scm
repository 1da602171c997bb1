; k9 0.10 to 0.12. Whether the macros are that crate's is decided by the oracle.

((macro_invocation
   macro: [(identifier) @_call (scoped_identifier name: (identifier) @_call)]) @pin
 (#any-of? @_call "assert_matches_snapshot")
 (#set! pin.framework "k9")
 (#set! pin.form "file"))

((macro_invocation
   macro: [(identifier) @_call (scoped_identifier name: (identifier) @_call)]) @pin
 (#any-of? @_call "snapshot")
 (#set! pin.framework "k9")
 (#set! pin.form "inline"))

((macro_invocation
   macro: [(identifier) @_call (scoped_identifier name: (identifier) @_call)]) @pin
 (#any-of? @_call "assert_equal")
 (#set! pin.framework "k9")
 (#set! pin.form "equal"))
