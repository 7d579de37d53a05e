import * as z from 'zod';
import { endpoint } from './endpoint.ts';

/** Recorded actions: a noun and a verb. */
export type AuditAction =
  | 'access.granted'
  | 'access.refused'
  | 'access.requested'
  | 'address.confirmation_requested'
  | 'address.proven'
  | 'api_key.changed'
  | 'api_key.created'
  | 'api_key.revoked'
  | 'api_key.rotated'
  | 'asset.branch_created'
  | 'asset.branch_deleted'
  | 'asset.changed'
  | 'asset.committed'
  | 'asset.created'
  | 'asset.deleted'
  | 'asset.file_deleted'
  | 'asset.file_uploaded'
  | 'asset.files_added'
  | 'asset.published'
  | 'asset.renamed'
  | 'asset.shared'
  | 'asset.tagged'
  | 'asset.unpublished'
  | 'asset.unshared'
  | 'asset.untagged'
  | 'clone.started'
  | 'code.redeemed'
  | 'code.revoked'
  | 'codes.created'
  | 'credits.bought'
  | 'credits.charged_back'
  | 'credits.granted'
  | 'credits.reinstated'
  | 'credits.reversed'
  | 'credits.sent'
  | 'credits.written_off'
  | 'deployment.created'
  | 'deployment.ended'
  | 'generation.shared'
  | 'generation.unshared'
  | 'hub_token.deleted'
  | 'hub_token.saved'
  | 'tracker.deleted'
  | 'tracker.saved'
  | 'licence.accepted'
  | 'operator.made'
  | 'password.changed'
  | 'password.reset'
  | 'password.reset_requested'
  | 'price.changed'
  | 'profile.changed'
  | 'purchase.closed'
  | 'purchase.refused'
  | 'purchase.started'
  | 'referral.counted'
  | 'referral.posted'
  | 'restricted_model.deleted'
  | 'restricted_model.saved'
  | 'run.cancelled'
  | 'run.resumed'
  | 'run.started'
  | 'session.created'
  | 'session.ended'
  | 'session.others_ended'
  | 'sign_in_method.linked'
  | 'sign_in_method.unlinked'
  | 'user.created'
  | 'user.deleted'
  | 'x_account.connected'
  | 'x_account.disconnected';

export const auditEntry = z.object({
  entry_id: z.string(),
  at: z.string(),
  /** Null if the server itself acted. */
  user_id: z.string().nullable(),
  /** Null if the account was deleted. */
  username: z.string().nullable(),
  /** A noun and a verb, such as `asset.deleted`: an `AuditAction`, or one from an earlier version. */
  action: z.string(),
  /** The objects of the action. Never contains secrets. */
  detail: z.record(z.string(), z.string()),
  /** Current names of the ids in `detail`, without deleted objects. */
  names: z.record(z.string(), z.string()),
});

export type AuditEntry = z.infer<typeof auditEntry>;

export const listAudit = endpoint({
  method: 'GET',
  path: '/api/v1/operator/audit',
  access: 'operator',
  operation: 'load the audit log',
  summary: 'List the audit log, newest first',
  query: z.object({
    /** Username, email address or id. */
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
