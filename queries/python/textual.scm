; pytest-textual-snapshot 1.1: assert snap_compare(app, press=["tab"]). That the name is the plugin's fixture is checked
; by its origin.
((call function: (identifier) @_call arguments: (argument_list)) @pin
 (#eq? @_call "snap_compare")
 (#set! pin.framework "pytest-textual-snapshot"))
