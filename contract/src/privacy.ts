import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { only } from './fields/only.ts';
import { bgl, bglInput } from './money.ts';

/** Preview shown before deleting the account. */
export const previewDeletion = endpoint({
  method: 'GET',
  path: '/api/v1/users/me/deletion',
  access: 'session',
  summary: 'Preview account deletion and what blocks it',
  response: z.object({
    datasets: z.int(),
    models: z.int(),
    running: z.int(),
    /** Bought, granted by an operator, or received: can be sent before deletion. */
    bought: bgl,
    /** Promotional credits: cannot be sent, and are forfeited with the account. */
    given: bgl,
    owed: bgl,
    /** Whether a password is required; otherwise a recent sign-in is. */
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
    /** Maximum transferable credits to forfeit: `bought` as shown. */
    give_up_max: bglInput.optional(),
  }),
  status: 204,
});

/** Without stored files, which can be downloaded separately. */
export const exportData = endpoint({
  method: 'GET',
  path: '/api/v1/users/me/export',
  access: 'session',
  operation: 'download your data',
  summary: 'Export your data as one JSON file, without secrets and stored files',
  answers: { 'application/json': z.looseObject({}) },
});
