; pytest-snapshot 0.9: snapshot.assert_match(value, "name.txt"), snapshot.assert_match_dir({...}, "folder"). That the
; receiver is the plugin's fixture, however it is called, is checked by its origin.
((call
   function: (attribute attribute: (identifier) @_call)
   arguments: (argument_list)) @pin
 (#any-of? @_call "assert_match" "assert_match_dir")
 (#set! pin.framework "pytest-snapshot"))
