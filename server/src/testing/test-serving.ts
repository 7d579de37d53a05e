import { chatCompletions } from '@bakehouse/contract/chat';
import { getBalance } from '@bakehouse/contract/credits';
import { deployVllm, terminatePod, vllmStatus } from '@bakehouse/contract/deployments/text';
import { parseBgl } from '@bakehouse/contract/money';
import { expect, vi } from 'vitest';
import type { Config } from '../config.ts';
import { createFakeDriver } from '../engine/drivers/fake/fake-driver.ts';
import type { Capacity } from '../engine/model/capacity.ts';
import { revenueAccount, userAccount } from '../modules/billing/ledger/accounts.ts';
import { transfer } from '../modules/billing/ledger/transfer.ts';
import { CPU_SERVERS } from '../modules/deployments/servers/limits/server-limits.ts';
import { stubModelServer } from '../modules/deployments/testing/stub-model-server.ts';
import { inTransaction } from '../platform/db/in-transaction.ts';
import { fakeClock } from './fake-clock.ts';
import { type TestUser, testServer } from './test-server.ts';

export type TestServing = Awaited<ReturnType<typeof testServing>>;

/**
 * For tests: starts a server that serves text with a stub instead of the Python runtime. Its clock only moves
 * when told to.
 */
export async function testServing(options: { capacity?: Capacity; config?: Partial<Config> } = {}) {
  const { capacity = { 'cpu:deployment': CPU_SERVERS }, config } = options;
  const stub = stubModelServer();
  const clock = fakeClock();
  const driver = createFakeDriver({ capacity, script: stub.script });
  const server = await testServer({ driver, clock, config, roles: ['web', 'worker', 'reconciler'] });

  const status = (as: TestUser, podId: string) => server.request(vllmStatus, { params: { podId } }, { as });
  return {
    stub,
    clock,
    driver,
    server,
    status,
    /** Returns the id of its pod. */
    deploy: async (as: TestUser, modelId: string, idempotencyKey?: string) => {
      const body = { model_id: modelId, user_id: as.userId };
      return (await server.request(deployVllm, { body }, { as, idempotencyKey })).pod_id;
    },
    terminate: (as: TestUser, podId: string) =>
      server.request(terminatePod, { params: { podId }, query: { user_id: as.userId } }, { as }),
    /** Waits until the deployment runs and is metered. */
    untilRunning: (as: TestUser, podId: string) =>
      vi.waitFor(
        async () =>
          expect(await status(as, podId)).toMatchObject({ status: 'running', ready_at: expect.any(String) }),
        { interval: 50 },
      ),
    /** Requests a completion and ignores the response. */
    ask: (
      as: TestUser,
      model: string,
      { stream = false, signal }: { stream?: boolean; signal?: AbortSignal } = {},
    ) => {
      const messages = [{ role: 'user' as const, content: 'What do you bake?' }];
      const body = { model, messages, stream };
      return server.send(chatCompletions, { body }, { as, signal });
    },
    /** Charges the user until this balance is left, in micro-BGL. */
    leave: async (who: TestUser, leftMicro: bigint) => {
      const { userId } = who;
      const found = await server.request(getBalance, { params: { userId } }, { as: who });
      await inTransaction(server.services.db, (tx) =>
        transfer(tx, {
          debitAccountId: userAccount(userId),
          creditAccountId: revenueAccount('fine_tuning'),
          amountMicro: parseBgl(found.balance) - leftMicro,
          kind: 'charge',
          description: 'All of it',
          idempotencyKey: null,
        }),
      );
    },
    /** In micro-BGL. Includes charges of usage windows that are not charged yet. */
    balance: async (as: TestUser) => {
      await server.app.usage.closeIdle();
      const found = await server.request(getBalance, { params: { userId: as.userId } }, { as });
      return { balance: parseBgl(found.balance), held: parseBgl(found.held) };
    },
    /** Stored requests of the user. */
    requests: (as: TestUser) =>
      server.services.db
        .selectFrom('chat_requests')
        .select(['ok', 'prompt_tokens', 'completion_tokens', 'cost_micro', 'first_token_ms'])
        .where('user_id', '=', as.userId)
        .execute(),
  };
}
