import * as z from 'zod';
import { budgetPeriods } from './limits.ts';

/** Every error code of the API with its HTTP status. */
export const errorStatus = {
  /** A field is missing, malformed or out of bounds; `param` names it. */
  invalid_request: 400,
  /** The conversation or prompt exceeds the model's context. OpenAI's code for it. */
  context_length_exceeded: 400,
  /** No key, or an unknown one. */
  unauthenticated: 401,
  /** The balance does not cover the price; see `required_amount` and `available_amount`. */
  insufficient_funds: 402,
  /** The balance suffices, but only `available_amount` may be sent to another user. */
  not_sendable: 402,
  /** The API key's budget does not cover the price; see `required_amount` and `budget`. */
  budget_exceeded: 402,
  /** The object belongs to another user, or the caller must not learn whether it exists. */
  forbidden: 403,
  not_found: 404,
  /** There is no model with this name that the caller may use. This code is OpenAI's. */
  model_not_found: 404,
  /** The path exists, but not with this method. The Allow header lists the supported methods. */
  method_not_allowed: 405,
  /** The body did not arrive within the time limit. */
  request_timeout: 408,
  /** The call is not possible in the object's current state. */
  conflict: 409,
  /** The model's licence is not accepted yet: `POST /api/v1/licences/accept`. */
  licence_not_accepted: 409,
  /** The Idempotency-Key was used with another body. */
  idempotency_conflict: 409,
  /** The server's secret has changed, so it cannot decrypt this API key to show it. The key still works. */
  key_not_readable: 409,
  /** The object has changed since the caller read it. */
  precondition_failed: 412,
  /** The workload has ended, or the link has expired. */
  gone: 410,
  payload_too_large: 413,
  /** The body is not JSON or has another content type. */
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  /** Something that this call depends on is not ready. Retry later. */
  unavailable: 503,
  /** The request exceeded its time limit. */
  timed_out: 504,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/** The exhausted budget of an API key. */
export const exceededBudget = z.object({
  key_id: z.string(),
  key_name: z.string(),
  amount: z.string(),
  period: z.enum(budgetPeriods),
  /** Null for a total budget. */
  renews_at: z.string().nullable(),
});
export type ExceededBudget = z.infer<typeof exceededBudget>;

/** The shape of all API errors. `type` and `param` are the names of OpenAI's clients. */
export const errorBody = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    type: z.string(),
    /** The invalid field as a dotted path. */
    param: z.string().nullable(),
    request_id: z.string(),
    /** BGL, for `insufficient_funds`, `not_sendable` and `budget_exceeded`. */
    required_amount: z.string().optional(),
    available_amount: z.string().optional(),
    /** If the message contains amounts: the message with `{name}` for each, and the amounts in BGL by name. */
    template: z.string().optional(),
    amounts: z.record(z.string(), z.string()).optional(),
    /** For `budget_exceeded`: the budget and when it renews. */
    budget: exceededBudget.optional(),
  }),
  /** Repeats the field of `error` for clients of the original product. */
  required_amount: z.string().optional(),
});

export type ErrorBody = z.infer<typeof errorBody>;
