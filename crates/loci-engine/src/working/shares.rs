//! How much of working memory each tenant and user holds, and who has to give way at a bound.
//!
//! A user holds at most half of all, a tenant at most three quarters, so that a flood never fills all of it. Bounds that
//! are small anyway are not divided.

use std::collections::{HashMap, HashSet};

use loci_store::tier::WorkingKey;

use crate::Working;

/// Working memories that a share always includes.
const LEAST_NUMBER: usize = 16;
/// Bytes that a share always includes.
const LEAST_BYTES: usize = 1 << 20;

/// A number of working memories and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct WorkingShare {
    pub(super) number: usize,
    pub(super) bytes: usize,
}

impl WorkingShare {
    fn add(&mut self, number: isize, bytes: isize) {
        self.number = self.number.saturating_add_signed(number);
        self.bytes = self.bytes.saturating_add_signed(bytes);
    }

    /// This many quarters of it, but no less than a share always includes, and no more than all.
    fn quarters(self, quarters: usize) -> Self {
        Self {
            number: (self.number / 4 * quarters).max(LEAST_NUMBER).min(self.number),
            bytes: (self.bytes / 4 * quarters).max(LEAST_BYTES).min(self.bytes),
        }
    }

    /// What counts at a bound: the bytes, or the number.
    fn measure(self, by_bytes: bool) -> usize {
        if by_bytes { self.bytes } else { self.number }
    }
}

/// The shares of all tenants and users.
#[derive(Debug, Default)]
pub(super) struct Shares {
    all: WorkingShare,
    tenants: HashMap<String, TenantShare>,
}

#[derive(Debug, Default)]
struct TenantShare {
    all: WorkingShare,
    users: HashMap<String, WorkingShare>,
}

/// A bound that is exceeded, and whose working memories give way.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Exceeded {
    /// The users of each tenant.
    owners: HashMap<String, HashSet<String>>,
    /// Whether there are too many bytes, and not only too many working memories.
    pub(super) by_bytes: bool,
}

impl Exceeded {
    /// Whether this working memory is one of those that give way.
    pub(super) fn concerns(&self, place: &WorkingKey) -> bool {
        self.owners.get(&place.tenant).is_some_and(|users| users.contains(&place.user))
    }
}

impl Shares {
    /// Adds to the counters; negative numbers subtract.
    pub(super) fn count(&mut self, place: &WorkingKey, number: isize, bytes: isize) {
        self.all.add(number, bytes);
        let tenant = self.tenants.entry(place.tenant.clone()).or_default();
        tenant.all.add(number, bytes);
        let user = tenant.users.entry(place.user.clone()).or_default();
        user.add(number, bytes);
        if user.number == 0 {
            tenant.users.remove(&place.user);
        }
        if tenant.users.is_empty() {
            self.tenants.remove(&place.tenant);
        }
    }

    /// The first bound that is exceeded when `more` bytes come to this place: of its user, of its tenant, of all.
    pub(super) fn exceeded(&self, rules: &Working, place: &WorkingKey, more: usize) -> Option<Exceeded> {
        let bounds = WorkingShare { number: rules.agents, bytes: rules.bytes };
        let tenant = self.tenants.get(&place.tenant)?;
        let user = tenant.users.get(&place.user).copied().unwrap_or_default();
        let over = |share: WorkingShare, bound: WorkingShare| {
            let by_bytes = share.bytes + more > bound.bytes;
            (by_bytes || share.number > bound.number).then_some(by_bytes)
        };
        if let Some(by_bytes) = over(user, bounds.quarters(2)) {
            let owners = HashMap::from([(place.tenant.clone(), HashSet::from([place.user.clone()]))]);
            return Some(Exceeded { owners, by_bytes });
        }
        let users = |tenant: &TenantShare, by_bytes| largest(&tenant.users, |share| share.measure(by_bytes));
        if let Some(by_bytes) = over(tenant.all, bounds.quarters(3)) {
            let owners = HashMap::from([(place.tenant.clone(), users(tenant, by_bytes))]);
            return Some(Exceeded { owners, by_bytes });
        }
        let by_bytes = over(self.all, bounds)?;
        let tenants = largest(&self.tenants, |tenant| tenant.all.measure(by_bytes));
        let of =
            |name: String| self.tenants.get(&name).map(|tenant| users(tenant, by_bytes)).map(|users| (name, users));
        Some(Exceeded { owners: tenants.into_iter().filter_map(of).collect(), by_bytes })
    }
}

/// The names of those that hold no less than the average.
fn largest<T>(all: &HashMap<String, T>, measure: impl Fn(&T) -> usize) -> HashSet<String> {
    let sum: usize = all.values().map(&measure).sum();
    all.iter().filter(|(_, one)| measure(one) * all.len() >= sum).map(|(name, _)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(tenant: &str, user: &str) -> WorkingKey {
        WorkingKey { tenant: tenant.into(), agent: String::new(), user: user.into(), session: None }
    }

    #[test]
    fn who_exceeds_a_share_gives_way_and_at_the_bound_for_all_who_holds_the_most() {
        let rules = Working { agents: 100, bytes: 100 << 20, ..Working::default() };
        let mut shares = Shares::default();
        for (tenant, user, number, bytes) in
            [("a", "ann", 10, 1 << 20), ("a", "bob", 50, 1 << 20), ("b", "cat", 30, 1 << 20)]
        {
            shares.count(&place(tenant, user), number, bytes);
        }
        let gives_way = |shares: &Shares, at: &WorkingKey, more: usize| {
            shares.exceeded(&rules, at, more).map(|exceeded| {
                let mut owners: Vec<String> = exceeded.owners.into_values().flatten().collect();
                owners.sort();
                (owners.join(" "), exceeded.by_bytes)
            })
        };
        assert_eq!(gives_way(&shares, &place("a", "bob"), 0), None);
        shares.count(&place("a", "bob"), 1, 0);
        let bob = |by_bytes| Some(("bob".to_owned(), by_bytes));
        assert_eq!(gives_way(&shares, &place("a", "bob"), 0), bob(false), "more than half of the number");
        assert_eq!(gives_way(&shares, &place("a", "ann"), 0), None, "others go on");
        assert_eq!(gives_way(&shares, &place("a", "ann"), 75 << 20), Some(("ann".into(), true)));
        shares.count(&place("a", "ann"), 15, 0);
        assert_eq!(
            gives_way(&shares, &place("a", "ann"), 0),
            bob(false),
            "more than three quarters: who holds the most"
        );
        shares.count(&place("b", "cat"), 15, 0);
        assert_eq!(gives_way(&shares, &place("b", "cat"), 0), bob(false), "more than all: the largest tenant");
        shares.count(&place("a", "bob"), -26, 0);
        shares.count(&place("c", "dan"), 45, 0);
        assert_eq!(gives_way(&shares, &place("c", "dan"), 0), Some(("ann bob".into(), false)), "equal users of it");
        shares.count(&place("c", "dan"), -45, 0);
        shares.count(&place("a", "bob"), -25, -(1 << 20));
        shares.count(&place("a", "ann"), -25, -(1 << 20));
        assert_eq!(shares.tenants.len(), 1, "who holds nothing is not listed");
    }
}
