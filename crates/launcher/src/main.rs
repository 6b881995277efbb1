fn main() -> std::process::ExitCode {
    launcher::main()
}
