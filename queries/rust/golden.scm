; A comparison that ends in a failure of its own. Whether one side is a recorded file is decided by the oracle.

; if out != fs::read_to_string(path).unwrap() { panic!("…") }
((if_expression
   condition: (binary_expression operator: "!=")
   consequence: (block)) @pin
 (#set! pin.framework "golden-file")
 (#set! pin.form "fails"))
