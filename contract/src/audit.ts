import * as z from 'zod';
import { endpoint } from './endpoint.ts';

const auditEntry = z.object({
  entry_id: z.string(),
  at: z.string(),
  /** Who did it; null: the server itself. */
  user_id: z.string().nullable(),
  /** Null where that is no user any more. */
  username: z.string().nullable(),
  /** A noun and a verb: `asset.deleted`. */
  action: z.string(),
  /** What it was done to; no secrets. */
  detail: z.record(z.string(), z.string()),
});

export type AuditEntry = z.infer<typeof auditEntry>;

export const listAudit = endpoint({
  method: 'GET',
  path: '/api/v1/operator/audit',
  access: 'operator',
  summary: 'Who has changed what, newest first: money, assets, runs, keys, deployments and access',
  query: z.object({
    /** Username, email address or id of who did it. */
    user: z.string().trim().min(1).max(254).optional(),
    /** The first part of `action`, such as `asset`. */
    noun: z
      .string()
      .regex(/^[a-z_]{1,40}$/, 'noun must be the first part of an action, such as asset')
      .optional(),
    limit: z.coerce.number().int().min(1).max(200).default(50),
    cursor: z
      .string()
      .regex(/^\d{1,18}-\d{1,18}$/, 'cursor must be the next_cursor of an earlier page of this list')
      .optional(),
  }),
  response: z.object({ entries: z.array(auditEntry), next_cursor: z.string().nullable() }),
});
