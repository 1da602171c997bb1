; trycmd 0.13 to 1.2: the files with commands and their output that a pattern names.

((call_expression
   function: (field_expression field: (field_identifier) @_call)) @pin
 (#any-of? @_call "case" "fail" "pass" "interrupted")
 (#set! pin.framework "trycmd"))
