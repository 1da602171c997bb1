; expecttest 0.3: self.assertExpectedInline(actual, """…"""), self.assertExpectedRaisesInline(Error, call, """…"""),
; assert_expected_inline(actual, """…"""); self.assertExpected(text) of PyTorch's own copy, against a file.
((call
   function: [(identifier) @_call (attribute attribute: (identifier) @_call)]
   arguments: (argument_list)) @pin
 (#any-of? @_call "assertExpectedInline" "assertExpectedRaisesInline" "assert_expected_inline" "assertExpected")
 (#set! pin.framework "expecttest"))
