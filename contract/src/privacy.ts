import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { only } from './fields/only.ts';
import { bgl, bglInput } from './money.ts';

/** What a person sees before deleting the account. */
export const previewDeletion = endpoint({
  method: 'GET',
  path: '/api/v1/users/me/deletion',
  access: 'session',
  summary: 'Preview account deletion and what blocks it',
  response: z.object({
    datasets: z.int(),
    models: z.int(),
    running: z.int(),
    /** Bought, granted by an operator, or sent by others: it can be sent on before. */
    bought: bgl,
    /** Promotional credit: it cannot be sent, and ends with the account. */
    given: bgl,
    owed: bgl,
    /** Whether a password is asked for; else the sign-in has to be recent. */
    asks_password: z.boolean(),
  }),
});

export const deleteAccount = endpoint({
  method: 'POST',
  path: '/api/v1/users/me/deletion',
  access: 'session',
  summary: 'Delete the account; its running work stops within minutes',
  body: only({
    password: z.string().max(1000).optional(),
    /** As much of the credits that could be sent is given up at most: `bought`, as it was shown. */
    give_up_max: bglInput.optional(),
  }),
  status: 204,
});

/** Bytes of what was stored are had by downloading the files. */
export const exportData = endpoint({
  method: 'GET',
  path: '/api/v1/users/me/export',
  access: 'session',
  operation: 'download your data',
  summary: 'Export your data as one JSON file, without secrets and stored files',
  answers: { 'application/json': null },
});
