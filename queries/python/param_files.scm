; pytest-param-files 0.6: file_params.assert_expected(text, rstrip=True). That the test has such a mark is checked by
; the oracle. `assert text == file_params.expected` is a plain comparison.
((call
   function: (attribute attribute: (identifier) @_call)
   arguments: (argument_list . (_) @pin.actual)) @pin
 (#eq? @_call "assert_expected")
 (#set! pin.framework "param-files"))
