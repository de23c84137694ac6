//! Processors and processes, as the kernel reports them.

use std::fs;
use std::process::Command;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use tokio_util::task::AbortOnDropHandle;

/// Error of a measurement.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Binds this thread, and the threads that it starts, to these processors.
pub(crate) fn pin(cores: &[usize]) -> Result<(), Failure> {
    let mut set = CpuSet::new();
    for core in cores {
        set.set(*core);
    }
    sched_setaffinity(None, &set)
        .map_err(|error| format!("cannot run on the processors {cores:?}: {error}").into())
}

/// Returns what was measured: the commit, the profile of this program, and the processors.
pub(crate) fn about() -> Result<String, Failure> {
    let program = std::env::current_exe()?;
    let profile = program.parent().and_then(|it| it.file_name());
    let profile = profile.map_or_else(Default::default, |name| name.to_string_lossy().into_owned());
    let commit = git(&["describe", "--always", "--abbrev=8", "--dirty"])?;
    let processors = fs::read_to_string("/proc/cpuinfo")?;
    let model = processors
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("unknown", |model| {
        model.trim_start_matches([' ', '\t', ':'])
    });
    let date = git(&["show", "--no-patch", "--format=%cs", "HEAD"])?;
    Ok(format!(
        "commit {commit} of {date}, profile {profile}, processor {model}"
    ))
}

/// Returns the answer of `git` about this repository.
pub(crate) fn git(arguments: &[&str]) -> Result<String, Failure> {
    let mut git = Command::new("git");
    git.current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments);
    let output = git.output()?;
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout)?.trim().to_owned()),
        false => Err(format!("git {}: {}", arguments.join(" "), output.status).into()),
    }
}

/// Keeps the processor of the callers from going to sleep: a server that answers a sleeper has to wake its
/// processor, and pays for that. No server does that over a network.
pub(crate) fn stay_awake() -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async {
        loop {
            tokio::task::yield_now().await;
        }
    }))
}

/// The first two processors that this process may use: for the server and for its callers.
pub(crate) fn two_cores() -> Result<[usize; 2], Failure> {
    let may_use = sched_getaffinity(None)?;
    let mut cores = (0..CpuSet::MAX_CPU).filter(|core| may_use.is_set(*core));
    match (cores.next(), cores.next()) {
        (Some(first), Some(second)) => Ok([first, second]),
        _ => Err("the server and its callers need a processor each: there is one".into()),
    }
}

/// Raises this process's limit of open files and sockets to `count`.
pub(crate) fn allow_files(count: u64) -> Result<(), Failure> {
    let now = getrlimit(Resource::Nofile);
    if now.current.is_none_or(|limit| limit >= count) {
        return Ok(());
    }
    let maximum = now.maximum.map(|maximum| maximum.max(count));
    let wanted = Rlimit {
        current: Some(count),
        maximum,
    };
    setrlimit(Resource::Nofile, wanted).map_err(|error| {
        format!("cannot have {count} files open ({error}): raise `ulimit -Hn`, it is {maximum:?}")
            .into()
    })
}

/// Returns the processor time of a process's threads in seconds.
pub(crate) fn cpu(process: u32) -> Result<f64, Failure> {
    let mut nanos = 0.0;
    for thread in fs::read_dir(format!("/proc/{process}/task"))? {
        // A thread may end meanwhile.
        if let Ok(used) = fs::read_to_string(thread?.path().join("schedstat")) {
            nanos += running(&used).ok_or_else(|| format!("not a schedstat: {used:?}"))?;
        }
    }
    Ok(nanos / 1e9)
}

/// The first of three numbers: nanoseconds on a processor.
fn running(schedstat: &str) -> Option<f64> {
    schedstat.split_ascii_whitespace().next()?.parse().ok()
}

/// Returns the resident memory of a process in bytes.
pub(crate) fn memory(process: u32) -> Result<f64, Failure> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    resident(&status).ok_or_else(|| "the kernel does not tell how much memory a process has".into())
}

/// The value of `VmRSS:`, in kB as the kernel has it.
fn resident(status: &str) -> Option<f64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: f64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_understood() {
        assert_eq!(running("54679 1 1\n"), Some(54_679.0));
        assert_eq!(running("\n"), None);
        assert_eq!(
            resident("Name:\tx\nVmRSS:\t    2048 kB\nVmData: 1 kB\n"),
            Some(2_097_152.0)
        );
        assert_eq!(resident("Name:\tx\n"), None);
    }

    #[test]
    fn this_process_uses_something() {
        let this = std::process::id();
        assert!(memory(this).expect("Linux tells") > 0.0);
        assert!(cpu(this).expect("Linux tells") > 0.0);
    }
}
