//! The guard notices operations that have become more expensive.
//!
//! The operations run with the real binary. What the script makes of the counts is tried with a stand-in for
//! valgrind, whose counts are given, in a folder of programs where nothing else is found.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{Home, Run};

const PROGRAMS: &[&str] = &[
    "awk", "bash", "cat", "cp", "cut", "dirname", "env", "grep", "mkdir", "mktemp", "printf", "rm", "rustc", "sed",
    "sh", "touch", "uname",
];
const OPERATIONS: [&str; 5] = ["remember", "recall", "nearest", "embed", "consolidate"];

#[test]
fn every_operation_of_the_guard_runs_on_a_store_that_it_makes_once() {
    let home = Home::new();
    for operation in ["remember", "recall", "consolidate"] {
        let keep = home.path().join(operation);
        for times in ["0", "2"] {
            let keep = keep.to_str().unwrap();
            let run = home.run(&["bench", "guard", "--operation", operation, "--times", times, "--keep", keep]);
            assert_eq!(run.code, 0, "{operation} {run:?}");
        }
        assert!(keep.join("guard/catalogue.db").exists(), "{operation}");
    }
}

#[test]
fn five_percent_more_is_a_failure_and_five_percent_less_a_request() {
    if !counts_here() {
        return;
    }
    let cases = [
        (Some(1_000), 1_000, 0, "+0.0%", ""),
        (Some(1_000), 1_049, 0, "+4.9%", ""),
        (Some(1_000), 1_060, 1, "+6.0%  dearer", "make guard-update"),
        (Some(1_000), 940, 0, "-6.0%  cheaper", "make guard-update"),
        (None, 1_000, 1, "new", "make guard-update"),
    ];
    for (committed, counted, code, row, message) in cases {
        let bench = Bench::new(Some(counted));
        bench.commit(committed);
        let run = bench.run("check", true);
        assert_eq!(run.code, code, "{counted}: {run:?}");
        assert_eq!(run.out.lines().filter(|line| line.ends_with(row)).count(), 5, "{run:?}");
        assert!(run.err.contains(message), "{run:?}");
    }
}

#[test]
fn an_update_writes_what_moved_and_leaves_what_did_not() {
    if !counts_here() {
        return;
    }
    for (counted, written) in [(1_005, 1_000), (1_200, 1_200), (800, 800)] {
        let bench = Bench::new(Some(counted));
        bench.commit(Some(1_000));
        let run = bench.run("update", true);
        assert_eq!(run.code, 0, "{run:?}");
        for operation in OPERATIONS {
            assert!(bench.committed().contains(&format!("\n{operation} = {written}\n")), "{}", bench.committed());
        }
        assert!(bench.committed().contains("counted_with = \"rustc "), "{}", bench.committed());
    }
}

#[test]
fn without_valgrind_the_guard_says_what_to_install() {
    if !counts_here() {
        return;
    }
    let bench = Bench::new(None);
    bench.commit(Some(1_000));
    for (required, code) in [(true, 1), (false, 0)] {
        let run = bench.run("check", required);
        assert_eq!(run.code, code, "{run:?}");
        assert!(run.err.contains("apt-get install valgrind"), "{run:?}");
    }
}

/// Whether counts are kept for this processor; elsewhere the script says so and ends.
fn counts_here() -> bool {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
    return false;
}

/// A folder with programs, a target folder and a file of committed counts.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new(counted: Option<u64>) -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap() };
        let programs = bench.path("bin");
        fs::create_dir(&programs).unwrap();
        for name in PROGRAMS {
            symlink(program(name), programs.join(name)).unwrap();
        }
        // Makes the store that is asked for, and does nothing else.
        script(&bench.path("loci"), "for last; do :; done; mkdir -p \"$last\"");
        if let Some(counted) = counted {
            let body = format!(
                "[ \"$1\" != --version ] || {{ echo valgrind-0; exit; }}\n\
                 while [ $# -gt 0 ]; do case \"$1\" in --log-file=*) log=\"${{1#*=}}\" ;; --times) times=\"$2\" ;; esac; shift; done\n\
                 echo \"==1== Collected : $((123456 + times * {counted}))\" > \"$log\""
            );
            script(&programs.join("valgrind"), &body);
        }
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn commit(&self, value: Option<u64>) {
        let lines = OPERATIONS.map(|name| value.map(|value| format!("{name} = {value}\n")).unwrap_or_default());
        fs::write(self.path("guard.toml"), format!("counted_with = \"x\"\n\n[instructions]\n{}", lines.concat()))
            .unwrap();
    }

    fn committed(&self) -> String {
        fs::read_to_string(self.path("guard.toml")).unwrap()
    }

    fn run(&self, verb: &str, required: bool) -> Run {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/guard.sh");
        let mut command = Command::new(script);
        command.arg(verb).env("PATH", self.path("bin")).env("GUARD_FILE", self.path("guard.toml"));
        command.env("CARGO_TARGET_DIR", self.path("target")).env("LOCI", self.path("loci"));
        command.env("LOCI_TEST_REQUIRE", if required { "1" } else { "" });
        command.output().unwrap().into()
    }
}

/// Where a program of this machine lies.
#[expect(clippy::disallowed_methods, reason = "a test looks for the programs that its script calls")]
fn program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let mut folders = std::env::split_paths(&path);
    folders.find_map(|folder| Some(folder.join(name)).filter(|path| path.is_file())).unwrap()
}

fn script(path: &Path, body: &str) {
    fs::write(path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
