//! Property tests of the engine.

use loci_engine::{Caller, policy};
use loci_types::{Identifier, Identifiers};
use proptest::prelude::*;

use crate::house::{House, ask, new};

fn identifiers() -> impl Strategy<Value = Identifiers> {
    let name = || prop::option::weighted(0.5, prop::sample::select(vec!["a", "b"]));
    (name(), name(), name(), name(), name()).prop_map(|(agent, user, session, project, company)| {
        let mut identifiers = Identifiers::default();
        for (which, value) in [
            (Identifier::Agent, agent),
            (Identifier::User, user),
            (Identifier::Session, session),
            (Identifier::Project, project),
            (Identifier::Company, company),
        ] {
            identifiers.set(which, value.map(str::to_owned));
        }
        identifiers
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    // Coverage: SPEC-6.6.
    #[test]
    fn recall_returns_only_what_is_visible(
        written in prop::collection::vec(identifiers(), 1..20),
        asked in prop::collection::vec(identifiers(), 1..6),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        runtime.block_on(async {
            let house = House::new();
            for (number, identifiers) in written.iter().enumerate() {
                for layer in identifiers.layers() {
                    let text = format!("common words about lamp number {number} in {layer}");
                    let memory = loci_engine::NewMemory { layer: Some(layer), ..new(&text) };
                    house.engine.remember(&Caller::new(identifiers.clone()), memory).await.unwrap();
                }
            }
            for identifiers in asked {
                let caller = Caller::new(identifiers);
                let Ok(visible) = policy::visible(&caller, None) else {
                    assert!(house.engine.recall(&caller, ask("common lamp")).await.is_err());
                    continue;
                };
                let recall = house.engine.recall(&caller, ask("common words lamp")).await.unwrap();
                for hit in &recall.hits {
                    assert!(visible.admits(&hit.memory), "{:?} is not visible", hit.memory);
                }
                let search = house.engine.search(&caller, ask("common words lamp")).await.unwrap();
                for hit in &search.results {
                    assert!(visible.admits(&hit.memory), "{:?} is not visible", hit.memory);
                }
            }
        });
    }
}
