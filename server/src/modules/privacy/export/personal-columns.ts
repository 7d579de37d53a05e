import type { SectionName } from './sections.ts';

/**
 * All columns that refer to a user. Each has the export section with its rows, or the reason why its rows are
 * not exported. A test compares this list with the database.
 */
export const personalColumns: Record<string, { section: SectionName } | { leftOut: string }> = {
  'access_requests.user_id': { section: 'access_requests' },
  'access_requests.decided_by': { leftOut: "an operator's decision about another user" },
  'api_keys.user_id': { section: 'api_keys' },
  // Both datasets and models.
  'assets.owner_user_id': { section: 'datasets' },
  // Each user's export lists what is shared with that user, not the users with whom the user shares.
  'asset_shares.user_id': { section: 'shared_with_me' },
  'audit_log.user_id': { section: 'activity' },
  // Both batches and drafts.
  'bulk_answers.user_id': { section: 'batches' },
  'chat_requests.user_id': {
    leftOut: 'latency of answers, for the page of a deployment; usage is in usage_windows',
  },
  'conversations.user_id': { section: 'conversations' },
  'responses.user_id': { section: 'responses' },
  'contact_messages.user_id': { section: 'contact_messages' },
  'credit_code_redemptions.user_id': { section: 'redeemed_codes' },
  'credit_codes.created_by': { leftOut: "an operator's work for others" },
  'data_readings.user_id': { leftOut: "statistics of a dataset's file, which can be downloaded" },
  'deployments.user_id': { section: 'deployments' },
  // Listed separately from the runs.
  'fine_tuning_jobs.user_id': { section: 'fine_tuning_jobs' },
  'generation_outputs.user_id': { section: 'generations' },
  'generation_turns.user_id': { leftOut: 'time of the last picture, which the generations contain' },
  'generations.user_id': { section: 'generations' },
  'hub_clones.user_id': { section: 'clones' },
  'hub_tokens.user_id': { leftOut: 'a secret for another service; saving it is in the activity' },
  // Uploaded pictures are stored for a day before they are edited.
  'input_pictures.user_id': { section: 'generations' },
  'hub_xorbs.user_id': { leftOut: 'parts of unfinished uploads, stored for two days' },
  'idempotency_keys.user_id': {
    leftOut: 'answers to calls, stored for seven days; their results are exported',
  },
  'ledger_accounts.owner_user_id': { section: 'balance' },
  'licence_acceptances.user_id': { section: 'licence_acceptances' },
  'low_balance_watch.user_id': { leftOut: 'whether a notification is due' },
  'notifications.user_id': { section: 'notifications' },
  // Part of the profile.
  'onboarding_steps.user_id': { section: 'profile' },
  'price_changes.changed_by': { leftOut: "an operator's work for others" },
  'purchases.user_id': { section: 'purchases' },
  'recent_changes.user_id': { leftOut: 'change events without content, stored for a day' },
  'referral_codes.user_id': { section: 'invitations' },
  'referrals.invited_user_id': { section: 'invitations' },
  'referrals.inviter_user_id': { section: 'invitations' },
  'revisions.author_user_id': {
    leftOut: 'authors of changes to datasets and models, which are exported',
  },
  'uploads.user_id': { leftOut: 'unfinished uploads, stored for a week; finished files are exported' },
  'run_checkpoints.user_id': {
    leftOut: 'weights of checkpoints, stored for a week; models made from them are exported',
  },
  'run_samples.user_id': {
    leftOut: 'samples of checkpoints; the models of the runs contain the first and last ones',
  },
  'runs.user_id': { section: 'runs' },
  'tracked_runs.user_id': { leftOut: 'state of logging runs to other services; the runs are exported' },
  'trackers.user_id': { leftOut: 'a secret for another service; saving it is in the activity' },
  'sessions.user_id': { section: 'sessions' },
  'share_links.user_id': { section: 'share_links' },
  // Listed with each run.
  'sign_in_methods.user_id': { section: 'sign_in_methods' },
  'training_configurations.user_id': { section: 'configurations' },
  'usage_windows.user_id': { section: 'usage_windows' },
  'user_storage.user_id': { leftOut: 'total size of datasets and models' },
  'workloads.user_id': { leftOut: 'internal state of runs and deployments, which are exported' },
  'x_accounts.user_id': { section: 'invitations' },
  'x_accounts.x_user_id': { leftOut: "X's internal id of the account; its username is exported" },
  'x_posts.user_id': { section: 'invitations' },
};
