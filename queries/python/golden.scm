; Files compared as files, and comparisons that end in a failure of their own. Whether one side is a recorded
; file is decided by the oracle.

; assert filecmp.cmp(out, golden, shallow=False)
((assert_statement . (call function: [(identifier) @_call (attribute attribute: (identifier) @_call)])) @pin
 (#eq? @_call "cmp")
 (#set! pin.framework "golden-file")
 (#set! pin.form "filecmp"))

; self.assertTrue(filecmp.cmp(out, golden)), self.assertTrue(a == b)
((call
   function: (attribute object: (identifier) @_self attribute: (identifier) @_call)
   arguments: (argument_list . [
     (call function: [(identifier) (attribute)])
     (comparison_operator)])) @pin
 (#any-of? @_self "self" "cls")
 (#eq? @_call "assertTrue")
 (#set! pin.framework "golden-file")
 (#set! pin.form "true"))

; if out != golden.read_text(): pytest.fail(...)
((if_statement
   condition: (comparison_operator "!=")
   consequence: (block [(raise_statement) (expression_statement (call))])) @pin
 (#set! pin.framework "golden-file")
 (#set! pin.form "fails"))
