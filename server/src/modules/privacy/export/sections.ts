import type { Context } from '../../../platform/context.ts';
import { listSessions } from '../../accounts/sessions/sessions.ts';
import { listAuditEntries, listKeyRecords, listSignInMethods } from '../../accounts/steps.ts';
import { getMe } from '../../accounts/users.ts';
import { listAssets } from '../../assets/assets.ts';
import { listOwnRequests } from '../../assets/restricted/access-requests.ts';
import { listSharedWithCaller } from '../../assets/sharing/shares.ts';
import { listAllBatches } from '../../batches/batches.ts';
import { getBalance } from '../../billing/statement/balance.ts';
import { listTransactions } from '../../billing/statement/transactions.ts';
import { listAllPurchases, listRedeemedCodes, listUsageWindows } from '../../billing/steps.ts';
import { exportConversations } from '../../chat/conversations/conversations.ts';
import { listResponses } from '../../chat/responses/responses.ts';
import { listOwnMessages } from '../../contact/messages.ts';
import { listDeployments } from '../../deployments/list-deployments.ts';
import { exportDrafts } from '../../drafts/drafts.ts';
import { listConfigurations } from '../../fine-tuning/configurations/configurations.ts';
import { listHeldOutAnswers } from '../../fine-tuning/held-out/held-out-answers.ts';
import { listJobRecords } from '../../fine-tuning/openai-jobs/jobs.ts';
import { listRuns } from '../../fine-tuning/runs/runs.ts';
import { listGenerations } from '../../generations/generations.ts';
import { listClones } from '../../hub/clone/clones.ts';
import { listOwnAcceptances } from '../../licences/licences.ts';
import { listNotifications } from '../../notifications/notifications.ts';
import { exportReferrals, listInvitations } from '../../referrals/referrals.ts';
import { listShareLinks } from '../../share-links/share-links.ts';

const PAGE = 100;
/** Larger than any row id, so that the list starts with the newest row. */
const NEWEST = 10n ** 18n;

/** A section is a single value, or a list that is read page by page. */
export type Section = { value: () => Promise<unknown> } | { rows: AsyncIterable<unknown> };

/** Returns the sections of the export by name. */
export function sectionsOf(ctx: Context) {
  const { db, caller } = ctx;
  const { userId } = caller;
  return {
    profile: { value: () => getMe(ctx) },
    sessions: { value: async () => (await listSessions(ctx)).sessions },
    sign_in_methods: { value: () => listSignInMethods(db, userId) },
    api_keys: { value: () => listKeyRecords(db, userId) },
    activity: { rows: activityOf(ctx) },
    datasets: { rows: assetsOf(ctx, 'RAW') },
    models: { rows: assetsOf(ctx, 'MODEL') },
    batches: { rows: listAllBatches(ctx) },
    drafts: { rows: exportDrafts(ctx) },
    fine_tuning_jobs: { value: () => listJobRecords(db, userId) },
    configurations: { value: async () => (await listConfigurations(ctx)).configurations },
    ...workOf(ctx),
    conversations: { rows: exportConversations(ctx) },
    responses: { rows: listResponses(ctx) },
    generations: { rows: generationsOf(ctx) },
    share_links: { value: () => listShareLinks(ctx) },
    clones: { rows: clonesOf(ctx) },
    licence_acceptances: { value: () => listOwnAcceptances(ctx) },
    access_requests: { value: () => listOwnRequests(ctx) },
    shared_with_me: { value: () => listSharedWithCaller(ctx) },
    balance: { value: () => getBalance(ctx) },
    transactions: { rows: transactionsOf(ctx) },
    usage_windows: {
      rows: pagesAfter(
        (cursor) => listUsageWindows(db, { userId, cursor, limit: PAGE }),
        ({ id }) => id,
      ),
    },
    purchases: { value: () => listAllPurchases(db, userId) },
    redeemed_codes: { value: () => listRedeemedCodes(db, userId) },
    invitations: {
      value: async () => ({
        ...(await exportReferrals(db, userId)),
        ...(await listInvitations(ctx, null)),
      }),
    },
    notifications: { rows: notificationsOf(ctx) },
    contact_messages: { value: () => listOwnMessages(ctx) },
  } satisfies Record<string, Section>;
}

export type SectionName = keyof ReturnType<typeof sectionsOf>;

/** Returns the user's recorded changes and sign-ins, newest first. */
function activityOf({ db, caller: { userId } }: Context) {
  return allPages(async (cursor) => {
    const before = cursor === undefined ? NEWEST : BigInt(cursor);
    const entries = await listAuditEntries(db, { userId, before, limit: PAGE });
    const rows = entries.map(({ at, action, detail }) => ({ at, action, detail }));
    return { rows, next: entries.length < PAGE ? null : (entries.at(-1)?.id.toString() ?? null) };
  });
}

function assetsOf(ctx: Context, types: 'RAW' | 'MODEL') {
  const query = {
    ...{ types, owner: ctx.caller.userId, search: '' },
    // Sort by title, because titles rarely change. An asset whose title changes during the export could be
    // missed.
    ...{
      sort: 'title' as const,
      include_starter: false,
      whose: 'own' as const,
      include_pipelines: false,
      limit: PAGE,
    },
  };
  return allPages(async (cursor) => {
    const page = await listAssets(ctx, { ...query, cursor });
    return { rows: page.datasets, next: page.next_cursor };
  });
}

function workOf(ctx: Context) {
  return {
    runs: {
      rows: allPages(async (cursor) => {
        const page = await listRuns(ctx, { query: { limit: PAGE, cursor } });
        const ids = page.runs.map(({ run_id }) => run_id);
        const answers = await listHeldOutAnswers(ctx.db, ids);
        const rows = page.runs.map((run) => ({
          ...run,
          held_out_answers: answers.get(run.run_id) ?? null,
        }));
        return { rows, next: page.next_cursor };
      }),
    },
    deployments: {
      rows: allPages(async (cursor) => {
        const page = await listDeployments(ctx, { includeTerminated: true, limit: PAGE, cursor });
        return { rows: page.deployments, next: page.nextCursor };
      }),
    },
  };
}

/** Omits picture links, which work without a key. */
function generationsOf(ctx: Context) {
  return allPages(async (cursor) => {
    const page = await listGenerations(ctx, { limit: PAGE, cursor });
    const rows = page.generations.map(({ outputs, source, ...generation }) => ({
      ...generation,
      source: source && withoutUrl(source),
      outputs: outputs.map(({ url: _url, download_url: _download, ...output }) => output),
    }));
    return { rows, next: page.next_cursor };
  });
}

function clonesOf(ctx: Context) {
  return allPages(async (cursor) => {
    const page = await listClones(ctx, { limit: PAGE, cursor });
    return { rows: page.clones, next: page.next_cursor };
  });
}

function withoutUrl<Linked extends { url: string }>({ url: _url, ...rest }: Linked): Omit<Linked, 'url'> {
  return rest;
}

function transactionsOf(ctx: Context) {
  return allPages(async (cursor) => {
    const page = await listTransactions(ctx, { limit: PAGE, cursor, time_zone: 'UTC' });
    return { rows: page.transactions, next: page.next_cursor };
  });
}

function notificationsOf(ctx: Context) {
  const params = { userId: ctx.caller.userId };
  return pagesAfter(
    (cursor) => listNotifications(ctx, { params, query: { limit: PAGE, cursor }, body: undefined }),
    ({ notification_id }) => notification_id,
  );
}

/** Yields the rows of all pages. The cursor of a page is derived from the last row of the previous one. */
function pagesAfter<Row>(
  read: (cursor: string | undefined) => Promise<Row[]>,
  cursorOf: (row: Row) => string,
): AsyncGenerator<Row> {
  return allPages(async (cursor) => {
    const rows = await read(cursor);
    const last = rows.at(-1);
    return { rows, next: last === undefined || rows.length < PAGE ? null : cursorOf(last) };
  });
}

async function* allPages<Row>(
  read: (cursor: string | undefined) => Promise<{ rows: Row[]; next: string | null }>,
): AsyncGenerator<Row> {
  let cursor: string | undefined;
  do {
    const { rows, next } = await read(cursor);
    yield* rows;
    cursor = next ?? undefined;
  } while (cursor !== undefined);
}
