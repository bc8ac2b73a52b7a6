//! The contract of every store.
//!
//! Each requirement is one function of a store. [`store_contract!`](crate::store_contract) creates a test for each, on
//! a store of its own, which ends with a check for damage. A new implementation runs exactly these tests.

pub mod ageing;
pub mod agents;
pub mod chains;
pub mod checkpoints;
pub mod claims;
pub mod consent;
pub mod entities;
pub mod export;
pub mod facts;
pub mod feed;
pub mod filters;
pub mod frequencies;
pub mod jobs;
pub mod keys;
pub mod leases;
pub mod ledger;
pub mod links;
pub mod merging;
pub mod nearest;
pub mod notes;
pub mod operation_counts;
pub mod pages;
pub mod pools;
pub mod records;
pub mod removal;
pub mod sessions;
pub mod shards;
pub mod short_ids;
pub mod states;
pub mod tier;
pub mod top_by;
pub mod turn_runs;
pub mod unions;
pub mod visibility;
pub mod words;

use loci_store::Store;

use crate::driver::good;
use crate::samples::whole;

/// Fails if the store is damaged. Each test ends with it.
pub async fn sound(store: &dyn Store) {
    assert_eq!(good(store.check(&whole(), false).await), [], "a sound store");
}

/// The result of creating a store for a test: the store and the resources that must live as long; none if the server
/// that it needs is missing.
pub trait TestStore {
    /// The store.
    type Store: Store;
    /// Resources that must live as long as the store.
    type Keep;
    /// Both, or `None` if the store could not be created.
    fn made(self) -> Option<(Self::Store, Self::Keep)>;
}

impl<S: Store, K> TestStore for (S, K) {
    type Store = S;
    type Keep = K;
    fn made(self) -> Option<(S, K)> {
        Some(self)
    }
}

impl<S: Store, K> TestStore for Option<(S, K)> {
    type Store = S;
    type Keep = K;
    fn made(self) -> Option<(S, K)> {
        self
    }
}

/// Creates one test per requirement. `$make` is an async function without arguments that returns [`TestStore`]: an empty
/// store.
#[macro_export]
macro_rules! store_contract {
    ($make:path) => {
        $crate::store_contract! { @each $make;
            records {
                a_record_comes_back_field_by_field
                a_batch_is_all_or_nothing
                one_outcome_per_change_in_order
                an_id_is_taken_once
                the_same_thing_twice_in_one_scope_is_kept_once
                a_twin_that_no_longer_holds_does_not_count
                a_memory_of_another_space_is_refused
                an_old_version_is_a_conflict
                metadata_merges_field_by_field
                a_change_of_nothing_changes_nothing
                a_deleted_memory_is_not_revised
                a_new_text_has_new_words_and_no_old_vector
                a_touch_counts_and_is_not_history
                fading_changes_state_and_scores
                history_shows_actor_and_reason_in_order
            }
            short_ids {
                a_part_of_an_id_finds_its_memories
                a_part_of_an_id_keeps_to_what_is_seen
            }
            removal {
                what_is_forgotten_is_hidden_and_comes_back
                a_live_memory_is_not_purged
                a_purge_leaves_only_a_tombstone
                an_erasure_leaves_only_a_tombstone
                what_is_unknown_is_not_found
                erasing_a_user_keeps_the_answers_of_others
            }
            chains {
                only_the_head_is_seen
                the_past_sees_what_held_then
                what_was_replaced_is_not_replaced_again
                a_head_that_is_forgotten_uncovers_the_one_before
                a_head_that_is_erased_uncovers_the_one_before
                a_head_that_fades_away_uncovers_nothing
                an_own_end_survives_a_head_that_goes
                a_chain_closes_over_a_link_that_is_erased
                several_become_one
                a_merge_into_itself_is_refused
                originals_stay_hidden_when_their_merger_is_erased
                long_chains_are_found_by_their_heads
                a_place_that_was_taken_is_not_taken_back
                a_place_is_free_once_nobody_holds_it
                a_chain_that_was_forgotten_comes_back_as_one
                what_does_not_hold_is_not_replaced
                pointers_from_elsewhere_keep_chains_whole
            }
            merging {
                a_split_undoes_a_merge
                what_was_not_taken_up_is_not_split
                a_merge_tells_what_it_took_and_where_it_was_revised
            }
            states {
                every_allowed_step_is_taken
                every_other_step_is_refused
                staying_is_no_step
                a_proposal_is_found_only_by_those_who_ask
            }
            consent {
                an_accepted_proposal_holds
                an_accepted_proposal_takes_the_place_of_another
                a_rejected_proposal_is_deleted
                nothing_is_decided_twice
                a_place_that_cannot_be_taken_leaves_the_proposal
            }
            ageing {
                pages_meet_each_memory_once
                an_age_comes_back_field_by_field
                ages_keep_to_what_is_seen
                ageing_is_one_line_and_no_history
                no_day_is_counted_twice
                a_touch_reinforces
            }
            sessions {
                a_session_begins_goes_on_and_ends
                turns_wait_in_their_order
                what_was_learned_does_not_wait_again
                who_comes_second_learns_nothing
                a_mark_goes_only_forward
                a_turn_that_goes_does_not_bring_its_session_back
                sessions_are_found_by_what_is_asked
                sessions_keep_to_their_scopes
            }
            notes {
                a_note_says_what_was_written_last
                a_note_adds_up
                a_note_counts_until_its_end
                notes_keep_to_their_scopes
                sweeping_takes_what_no_longer_counts
            }
            links {
                a_second_link_renews_the_first
                an_edge_comes_back_field_by_field
                a_link_is_taken_away
                edges_go_with_their_memory
                nothing_is_linked_to_itself
                a_follower_is_linked_to_the_one_before
                edges_of_several_memories_come_once
                edges_of_the_relations_asked_for
                an_edge_is_seen_with_both_its_ends
            }
            turn_runs {
                neighbours_are_within_reach
                runs_that_touch_become_one_strip
                a_strip_stays_in_its_session_thread_and_scope
                a_memory_outside_any_thread_stands_alone
                what_is_not_visible_or_filtered_out_is_in_no_turn_run
                strips_of_one_session_say_so
                a_stamp_changes_with_the_memory_and_its_vector
                a_touch_counts_and_leaves_the_stamp
            }
            entities {
                an_entity_comes_back_field_by_field
                an_entity_is_found_by_any_name_in_any_case
                an_entity_is_found_by_its_vector
                a_renamed_entity_loses_its_old_names
                an_entity_is_seen_where_it_is_spoken_of
                a_memory_tells_what_it_speaks_of
                memories_with_most_mentions_come_first
                mentioning_memories_keep_to_visibility_and_filter
                a_second_mention_changes_nothing
            }
            unions {
                a_union_is_found_as_one_and_can_be_divided
                unions_make_chains
                a_thing_does_not_leave_its_scope
                a_summary_is_not_for_those_who_see_some_categories
                those_spoken_of_most_are_known_first
                what_nobody_speaks_of_is_swept
            }
            claims {
                a_claim_is_found_by_its_key
                a_new_text_makes_a_new_claim
                a_replacement_brings_its_claim
            }
            facts {
                a_fact_comes_back_field_by_field
                a_fact_said_again_is_one
                facts_are_found_by_any_of_their_words
                facts_keep_to_their_scopes
                a_fact_is_seen_with_one_of_its_sources
                a_fact_holds_while_a_source_holds
                a_fact_goes_with_its_last_source
                a_fact_is_retracted
            }
            checkpoints {
                a_checkpoint_comes_back_field_by_field
                an_id_is_put_once
                a_thread_that_went_on_is_a_conflict
                writes_are_stored_with_their_checkpoint
                checkpoints_are_found_by_what_is_asked
                checkpoints_are_removed
                checkpoints_keep_to_their_scopes
                of_many_that_go_on_at_once_one_does
            }
            ledger {
                a_ledger_entry_is_visible_to_those_who_see_its_memory
                a_line_about_no_memory_is_for_the_whole
                the_delta_tells_of_consent_and_of_what_time_took
            }
            feed {
                the_earliest_lines_come_first
                invisible_entries_are_skipped
                a_line_of_the_feed_is_for_those_who_see_its_memory
                entries_of_erased_memories_are_visible_to_the_whole_tenant
                positions_are_those_of_the_visible_spaces
                nothing_is_lost_while_others_write
            }
            operation_counts {
                lines_are_counted_by_time_part_and_event
                only_visible_operations_are_counted
            }
            frequencies {
                a_word_counts_once_per_memory
                words_of_other_scopes_do_not_count
                counts_follow_every_change
                many_memories_are_counted_well
            }
            top_by {
                the_newest_come_first
                the_most_important_come_first_then_the_newest
                top_by_keeps_to_visibility_and_filter
            }
            filters {
                every_field_follows_the_specification
                metadata_is_compared_as_json
            }
            visibility {
                every_read_keeps_to_the_scopes
                every_read_keeps_to_the_categories
                every_read_keeps_to_the_writer
                every_read_keeps_to_the_sessions
                nothing_leaves_its_tenant
                nothing_leaves_its_agent
                a_scope_named_twice_is_one_scope
                numbers_count_only_what_is_seen
            }
            export {
                memories_are_carried_in_the_order_they_came
                edges_are_carried_with_both_their_ends
                entities_are_carried_each_by_itself
                a_record_takes_the_place_of_its_own
                a_record_that_is_replaced_is_replaced_whole
                a_session_comes_back_as_it_was
            }
            pages {
                pages_visit_each_once_while_others_write
                a_page_may_be_as_large_as_it_likes
            }
            words {
                words_are_found_by_their_stems
                identifiers_are_found_whole
                no_question_is_a_syntax_error
                an_answer_is_found_by_its_question
                an_answer_forgets_the_old_words_of_its_question
                of_several_questions_the_latest_counts
                better_matches_come_first
                many_scopes_and_many_words
            }
            nearest {
                nearest_is_exact
                a_selective_filter_starves_nobody
                models_never_mix
                the_wrong_dimension_is_refused
                a_vector_of_an_old_text_is_ignored
                a_vector_without_direction_is_nobodys_neighbour
                vectors_read_back
                token_states_read_back
            }
            jobs {
                a_job_waits_once_per_key
                a_job_comes_with_its_memory_or_not_at_all
                a_claim_keeps_to_time_kind_and_limit
                a_lease_that_ran_out_passes_the_job_on
                a_failed_job_waits_and_a_dead_one_stays_dead
                jobs_keep_to_their_tenant
                jobs_are_listed_by_their_state
                a_dead_job_is_tried_again
                a_job_is_given_up
            }
            leases {
                one_holder_at_a_time
                a_lease_is_given_back_by_its_holder
                leases_keep_to_their_tenant
            }
            keys {
                keys_are_kept_within_their_tenant
                a_revoked_key_stays_revoked
            }
            pools {
                pools_are_made_once_and_listed
                members_come_and_go
                a_pool_is_its_tenants_own
                dropping_a_pool_removes_everything
                an_agent_that_is_dropped_is_in_no_pool
                a_pool_that_is_written_to_is_known_and_has_no_members
            }
            shards {
                each_user_is_stored_in_their_shard
                a_user_and_a_project_are_found_together
                a_user_is_erased_from_every_space
                a_tenant_is_carried_shard_by_shard
            }
            agents {
                agents_are_created_and_listed
                dropping_an_agent_removes_everything
                a_job_of_a_dropped_agent_is_nobodys
            }
        }
    };
    (@each $make:path; $($module:ident { $($name:ident)* })*) => {
        $(mod $module {
            #[allow(unused_imports, reason = "the function that makes a store is named where the macro is used")]
            use super::*;
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
                async fn $name() {
                    let Some((store, _keep)) = $crate::contract::TestStore::made($make().await) else { return };
                    $crate::contract::$module::$name(&store).await;
                    $crate::contract::sound(&store).await;
                }
            )*
        })*
    };
}
