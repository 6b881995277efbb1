fn main() -> std::process::ExitCode {
    release::main()
}
