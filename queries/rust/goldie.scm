; goldie 0.5 to 0.7, called by its crate's name: the macros are called like those of std and of insta.

((macro_invocation
   macro: (scoped_identifier path: (identifier) @_crate name: (identifier) @_call)
   (token_tree) @pin.actual) @pin
 (#eq? @_crate "goldie")
 (#any-of? @_call "assert" "assert_alt" "assert_debug" "assert_debug_alt" "assert_json" "assert_template")
 (#set! pin.framework "goldie"))
