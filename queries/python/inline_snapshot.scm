; inline-snapshot: snapshot(value), external("uuid:…"), external_file("path"). That the name comes from the library
; is checked by its import; assertions that use one under another name are found by the oracle.
((call function: [(identifier) @_call (attribute attribute: (identifier) @_call)]) @pin
 (#any-of? @_call "snapshot" "external" "external_file")
 (#set! pin.framework "inline-snapshot"))
