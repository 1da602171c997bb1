; expectorate 1.x.

((call_expression
   function: [(identifier) @_call (scoped_identifier name: (identifier) @_call)]) @pin
 (#any-of? @_call "assert_contents")
 (#set! pin.framework "expectorate"))
