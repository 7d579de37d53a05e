import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { only } from './fields/only.ts';
import { bgl, bglInput } from './money.ts';

/** What deleting the account would delete. */
export const previewDeletion = endpoint({
  method: 'GET',
  path: '/api/v1/users/me/deletion',
  access: 'session',
  summary: 'Preview account deletion and what blocks it',
  response: z.object({
    datasets: z.int(),
    models: z.int(),
    running: z.int(),
    /** Bought, granted by an operator, or received credits, which can be sent before the deletion. */
    bought: bgl,
    /** Promotional credits. They cannot be sent, and are lost with the account. */
    given: bgl,
    owed: bgl,
    /** True if the caller must send a password; otherwise a recent sign-in is required. */
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
    /** Maximum transferable credits that the caller agrees to lose: `bought` as shown in the preview. */
    give_up_max: bglInput.optional(),
  }),
  status: 204,
});

/** Does not contain stored files, which can be downloaded separately. */
export const exportData = endpoint({
  method: 'GET',
  path: '/api/v1/users/me/export',
  access: 'session',
  operation: 'download your data',
  summary: 'Export your data as one JSON file, without secrets and stored files',
  answers: { 'application/json': z.looseObject({}) },
});
