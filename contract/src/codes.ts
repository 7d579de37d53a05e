import * as z from 'zod';
import { userId } from './accounts.ts';
import { transferredAmount } from './credits.ts';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';
import { text } from './fields/text.ts';
import { CODES_PER_CALL_MAX, NOTE_LENGTH_MAX } from './limits.ts';
import { bgl, positiveBgl } from './money.ts';

const whole = (name: string, max: number) =>
  z
    .int(`${name} must be a whole number`)
    .min(1, `${name} must be at least 1`)
    .max(max, `${name} must be at most ${max}`);

export const redeemCode = endpoint({
  method: 'POST',
  path: '/api/v1/codes/redeem',
  access: 'key',
  spends: true,
  summary: 'Redeem a credit code',
  body: only({
    user_id: userId,
    code: z.string().trim().min(1, 'Enter a code').max(100, 'A code has at most 100 characters'),
  }),
  response: transferredAmount,
});

export const creditCode = z.object({
  id: z.string(),
  /** Its last characters; the full code is only shown when it is created. */
  hint: z.string(),
  amount: bgl,
  note: z.string(),
  redemptions: z.int(),
  redemptions_max: z.int(),
  /** Up to 20 users who redeemed it, newest first. */
  redeemed_by: z.array(z.object({ username: z.string(), at: z.string() })),
  expires_at: z.string().nullable(),
  revoked_at: z.string().nullable(),
  created_at: z.string(),
});

export type CreditCode = z.infer<typeof creditCode>;

export const listCodes = endpoint({
  method: 'GET',
  path: '/api/v1/operator/codes',
  access: 'operator',
  summary: 'List credit codes, newest first',
  query: z.object({
    limit: z.coerce.number().int().min(1).max(200).default(50),
    cursor: idOf('code').optional(),
  }),
  response: z.object({ codes: z.array(creditCode), next_cursor: z.string().nullable() }),
});

export const createCodes = endpoint({
  method: 'POST',
  path: '/api/v1/operator/codes',
  access: 'operator',
  spends: true,
  summary: 'Create credit codes; they are shown once',
  body: only({
    amount: positiveBgl('Amount'),
    count: whole('count', CODES_PER_CALL_MAX).default(1),
    /** Maximum users who may redeem each code. */
    redemptions_max: whole('redemptions_max', 100_000).default(1),
    note: text('Note', NOTE_LENGTH_MAX).default(''),
    expires_at: z.iso
      .datetime({ offset: true, error: 'expires_at must be a time, such as 2030-01-31T12:00:00Z' })
      .nullish(),
  }),
  response: z.object({ codes: z.array(z.string()) }),
});

export const revokeCode = endpoint({
  method: 'DELETE',
  path: '/api/v1/operator/codes/:codeId',
  access: 'operator',
  summary: 'Revoke a credit code',
  params: z.object({ codeId: idOf('code') }),
  status: 204,
});
