; expect-test 1.5: the expectation itself is the pin, also where it is handed to a helper. Whether `expect!` is that
; crate's macro is decided by the oracle; calls inside other macros are found by the program.

((macro_invocation
   macro: [(identifier) @_call (scoped_identifier name: (identifier) @_call)]) @pin
 (#any-of? @_call "expect")
 (#set! pin.framework "expect-test")
 (#set! pin.form "inline"))

((macro_invocation
   macro: [(identifier) @_call (scoped_identifier name: (identifier) @_call)]) @pin
 (#any-of? @_call "expect_file")
 (#set! pin.framework "expect-test")
 (#set! pin.form "file"))
