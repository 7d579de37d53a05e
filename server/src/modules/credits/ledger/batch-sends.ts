import { batch } from '../../../platform/concurrency/batch.ts';
import type { Services } from '../../../platform/context.ts';
import { wasRolledBack } from '../../../platform/db/errors/was-rolled-back.ts';
import { oneOf } from './ledger-answers.ts';
import { type Send, type SendAnswer, sendAll } from './ledger-send.ts';

/** Transfers in one transaction at most: it holds the accounts of all of them. */
const MAX = 64;

/** Answers one transfer between users, which is its own transaction or shares one with others. */
export type SendInBatch = (input: Send) => Promise<SendAnswer>;

/**
 * Returns a function that sends credits in batches: concurrent sends go to the ledger in one call and one commit. The call
 * waits for no account: a transfer whose account is locked is made by itself, and so is each one where the call failed and
 * was rolled back. `dailyMaxMicro` is what each user may send within 24 hours; null for no limit.
 */
export function batchSends(
  services: Pick<Services, 'db' | 'pool' | 'log'>,
  { dailyMaxMicro = null }: { dailyMaxMicro?: bigint | null } = {},
): SendInBatch {
  const ask = batch<Send, SendAnswer | null>(
    async (inputs) => {
      try {
        return await sendAll(services, inputs, { wait: false, dailyMaxMicro });
      } catch (error) {
        if (inputs.length === 1 || !wasRolledBack(error)) throw error;
        services.log.warn(
          { err: error, transfers: inputs.length },
          'a batch of transfers failed; each is made by itself',
        );
        return inputs.map(() => null);
      }
    },
    { max: MAX },
  );
  return async (input) => {
    const answer = await ask(input);
    if (answer !== null && answer.outcome !== 'busy') return answer;
    return oneOf(await sendAll(services, [input], { wait: true, dailyMaxMicro }));
  };
}
