; insta 0.x to 1.49 and insta-cmd 0.6: every assertion macro. Whether it is inline, named or binary, and where the
; baseline lies, is the oracle's work. Calls inside other macros (`with_settings!`, `allow_duplicates!`, `glob!`)
; and under another name (`use insta::assert_snapshot as pin`) are found by the program, by the names given here.

((macro_invocation
   macro: [(identifier) @_call (scoped_identifier name: (identifier) @_call)]) @pin
 (#any-of? @_call
   "assert_snapshot" "assert_debug_snapshot" "assert_compact_debug_snapshot" "assert_display_snapshot"
   "assert_yaml_snapshot" "assert_json_snapshot" "assert_compact_json_snapshot" "assert_toml_snapshot"
   "assert_ron_snapshot" "assert_csv_snapshot" "assert_binary_snapshot"
   "assert_snapshot_matches" "assert_debug_snapshot_matches" "assert_display_snapshot_matches"
   "assert_yaml_snapshot_matches" "assert_json_snapshot_matches" "assert_ron_snapshot_matches"
   "assert_serialized_snapshot_matches")
 (#set! pin.framework "insta"))

((macro_invocation
   macro: [(identifier) @_call (scoped_identifier name: (identifier) @_call)]) @pin
 (#any-of? @_call "assert_cmd_snapshot")
 (#set! pin.framework "insta")
 (#set! pin.form "cmd"))
