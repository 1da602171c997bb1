; approvaltests 20: verify(x), approvals.verify_as_json(x), combination_approvals.verify_all_combinations(f, [..]),
; with verify_logging(): … That the name comes from approvaltests is checked by its import.
((call
   function: [(identifier) @_call (attribute attribute: (identifier) @_call)]
   arguments: (argument_list)) @pin
 (#any-of? @_call
   "verify" "verify_as_json" "verify_all" "verify_all_combinations" "verify_all_combinations_with_labeled_input"
   "verify_best_covering_pairs" "verify_best_covering_pairs_with_labeled_input" "verify_binary" "verify_file"
   "verify_xml" "verify_html" "verify_exception" "verify_argument_parser" "verify_executable_command"
   "verify_with_namer" "verify_with_namer_and_writer" "verify_logging" "verify_simple_logger" "verify_storyboard"
   "verify_command_line" "verify_command_line_with_inputs" "verify_all_combinations_with_namer"
   "verify_all_combinations_async" "verify_all_combinations_with_labeled_input_async" "verify_logging_for_all_combinations")
 (#set! pin.framework "approvaltests"))
