import { createHash, randomInt } from 'node:crypto';
import type {
  createCodes as createCodesEndpoint,
  listCodes as listCodesEndpoint,
  redeemCode as redeemCodeEndpoint,
  revokeCode as revokeCodeEndpoint,
} from '@bakehouse/contract/codes';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../../platform/context.ts';
import { idempotent } from '../../../platform/db/idempotency/idempotent.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { type AppError, conflict, invalidParam, notFoundError } from '../../../platform/errors.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { GRANTS_ACCOUNT, userAccount } from '../ledger/accounts.ts';
import { transfer } from '../ledger/transfer.ts';
import {
  consumeRedemption,
  insertCodes,
  insertRedemption,
  listAllCodes,
  revokeCodeRow,
} from './code-queries.ts';

/** Crockford's alphabet, which leaves out letters that resemble digits or other letters. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

const GROUPS = 4;
const GROUP_LENGTH = 4;

/**
 * Creates credit codes; the caller is an operator. Only the response to this call, also if the call is
 * repeated, contains the codes in clear text.
 */
export async function createCodes(
  ctx: Context,
  input: InputOf<typeof createCodesEndpoint>['body'],
): Promise<ResponseOf<typeof createCodesEndpoint>> {
  const { userId } = ctx.caller;
  const { amount, count, redemptions_max: redemptionsMax, note } = input;
  const expiresAt = input.expires_at ? new Date(input.expires_at) : null;
  if (expiresAt && expiresAt <= ctx.clock.now()) {
    throw invalidParam('expires_at', 'expires_at must be in the future');
  }
  const call = { userId, key: ctx.idempotencyKey, operation: 'create-codes', input };
  return inTransaction(ctx.db, (tx) =>
    idempotent(tx, call, async () => {
      const codes = Array.from({ length: count }, makeCode);
      const made = codes.map((code) => ({ sha256: hashCode(code), hint: hintOf(code) }));
      await insertCodes(
        tx,
        made.map((code) => ({
          ...code,
          amountMicro: amount,
          redemptionsMax,
          note,
          expiresAt,
          createdBy: userId,
        })),
      );
      await recordAudit(tx, {
        userId,
        action: 'codes.created',
        detail: { count: String(count), amount: formatBgl(amount), redemptions_max: String(redemptionsMax) },
      });
      return { codes };
    }),
  );
}

/** Returns a random code of 80 bits, such as 'K7QF-3M9T-XR2A-8VWD'. */
function makeCode(): string {
  const group = () =>
    Array.from({ length: GROUP_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return Array.from({ length: GROUPS }, group).join('-');
}

/**
 * Credits a code's amount to the caller. It counts as bought, because an operator sold the code or granted it
 * on purpose. Throws AppError 'not_found' for a code that cannot be redeemed, and 'conflict' if the caller
 * already redeemed it.
 */
export async function redeemCode(
  ctx: Context,
  input: InputOf<typeof redeemCodeEndpoint>['body'],
): Promise<ResponseOf<typeof redeemCodeEndpoint>> {
  const { userId } = ctx.caller;
  const now = ctx.clock.now();
  const call = { userId, key: ctx.idempotencyKey, operation: 'redeem-code', input };
  return inTransaction(ctx.db, (tx) =>
    idempotent(tx, call, async () => {
      const code = await consumeRedemption(tx, hashCode(input.code), now);
      if (code === undefined) throw notRedeemable();
      if (!(await insertRedemption(tx, { codeId: code.id, userId, at: now }))) {
        throw conflict('You have already redeemed this code', { param: 'code' });
      }
      const amount = formatBgl(code.amount_micro);
      await recordAudit(tx, { userId, action: 'code.redeemed', detail: { code_id: code.id, amount } });
      const { transferId } = await transfer(tx, {
        debitAccountId: GRANTS_ACCOUNT,
        creditAccountId: userAccount(userId),
        amountMicro: code.amount_micro,
        kind: 'grant',
        description: `Code ending in ${code.hint}`,
        idempotencyKey: `redeem-code:${code.id}:${userId}`,
      });
      return { transaction_id: transferId, amount };
    }),
  );
}

/** Returns the same error for every reason, so that it reveals nothing about a code. */
function notRedeemable(): AppError {
  return notFoundError(
    'This code cannot be redeemed. Check it for typos; it may also have been used up, revoked or have expired.',
    { param: 'code' },
  );
}

/** Returns the hash of a code. Ignores case and dashes, and reads O as 0, and I and L as 1. */
export function hashCode(typed: string): Buffer {
  const code = typed
    .toUpperCase()
    .replace(/[^0-9A-Z]/g, '')
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1');
  return createHash('sha256').update(code).digest();
}

/** Returns the last characters of a code, by which operators and users recognise it. */
function hintOf(code: string): string {
  return code.slice(-GROUP_LENGTH);
}

/** Lists all credit codes, newest first; the caller is an operator. */
export async function listCodes(
  ctx: Context,
  { limit, cursor }: InputOf<typeof listCodesEndpoint>['query'],
): Promise<ResponseOf<typeof listCodesEndpoint>> {
  const rows = await listAllCodes(ctx.db, { before: cursor ?? null, limit: limit + 1 });
  const page = rows.slice(0, limit);
  return {
    codes: page.map((row) => ({
      id: row.id,
      hint: row.hint,
      amount: formatBgl(row.amount_micro),
      note: row.note,
      redemptions: row.redemptions,
      redemptions_max: row.redemptions_max,
      redeemed_by: row.redeemed_by.map(({ username, at }) => ({ username, at: new Date(at).toISOString() })),
      expires_at: row.expires_at?.toISOString() ?? null,
      revoked_at: row.revoked_at?.toISOString() ?? null,
      created_at: row.created_at.toISOString(),
    })),
    next_cursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null,
  };
}

/** Revokes a code, but not redeemed credits; the caller is an operator. Throws AppError 'not_found'. */
export async function revokeCode(
  ctx: Context,
  { params }: InputOf<typeof revokeCodeEndpoint>,
): Promise<void> {
  await inTransaction(ctx.db, async (tx) => {
    if (!(await revokeCodeRow(tx, params.codeId, ctx.clock.now())))
      throw notFoundError('Code not found, or already revoked');
    await recordAudit(tx, {
      userId: ctx.caller.userId,
      action: 'code.revoked',
      detail: { code_id: params.codeId },
    });
  });
}
