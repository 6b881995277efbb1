# What is done often. `just --list` shows this.

# A sample company to look at, on http://127.0.0.1:5000
demo:
    cargo run --release -- serve --demo

test:
    cargo test --workspace

# Format, lint and test as the gate does
gate:
    .ci/run

# After a change of the API that is meant
openapi:
    UPDATE_OPENAPI=1 cargo test -p acceptance the_documents_are_pinned
