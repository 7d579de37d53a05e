import { formatBgl } from '@bakehouse/contract/money';
import { sql } from 'kysely';
import type { Services } from '../../../platform/context.ts';
import { runPrepared } from '../../../platform/db/run-prepared.ts';
import { AppError } from '../../../platform/errors.ts';
import { insufficientFunds, type MoveOutcome, refuseUnlessMoved } from './ledger-answers.ts';

type Prepared = Pick<Services, 'db' | 'pool'>;

/** Credits from one user to another, named by username, email address or id. */
export type Send = {
  senderId: string;
  recipient: string;
  amountMicro: bigint;
  /** The sender's own. */
  idempotencyKey: string | null;
  /** The API key with which the sender asks: for the sender's eyes. */
  keyId: string | null;
};

export type SendAnswer = {
  outcome: MoveOutcome | 'over_daily_limit' | 'unknown_recipient' | 'own_account' | 'busy';
  transfer_id: string | null;
  available: bigint | null;
  sendable: bigint | null;
  recipient_id: string | null;
};

/**
 * Moves credits between users, one after the other, each with its own answer; see `readSend`. This is a
 * transaction of its own and announces nothing: the caller announces the changes after it, because
 * announcing inside makes such transactions commit one after the other. Without `wait` transfers
 * whose accounts another transaction holds are answered 'busy' and left alone. `dailyMaxMicro` is what each sender
 * may send within 24 hours; null for no limit.
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

/** Throws what `transfer` throws, and AppError 'not_found' or 'invalid_request' for the recipient. */
export function readSend(
  { outcome, transfer_id, recipient_id, ...limits }: SendAnswer,
  { amountMicro }: Send,
): { transferId: string; recipientId: string } {
  if (outcome === 'unknown_recipient') throw unknownRecipient();
  if (outcome === 'own_account') {
    throw new AppError('invalid_request', {
      publicMessage: 'You cannot send credits to yourself',
      param: 'recipient_id',
    });
  }
  if (outcome === 'over_daily_limit') throw overDailyLimit(amountMicro, limits.sendable ?? 0n);
  // What can be sent is less than what can be spent.
  if (outcome === 'insufficient_funds') throw insufficientFunds(amountMicro, limits.sendable);
  if (outcome !== 'busy') refuseUnlessMoved(outcome, amountMicro, limits);
  if (transfer_id === null || recipient_id === null) throw new Error('The sender has no account');
  return { transferId: transfer_id, recipientId: recipient_id };
}

function overDailyLimit(amountMicro: bigint, leftMicro: bigint): AppError {
  const available_amount = formatBgl(leftMicro);
  return new AppError('not_sendable', {
    publicMessage: `This server limits what can be sent within 24 hours. You can send up to ${available_amount} BGL now.`,
    param: 'amount',
    data: { required_amount: formatBgl(amountMicro), available_amount },
  });
}

/** The send form's own message. */
function unknownRecipient(): AppError {
  return new AppError('not_found', {
    publicMessage: 'Failed to send Bagels. Please check the recipient username.',
    param: 'recipient_id',
  });
}
