; snapshottest 0.6: snapshot.assert_match(value, "name"), self.assertMatchSnapshot(value, "name"),
; assert_match_snapshot(value). Told from other plugins by the signs of snapshottest around the test.
((call
   function: [(identifier) @_call (attribute attribute: (identifier) @_call)]
   arguments: (argument_list)) @pin
 (#any-of? @_call "assert_match" "assertMatchSnapshot" "assert_match_snapshot")
 (#set! pin.framework "snapshottest"))
