import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Context } from '../../platform/context.ts';
import { getMe } from '../accounts/get-me.ts';
import { listApiKeys } from '../accounts/keys/list-api-keys.ts';
import { listSessions } from '../accounts/sessions/list-sessions.ts';
import { listAssets } from '../assets/list-assets.ts';
import { getBalance } from '../credits/statement/get-balance.ts';
import { listTransactions } from '../credits/statement/list-transactions.ts';
import { listDeployments } from '../deployments/list-deployments.ts';
import { generateReferral } from '../referrals/generate-referral.ts';
import { listConfigurations } from '../training/configurations/list-configurations.ts';
import { listHeldOutAnswers } from '../training/held-out/list-held-out-answers.ts';
import { listRuns } from '../training/runs/list-runs.ts';

const PAGE = 100;

/** Sends all that is known of the caller as one JSON file, page by page: it may be long. */
export async function exportData(ctx: Context, reply: FastifyReply): Promise<FastifyReply> {
  const day = ctx.clock.now().toISOString().slice(0, 10);
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .header('content-disposition', `attachment; filename="bakehouse-${day}.json"`)
    .header('cache-control', 'no-store')
    .send(Readable.from(writeJson(sectionsOf(ctx))));
}

/** A value, or a list that is read page by page. */
type Section =
  | { name: string; value: () => Promise<unknown> }
  | { name: string; rows: AsyncIterable<unknown> };

function sectionsOf(ctx: Context): Section[] {
  const { userId } = ctx.caller;
  const assets = (types: 'RAW' | 'MODEL') =>
    allPages(async (cursor) => {
      const query = { types, owner: userId, search: '', sort: 'updated' as const, include_starter: false };
      const page = await listAssets(ctx, { ...query, limit: PAGE, cursor });
      return { rows: page.datasets, next: page.next_cursor };
    });
  return [
    { name: 'profile', value: () => getMe(ctx) },
    { name: 'sessions', value: async () => (await listSessions(ctx)).sessions },
    { name: 'api_keys', value: async () => (await listApiKeys(ctx)).api_keys },
    { name: 'datasets', rows: assets('RAW') },
    { name: 'models', rows: assets('MODEL') },
    { name: 'configurations', value: async () => (await listConfigurations(ctx)).configurations },
    {
      name: 'runs',
      rows: allPages(async (cursor) => {
        const page = await listRuns(ctx, {
          params: undefined,
          body: undefined,
          query: { search: '', limit: PAGE, cursor },
        });
        const said = await listHeldOutAnswers(
          ctx.db,
          page.runs.map(({ run_id }) => run_id),
        );
        const rows = page.runs.map((run) => ({ ...run, held_out_answers: said.get(run.run_id) ?? null }));
        return { rows, next: page.next_cursor };
      }),
    },
    {
      name: 'deployments',
      rows: allPages(async (cursor) => {
        const all = { kind: 'text' as const, includeTerminated: true, search: '' };
        const page = await listDeployments(ctx, { ...all, limit: PAGE, cursor });
        return { rows: page.deployments, next: page.nextCursor };
      }),
    },
    { name: 'balance', value: () => getBalance(ctx) },
    {
      name: 'transactions',
      rows: allPages(async (cursor) => {
        const page = await listTransactions(ctx, { limit: PAGE, cursor, time_zone: 'UTC' });
        return { rows: page.transactions, next: page.next_cursor };
      }),
    },
    { name: 'invitations', value: () => generateReferral(ctx) },
  ];
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

async function* writeJson(sections: Section[]): AsyncGenerator<string> {
  let before = '{\n';
  for (const section of sections) {
    yield `${before}${JSON.stringify(section.name)}: `;
    before = ',\n';
    if ('value' in section) yield JSON.stringify(await section.value(), null, 2);
    else yield* writeRows(section.rows);
  }
  yield '\n}\n';
}

async function* writeRows(rows: AsyncIterable<unknown>): AsyncGenerator<string> {
  let before = '[\n';
  for await (const row of rows) {
    yield before + JSON.stringify(row);
    before = ',\n';
  }
  yield before === '[\n' ? '[]' : '\n]';
}
