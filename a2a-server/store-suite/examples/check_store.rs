//! Puts a store to each case of the suite: `cargo run -p agent2agent-store-suite --example check_store`.

use std::process::ExitCode;

use a2a_server::MemoryStore as OwnStore;

#[tokio::main]
async fn main() -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for case in a2a_store_suite::cases() {
        match case.check(|| async { OwnStore::default() }).await {
            Ok(()) => println!("ok      {}: {}", case.name, case.promise),
            Err(violation) => {
                println!("broken  {violation}");
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}
