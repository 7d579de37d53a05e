import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { PENDING_REFERRAL_COOKIE, PENDING_REFERRAL_PATH } from '@bakehouse/contract/pending-referral';
import type { getPendingReferral as endpoint } from '@bakehouse/contract/referrals';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Returns the invitation code from the cookie; null without one. */
export function getPendingReferral({ headers }: FastifyRequest): ResponseOf<typeof endpoint> {
  const prefix = `${PENDING_REFERRAL_COOKIE}=`;
  const own = headers.cookie?.split('; ').find((cookie) => cookie.startsWith(prefix));
  const code = own?.slice(prefix.length).toLowerCase() ?? '';
  return { referralCode: /^[a-z0-9]{1,40}$/.test(code) ? code : null };
}

/** Deletes the cookie with the invitation code. */
export function forgetPendingReferral(reply: FastifyReply): void {
  reply.header(
    'set-cookie',
    `${PENDING_REFERRAL_COOKIE}=; Path=${PENDING_REFERRAL_PATH}; SameSite=Lax; Max-Age=0`,
  );
}
