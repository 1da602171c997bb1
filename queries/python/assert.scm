; Plain comparisons of pytest and unittest. Whether one side is a literal, a file's content or neither is
; decided by the oracles, so both sides are captured as they stand.

; assert left == right, "message"        (also a != b, a in b: shown, never accepted)
((assert_statement . (comparison_operator . (_) @pin.actual (_) @pin.expected .)) @pin
 (#set! pin.framework "assert"))

; assert (left == right)
((assert_statement . (parenthesized_expression
    (comparison_operator . (_) @pin.actual (_) @pin.expected .))) @pin
 (#set! pin.framework "assert"))

; assert a == b and c == d, assert not a == b
((assert_statement . [(boolean_operator) (not_operator)]) @pin
 (#set! pin.framework "assert"))

; self.assertEqual(left, right)
((call
   function: (attribute object: (identifier) @_self attribute: (identifier) @_call)
   arguments: (argument_list . (_) @pin.actual . (_) @pin.expected)) @pin
 (#any-of? @_self "self" "cls" "case" "testcase" "tc")
 (#any-of? @_call
   "assertEqual" "assertEquals" "assertMultiLineEqual" "assertDictEqual" "assertListEqual"
   "assertTupleEqual" "assertSetEqual" "assertSequenceEqual" "assertAlmostEqual" "assertCountEqual"
   "assertNotEqual" "assertNotAlmostEqual" "assertIn" "assertNotIn")
 (#set! pin.framework "assert")
 (#set! pin.form "unittest"))
