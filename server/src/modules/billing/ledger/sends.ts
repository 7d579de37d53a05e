import { sql } from 'kysely';
import { batch } from '../../../platform/concurrency/batch.ts';
import type { Services } from '../../../platform/context.ts';
import { wasRolledBack } from '../../../platform/db/errors/database-errors.ts';
import { runPrepared } from '../../../platform/db/in-transaction.ts';
import { type AppError, invalidParam, notFoundError } from '../../../platform/errors.ts';
import { assertMoved, insufficientFunds, type MoveOutcome, notSendable, oneOf } from './ledger-answers.ts';

/** Maximum transfers per transaction, which locks the accounts of all of them. */
const MAX = 64;

/** Makes one transfer between users. Concurrent transfers may share its transaction. */
export type SendInBatch = (input: Send) => Promise<SendAnswer>;

/**
 * Returns a function that sends credits in batches: concurrent sends share one ledger call and one commit. A
 * batch skips transfers whose accounts are locked. Skipped transfers are then made one by one, and so are all
 * transfers of a batch that was rolled back. `dailyMaxMicro` limits the amount that each user may send within
 * 24 hours; null for no limit.
 */
export function batchSends(
  services: Pick<Services, 'db' | 'pool' | 'log'>,
  { dailyMaxMicro = null }: { dailyMaxMicro?: bigint | null } = {},
): SendInBatch {
  const sendBatched = batch<Send, SendAnswer | null>(
    async (inputs) => {
      try {
        return await sendAll(services, inputs, { wait: false, dailyMaxMicro });
      } catch (error) {
        if (inputs.length === 1 || !wasRolledBack(error)) throw error;
        services.log.warn(
          { err: error, transfers: inputs.length },
          'batch of transfers failed; retrying each alone',
        );
        return inputs.map(() => null);
      }
    },
    { max: MAX },
  );
  return async (input) => {
    const answer = await sendBatched(input);
    if (answer !== null && answer.outcome !== 'busy') return answer;
    return oneOf(await sendAll(services, [input], { wait: true, dailyMaxMicro }));
  };
}

type Prepared = Pick<Services, 'db' | 'pool'>;

/** A transfer of credits to another user. `recipient` is a username, email address or id. */
export type Send = {
  senderId: string;
  recipient: string;
  amountMicro: bigint;
  /** Unique per sender. Null if repeated calls are not recognised. */
  idempotencyKey: string | null;
  /** The API key of the sender's call, shown only to the sender. */
  keyId: string | null;
};

type SendAnswer = {
  outcome: MoveOutcome | 'over_daily_limit' | 'unknown_recipient' | 'own_account' | 'busy';
  transfer_id: string | null;
  available: bigint | null;
  sendable: bigint | null;
  recipient_id: string | null;
};

/**
 * Makes the transfers in order, and returns one result for each (see `assertSent`). Uses its own transaction
 * and sends no notifications, because they would serialise the commits; the caller sends them afterwards.
 * Without `wait`, skips transfers whose accounts are locked, with the result 'busy'. `dailyMaxMicro` limits
 * what each sender may send within 24 hours; null for no limit.
 */
export async function sendAll(
  services: Prepared,
  sends: Send[],
  { wait, dailyMaxMicro = null }: { wait: boolean; dailyMaxMicro?: bigint | null },
): Promise<SendAnswer[]> {
  return runPrepared(
    services,
    'ledger_send',
    sql<SendAnswer>`
      select outcome, transfer_id, available, sendable, recipient_id from ledger_send(
        ${sends.map((one) => one.senderId)}, ${sends.map((one) => one.recipient)},
        ${sends.map((one) => one.amountMicro)}, ${sends.map((one) => one.idempotencyKey)}, ${wait},
        ${dailyMaxMicro}::bigint, ${sends.map((one) => one.keyId)}::uuid[])`,
  );
}

/**
 * Returns the ids of a successful transfer. Otherwise throws the errors of `transfer`, or AppError
 * 'not_found' or 'invalid_request' for the recipient.
 */
export function assertSent(
  { outcome, transfer_id, recipient_id, ...limits }: SendAnswer,
  { amountMicro }: Send,
): { transferId: string; recipientId: string } {
  if (outcome === 'unknown_recipient') throw unknownRecipient();
  if (outcome === 'own_account') {
    throw invalidParam('recipient_id', 'You cannot send credits to yourself');
  }
  if (outcome === 'over_daily_limit') {
    const reason = 'This server limits what can be sent within 24 hours';
    throw notSendable(amountMicro, limits.sendable ?? 0n, { reason, now: ' now' });
  }
  // For a send, report the sendable amount, which may be lower than the available amount.
  if (outcome === 'insufficient_funds') throw insufficientFunds(amountMicro, limits.sendable);
  if (outcome !== 'busy') assertMoved(outcome, amountMicro, limits);
  if (transfer_id === null || recipient_id === null) throw new Error('The sender has no account');
  return { transferId: transfer_id, recipientId: recipient_id };
}

/** The message must be the same as in the web app's form. */
function unknownRecipient(): AppError {
  return notFoundError('Failed to send Bagels. Please check the recipient username.', {
    param: 'recipient_id',
  });
}
