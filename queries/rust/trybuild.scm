; trybuild 1.x: the sources that must fail to compile; each has its message beside it.

((call_expression
   function: (field_expression field: (field_identifier) @_call)) @pin
 (#any-of? @_call "compile_fail")
 (#set! pin.framework "trybuild"))
