import { sql } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { deleteBefore } from '../../platform/db/retention/delete-before.ts';

type Db = Database | Transaction;

export type ChatRequest = {
  id: string;
  userId: string;
  podId: string | null;
  modelName: string;
  at: Date;
  endedAt: Date;
  ok: boolean;
  promptTokens: number;
  completionTokens: number;
  firstTokenMs: number | null;
  totalMs: number;
  costMicro: bigint;
};

/** Records requests and adds them to the totals of their deployments. */
export async function insertChatRequests(tx: Db, requests: ChatRequest[]): Promise<void> {
  await tx
    .insertInto('chat_requests')
    .values(
      requests.map((request) => ({
        id: request.id,
        user_id: request.userId,
        deployment_id: request.podId,
        model_name: request.modelName,
        at: request.at,
        ok: request.ok,
        prompt_tokens: request.promptTokens,
        completion_tokens: request.completionTokens,
        first_token_ms: request.firstTokenMs,
        total_ms: request.totalMs,
        cost_micro: request.costMicro,
      })),
    )
    .execute();
  const ofDeployments = Map.groupBy(requests, ({ podId }) => podId);
  // A fixed order avoids deadlocks with other writers of the same rows.
  for (const podId of [...ofDeployments.keys()].filter((id) => id !== null).sort()) {
    const own = ofDeployments.get(podId) ?? [];
    const sum = (part: (request: ChatRequest) => bigint) => own.reduce((all, one) => all + part(one), 0n);
    const endedAt = new Date(Math.max(...own.map((one) => one.endedAt.getTime())));
    await tx
      .updateTable('deployments')
      .set((row) => ({
        last_request_at: endedAt,
        requests: row('requests', '+', BigInt(own.length)),
        prompt_tokens: row(
          'prompt_tokens',
          '+',
          sum((one) => BigInt(one.promptTokens)),
        ),
        completion_tokens: row(
          'completion_tokens',
          '+',
          sum((one) => BigInt(one.completionTokens)),
        ),
        tokens_micro: row(
          'tokens_micro',
          '+',
          sum((one) => one.costMicro),
        ),
      }))
      .where('id', '=', podId)
      .execute();
  }
}

export async function deleteChatRequestsBefore(db: Database, time: Date): Promise<void> {
  await deleteBefore(db, 'chat_requests', { column: 'at', time });
}

/** Returns one row per minute with requests. The speed covers the tokens after the first. */
export async function chatRequestsPerMinute(db: Db, filter: { podId: string; since: Date }) {
  return db
    .selectFrom('chat_requests')
    .where('deployment_id', '=', filter.podId)
    .where('at', '>=', filter.since)
    .select((s) => [
      sql<Date>`date_trunc('minute', at)`.as('minute'),
      s.fn.countAll<bigint>().as('requests'),
      sql<bigint>`count(*) filter (where not ok)`.as('errors'),
      sql<bigint>`sum(prompt_tokens)::bigint`.as('prompt_tokens'),
      sql<bigint>`sum(completion_tokens)::bigint`.as('completion_tokens'),
      sql<number | null>`percentile_cont(0.5) within group (order by first_token_ms)`.as(
        'first_token_ms_p50',
      ),
      sql<number | null>`percentile_cont(0.5) within group (order by total_ms) filter (where ok)`.as(
        'total_ms_p50',
      ),
      sql<number | null>`percentile_cont(0.95) within group (order by total_ms) filter (where ok)`.as(
        'total_ms_p95',
      ),
      sql<number | null>`
        (sum(greatest(completion_tokens - 1, 0)) filter (where first_token_ms < total_ms))::float8 * 1000
        / nullif(sum(total_ms - first_token_ms) filter (where first_token_ms < total_ms), 0)`.as(
        'tokens_per_second',
      ),
    ])
    .groupBy('minute')
    .orderBy('minute')
    .execute();
}
