import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { nameText, tags, text } from './fields/text.ts';
import { DETAILS_LENGTH_MAX, FAMILY_LENGTH_MAX, NAME_LENGTH_MAX } from './limits.ts';

const accessStates = ['none', 'requested', 'granted', 'refused'] as const;

const modelId = z
  .string()
  .max(200, 'The id must have at most 200 characters')
  .regex(
    /^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/,
    'The id has letters, digits, dots, hyphens and underscores, with slashes between them: owner/name',
  );
const modelParams = z.object({ modelId });

/** A model that users may only use after an operator has granted them access. */
export const restrictedModel = z.object({
  /** May contain slashes, which are encoded in a path. */
  id: z.string(),
  name: z.string(),
  family: z.string(),
  tags: z.array(z.string()),
  details: z.string(),
  /** State of the caller's access request. */
  access: z.enum(accessStates),
  /** True if this server has the model's files, so that users with access can use it. */
  is_available: z.boolean(),
  /**
   * The model that has the files. Null if there is none, or if the caller has no access and is not its owner.
   */
  dataset_id: z.string().nullable(),
});

export type RestrictedModel = z.infer<typeof restrictedModel>;

export const listRestrictedModels = endpoint({
  method: 'GET',
  path: '/api/v1/restricted-models',
  access: 'key',
  summary: 'List restricted models and the status of your access requests',
  query: z.object({
    limit: z.coerce.number().int().min(1).max(100).default(50),
    /** Only entries after this id. */
    cursor: modelId.optional(),
  }),
  response: z.object({ restricted_models: z.array(restrictedModel), next_cursor: z.string().nullable() }),
});

export const getRestrictedModel = endpoint({
  method: 'GET',
  path: '/api/v1/restricted-models/:modelId',
  access: 'key',
  summary: 'Get a restricted model; encode slashes in its id',
  params: modelParams,
  response: restrictedModel,
});

export const ACCESS_MESSAGE_LENGTH_MAX = 2000;

export const requestAccess = endpoint({
  method: 'POST',
  path: '/api/v1/restricted-models/:modelId/access-request',
  access: 'key',
  summary: 'Request access to a restricted model',
  params: modelParams,
  body: z.object({
    message: text('The message', ACCESS_MESSAGE_LENGTH_MAX).min(1, 'Describe how you plan to use the model'),
  }),
  response: restrictedModel,
});

export const saveRestrictedModel = endpoint({
  method: 'PUT',
  path: '/api/v1/operator/restricted-models/:modelId',
  access: 'operator',
  summary: 'Create or update a restricted model; absent fields are unchanged',
  params: modelParams,
  body: z
    .object({
      /** Required for a new model. */
      name: nameText(NAME_LENGTH_MAX),
      family: text('Family', FAMILY_LENGTH_MAX),
      tags,
      details: text('Description', DETAILS_LENGTH_MAX),
      /** The operator's own model that has the files; null if there is none. */
      asset_id: z.uuid('No model has this id').nullable(),
    })
    .partial(),
  response: restrictedModel,
});

export const deleteRestrictedModel = endpoint({
  method: 'DELETE',
  path: '/api/v1/operator/restricted-models/:modelId',
  access: 'operator',
  summary: 'Delete a restricted model; all access is revoked',
  params: modelParams,
  status: 204,
});

export const accessRequest = z.object({
  request_id: z.string(),
  model_id: z.string(),
  model_name: z.string(),
  user_id: z.string(),
  username: z.string(),
  email: z.string(),
  message: z.string(),
  state: z.enum(accessStates).exclude(['none']),
  requested_at: z.string(),
  decided_at: z.string().nullable(),
});

export type AccessRequest = z.infer<typeof accessRequest>;

export const listAccessRequests = endpoint({
  method: 'GET',
  path: '/api/v1/operator/access-requests',
  access: 'operator',
  summary: 'List access requests, newest first',
  query: z.object({
    state: z.enum(accessStates).exclude(['none']).optional(),
    limit: z.coerce.number().int().min(1).max(100).default(50),
    cursor: idOf('request').optional(),
  }),
  response: z.object({ requests: z.array(accessRequest), next_cursor: z.string().nullable() }),
});

export const decideAccessRequest = endpoint({
  method: 'POST',
  path: '/api/v1/operator/access-requests/:requestId',
  access: 'operator',
  summary: 'Grant or refuse an access request; decisions can be changed',
  params: z.object({ requestId: idOf('request') }),
  body: z.object({ decision: z.enum(['granted', 'refused']) }),
  response: accessRequest,
});
