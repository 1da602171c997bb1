; The fixture `snapshot` of several plugins. Whose it is, and whether it is one at all, is decided by the oracles
; from where the name comes.

; same = value == snapshot; return value == snapshot; value == snapshot
((assignment right: (comparison_operator . (_) @pin.actual ["==" "!="] (_) @pin.expected .) @pin)
 (#set! pin.framework "compared"))
((return_statement (comparison_operator . (_) @pin.actual ["==" "!="] (_) @pin.expected .) @pin)
 (#set! pin.framework "compared"))
((expression_statement (comparison_operator . (_) @pin.actual ["==" "!="] (_) @pin.expected .) @pin)
 (#set! pin.framework "compared"))

; snapshot.assert_match(value), snapshot.assert_match(value, "name")
((call
   function: (attribute attribute: (identifier) @_call)
   arguments: (argument_list . (_) @pin.actual)) @pin
 (#eq? @_call "assert_match")
 (#set! pin.framework "assert_match"))
