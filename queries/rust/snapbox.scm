; snapbox 0.5 to 1.2: the expected value is the pin, wherever it stands: `str![…]`, `file![…]`, `Data::read_from(…)`.
; Whether the names are that crate's is decided by the oracle; calls inside other macros are found by the program.

((macro_invocation
   macro: [(identifier) @_call (scoped_identifier name: (identifier) @_call)]) @pin
 (#any-of? @_call "str")
 (#set! pin.framework "snapbox")
 (#set! pin.form "inline"))

((macro_invocation
   macro: [(identifier) @_call (scoped_identifier name: (identifier) @_call)]) @pin
 (#any-of? @_call "file")
 (#set! pin.framework "snapbox")
 (#set! pin.form "file"))

((call_expression
   function: (scoped_identifier name: (identifier) @_call)) @pin
 (#any-of? @_call "read_from")
 (#set! pin.framework "snapbox")
 (#set! pin.form "read"))
