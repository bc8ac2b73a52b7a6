//! Tests that exact codes, hashes, paths and versions are found among thousands of similar ones.

use futures::StreamExt;
use futures::stream;

use crate::house::{House, ask, user};

/// Number of memories, a fifth of each sort.
const MEMORIES: u64 = 2_000;

/// SplitMix64, so that the same seed gives the same memories everywhere.
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// An identifier and a sentence that holds it. Neighbouring numbers make identifiers that look alike.
fn memory(seed: u64, number: u64) -> (String, String) {
    let random = mixed(seed ^ number);
    let block = number / 5;
    let identifier = match number % 5 {
        0 => format!("OPS-{}", 4000 + block),
        1 => format!("ERR_{:04X}", 0x1000 + block),
        2 => format!("{:010x}", random & 0xff_ffff_ffff),
        3 => format!("src/{}/mod_{block}.rs", ["net", "disk", "auth", "cache"][(block % 4) as usize]),
        _ => format!("v{}.{}.{}", block / 100, block / 10 % 10, block % 10),
    };
    let sentence = match random % 4 {
        0 => format!("The deploy was stopped because of {identifier} and had to be repeated."),
        1 => format!("We talked about {identifier} in the weekly meeting."),
        2 => format!("{identifier} was closed after the second review"),
        _ => format!("Please look at {identifier} before the release goes out."),
    };
    (identifier, sentence)
}

async fn found_among_five(house: &House, seed: u64) -> f64 {
    let ana = user("ana");
    let mut hits = 0;
    for number in (0..MEMORIES).step_by(4) {
        let (identifier, sentence) = memory(seed, number);
        let question = match number % 3 {
            0 => format!("What happened with {identifier}?"),
            1 => identifier.clone(),
            _ => format!("why was {identifier} discussed"),
        };
        let recall = house.engine.recall(&ana, ask(&question)).await.unwrap();
        let first: Vec<&str> = recall.hits.iter().take(5).map(|hit| hit.memory.content.as_str()).collect();
        if first.contains(&sentence.as_str()) {
            hits += 1;
        }
    }
    f64::from(hits) / (MEMORIES / 4) as f64
}

// Coverage: S1.4.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn identifiers_are_found_among_thousands() {
    let seed = 7;
    println!("seed {seed}");
    let house = House::new();
    let ana = user("ana");
    let texts: Vec<String> = (0..MEMORIES).map(|number| memory(seed, number).1).collect();
    // Many at once, so that they share their commits.
    stream::iter(&texts).for_each_concurrent(64, async |text| drop(house.remember(&ana, text).await)).await;
    let share = found_among_five(&house, seed).await;
    assert!(share >= 0.99, "with a model {share} are found");
    house.model(false);
    let share = found_among_five(&house, seed).await;
    assert!(share >= 0.99, "by words alone {share} are found");
}
