; pytest-regressions 2.11: data_regression.check(data), file_regression.check(text, extension=".md"), … That the
; receiver is one of the plugin's six fixtures, however it is called, is checked by its origin.
((call
   function: (attribute attribute: (identifier) @_call)
   arguments: (argument_list)) @pin
 (#any-of? @_call "check" "Check")
 (#set! pin.framework "pytest-regressions"))
