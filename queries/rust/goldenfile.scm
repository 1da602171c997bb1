; goldenfile 1.x: the file that a mint is asked for. Which folder the mint has is the oracle's work.

((call_expression
   function: (field_expression field: (field_identifier) @_call)) @pin
 (#any-of? @_call "new_goldenfile" "new_goldenpath" "new_goldenfile_with_differ" "new_goldenpath_with_differ")
 (#set! pin.framework "goldenfile"))
