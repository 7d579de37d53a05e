import { PENDING_REFERRAL_COOKIE, PENDING_REFERRAL_PATH } from '@bakehouse/contract/pending-referral';
import type { FastifyReply } from 'fastify';

/** Has this browser forget the code with which it came. */
export function forgetPendingReferral(reply: FastifyReply): void {
  reply.header(
    'set-cookie',
    `${PENDING_REFERRAL_COOKIE}=; Path=${PENDING_REFERRAL_PATH}; SameSite=Lax; Max-Age=0`,
  );
}
