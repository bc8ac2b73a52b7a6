//! Remembers many things at once.
//!
//! Each thing is checked, written and answered by itself, in the order given; only their texts are embedded together,
//! because a remote model would otherwise be asked once for each.

use loci_types::Receipt;

use crate::access::policy::Caller;
use crate::write::remember::AdmittedMemory;
use crate::{Engine, NewMemory, Result};

impl Engine {
    /// Remembers many things, each in a transaction of its own. Returns one result for each, in order; unless
    /// `continue_on_error` is set, the first failure is the last result, and nothing after it is written.
    pub async fn remember_many(
        &self,
        items: Vec<(Caller, NewMemory)>,
        continue_on_error: bool,
    ) -> Vec<Result<Receipt>> {
        let mut checked: Vec<(Caller, Result<AdmittedMemory>)> = Vec::with_capacity(items.len());
        for (caller, new) in items {
            let admitted = self.admit(&caller, new).await;
            let refused = admitted.is_err();
            checked.push((caller, admitted));
            if refused && !continue_on_error {
                break;
            }
        }
        self.embed_together(checked.iter_mut().filter_map(|(_, admitted)| admitted.as_mut().ok()).collect()).await;
        let mut results = Vec::with_capacity(checked.len());
        for (caller, admitted) in checked {
            let result = match admitted {
                Ok(admitted) => self.write_admitted(&caller, admitted).await,
                Err(error) => Err(error),
            };
            let failed = result.is_err();
            results.push(result);
            if failed && !continue_on_error {
                break;
            }
        }
        results
    }
}
