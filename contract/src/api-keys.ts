import * as z from 'zod';
import { userIdParams } from './accounts.ts';
import { endpoint, keyScopes } from './endpoint.ts';
import { flag } from './fields/flag.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';
import { nameText } from './fields/text.ts';
import { budgetPeriods, KEY_NAME_LENGTH_MAX } from './limits.ts';
import { bgl, positiveBgl } from './money.ts';

const params = z.object({ keyId: idOf('API key') });

const name = nameText(KEY_NAME_LENGTH_MAX);

const scopes = z
  .array(z.enum(keyScopes))
  .min(1, 'scopes: name at least one')
  .max(keyScopes.length)
  .refine((named) => new Set(named).size === named.length, 'scopes: name each one once')
  .refine(
    (named) => named.length === 1 || !named.includes('everything'),
    'scopes: everything has the others in it. Name it alone, or leave it out',
  );

const expiresAt = z.iso.datetime({
  offset: true,
  error: 'expires_at must be a time, such as 2030-01-31T12:00:00Z',
});

/**
 * Rejects calls whose cost would exceed the amount per UTC day, per UTC month or in total. The error is
 * similar to that for missing credits.
 */
export const newBudget = only({
  amount: positiveBgl('budget.amount'),
  period: z.enum(budgetPeriods),
});

export const apiKey = z.object({
  id: z.string(),
  name: z.string(),
  /** Allowed actions: `everything`, `inference` (call models), `read`. */
  scopes: z.array(z.enum(keyScopes)),
  /** True for the web app's key. It has all scopes, no expiry and no budget, and can only be rotated. */
  for_web_app: z.boolean(),
  created_at: z.string(),
  last_used_at: z.string().nullable(),
  expires_at: z.string().nullable(),
  /** Time until which the previous secret still works after a rotation. */
  old_key_opens_until: z.string().nullable(),
  /** Null if it is not revoked. */
  revoked_at: z.string().nullable(),
  budget: z
    .object({
      amount: bgl,
      period: z.enum(budgetPeriods),
      /** Charged since the budget was set; for a daily or monthly budget, since its day or month began. */
      spent: bgl,
      /** Held for running work. */
      held: bgl,
      /** Null for a total budget. */
      renews_at: z.string().nullable(),
    })
    .nullable(),
});
export type ApiKey = z.infer<typeof apiKey>;

/** The only response that contains the secret. */
export const apiKeyWithSecret = z.object({ api_key: apiKey, secret: z.string() });

export const listApiKeys = endpoint({
  method: 'GET',
  path: '/api/v1/users/:userId/api_keys',
  access: 'key',
  summary: 'List API keys, oldest first; `include_revoked` adds revoked ones',
  params: userIdParams,
  query: z.object({ include_revoked: flag.default(false) }),
  response: z.object({ api_keys: z.array(apiKey) }),
});

export const createApiKey = endpoint({
  method: 'POST',
  path: '/api/v1/users/:userId/api_keys',
  access: 'key',
  managesKeys: true,
  summary: 'Create an API key; its secret is shown once',
  params: userIdParams,
  body: only({
    name,
    scopes: scopes.default(['everything']),
    expires_at: expiresAt.nullish(),
    budget: newBudget.nullish(),
  }),
  response: apiKeyWithSecret,
  status: 201,
});

export const changeApiKey = endpoint({
  method: 'PATCH',
  path: '/api/v1/api_keys/:keyId',
  access: 'key',
  managesKeys: true,
  summary: "Update an API key's name, scopes, expiry or budget",
  params,
  body: only({
    name: name.optional(),
    scopes: scopes.optional(),
    expires_at: expiresAt.nullish(),
    /** If the period changes, counting starts now. */
    budget: newBudget.nullish(),
  }),
  response: apiKey,
});

export const revokeApiKey = endpoint({
  method: 'DELETE',
  path: '/api/v1/api_keys/:keyId',
  access: 'key',
  managesKeys: true,
  summary: 'Revoke an API key and end its open requests immediately',
  params,
  status: 204,
});

export const rotateApiKeyById = endpoint({
  method: 'POST',
  path: '/api/v1/api_keys/:keyId/rotate',
  access: 'key',
  managesKeys: true,
  summary: "Rotate an API key's secret; `keep_old` keeps the old one valid for 24 hours",
  params,
  body: only({ keep_old: z.boolean().default(false) }),
  response: apiKeyWithSecret,
});
