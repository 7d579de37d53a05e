import { chatCompletions } from '@bakehouse/contract/chat';
import { DEFAULT_ANSWER_TOKENS } from '@bakehouse/contract/limits';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { TestUser } from '../../../testing/test-server.ts';
import { testServing } from '../../../testing/test-serving.ts';
import { costMicro } from '../../billing/prices/cost.ts';
import { defaultPrice } from '../../billing/prices/default-price.ts';
import { stubUsage } from '../../deployments/testing/stub-model-server.ts';
import { insertStarter } from '../../deployments/testing/test-models.ts';

const STARTER = 'starter-model';
const serving = await testServing();
await insertStarter(serving.server.services, STARTER);

describe('an answer that is longer than its reservation', () => {
  const LONG = 6000;
  const body = { model: STARTER, messages: [{ role: 'user' as const, content: 'Go' }], max_tokens: LONG };
  const costOf = (promptTokens: number, completionTokens: number) =>
    costMicro([
      { price: defaultPrice('prompt_tokens:CPU'), parts: BigInt(promptTokens) },
      { price: defaultPrice('completion_tokens:CPU'), parts: BigInt(completionTokens) },
    ]);
  const enough = costOf(1000, DEFAULT_ANSWER_TOKENS);
  let user: TestUser;
  beforeEach(async () => {
    user = await serving.server.signUp();
    Object.assign(serving.stub, { answer: 'ok', says: () => 'loaf'.repeat(LONG) });
  });

  /** The recorded request, which is written after its cost is settled. */
  const keptRequest = () =>
    vi.waitFor(async () => {
      const [kept] = await serving.requests(user);
      expect(kept).toBeDefined();
      return kept;
    });

  it('is paid for step by step', async () => {
    // The balance does not cover the whole answer, so only its start is held.
    await serving.leave(user, costOf(1000, LONG));
    const answer = await serving.server.send(chatCompletions, { body }, { as: user });
    expect(answer.status).toBe(200);
    const kept = await keptRequest();
    const cost = costOf(stubUsage.prompt_tokens, LONG);
    expect(kept).toMatchObject({ completion_tokens: LONG, cost_micro: cost });
    expect(cost).toBeGreaterThan(enough);
    expect(await serving.balance(user)).toEqual({ balance: costOf(1000, LONG) - cost, held: 0n });
  });

  it.each([true, false])(
    'stops when the credit is used up, and costs the written tokens; stream: %s',
    async (stream) => {
      await serving.leave(user, enough);
      const answer = await serving.server.send(chatCompletions, { body: { ...body, stream } }, { as: user });
      expect(answer.status).toBe(200);
      const text = await answer.text();
      if (stream) expect(text).toContain('Insufficient balance');
      else expect(JSON.parse(text)).toMatchObject({ choices: [{ finish_reason: 'length' }] });
      const kept = await keptRequest();
      const written = kept?.completion_tokens ?? 0;
      expect(written).toBeGreaterThan(DEFAULT_ANSWER_TOKENS / 2);
      expect(written).toBeLessThanOrEqual(DEFAULT_ANSWER_TOKENS);
      expect(kept?.cost_micro).toBe(costOf(stubUsage.prompt_tokens, written));
      const left = enough - costOf(stubUsage.prompt_tokens, written);
      expect(await serving.balance(user)).toEqual({ balance: left, held: 0n });
    },
  );
});
