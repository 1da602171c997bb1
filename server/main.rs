use std::process::ExitCode;

fn main() -> ExitCode {
    pindrift::cli::main()
}
