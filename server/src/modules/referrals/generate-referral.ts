import { randomInt } from 'node:crypto';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { generateReferral as endpoint } from '@bakehouse/contract/referrals';
import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { listInvitations } from './list-invitations.ts';
import { keepCode } from './queries.ts';

/** Without letters and digits that are easily confused. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';
const CODE_LENGTH = 8;
/** More than can count, unless the operator raised the limit. */
const LISTED_MAX = 100;

/** Returns the caller's code, link and invitations. */
export async function generateReferral(ctx: Context): Promise<ResponseOf<typeof endpoint>> {
  const code = await findOrMakeCode(ctx);
  return {
    referral_code: code,
    referral_link: `${ctx.config.publicUrl}/?referral_code=${code}`,
    ...(await listInvitations(ctx, LISTED_MAX)),
  };
}

async function findOrMakeCode({ db, caller }: Context): Promise<string> {
  for (;;) {
    const made = Array.from({ length: CODE_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
    const code = await inTransaction(db, (tx) => keepCode(tx, caller.userId, made));
    if (code !== null) return code;
  }
}
