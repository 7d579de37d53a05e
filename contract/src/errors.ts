import * as z from 'zod';
import { budgetPeriods } from './limits.ts';

/** Every error code of the wire and the HTTP status that goes with it. */
export const errorStatus = {
  /** A field is missing, malformed or outside its bounds; `param` names it. */
  invalid_request: 400,
  /** The conversation or the prompt is longer than the model can read. OpenAI's code for it. */
  context_length_exceeded: 400,
  /** No key, or one that nobody owns. */
  unauthenticated: 401,
  /** The balance does not cover the price; see `required_amount` and `available_amount`. */
  insufficient_funds: 402,
  /** There is enough, but of it only `available_amount` may go to another user: the rest is credit that cannot be sent. */
  not_sendable: 402,
  /** The budget of the API key does not cover the price; see `required_amount` and `budget`. */
  budget_exceeded: 402,
  /** The thing exists, or may exist, but it is not the caller's. */
  forbidden: 403,
  not_found: 404,
  /** No model of that name answers the caller. OpenAI's code for it. */
  model_not_found: 404,
  /** The path is there, but not with this method; the header Allow names those that are. */
  method_not_allowed: 405,
  /** The body did not come in time. */
  request_timeout: 408,
  /** The thing is not in a state that allows this. */
  conflict: 409,
  /** The model stands under a licence that the caller has not accepted: `POST /api/v1/licences/accept`. */
  licence_not_accepted: 409,
  /** The same Idempotency-Key came with another body. */
  idempotency_conflict: 409,
  /** The server cannot show this API key any more, since its secret was replaced. The key itself works. */
  key_not_readable: 409,
  /** The thing has changed since the caller looked at it. */
  precondition_failed: 412,
  /** A workload that has ended, or a link that has expired. */
  gone: 410,
  payload_too_large: 413,
  /** The body is not JSON, or does not say so. */
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  /** Something that this call needs is not ready; try again later. */
  unavailable: 503,
  /** What was asked took longer than it may. */
  timed_out: 504,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/** The budget of an API key that was used up. */
export const exceededBudget = z.object({
  key_id: z.string(),
  key_name: z.string(),
  amount: z.string(),
  period: z.enum(budgetPeriods),
  /** Null: it is one for all time. */
  renews_at: z.string().nullable(),
});
export type ExceededBudget = z.infer<typeof exceededBudget>;

/** The one wire shape of errors. `type` and `param` are the OpenAI clients' names. */
export const errorBody = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    type: z.string(),
    /** The field that the error is about, as a dotted path. */
    param: z.string().nullable(),
    request_id: z.string(),
    /** BGL, on `insufficient_funds`, `not_sendable` and `budget_exceeded`. */
    required_amount: z.string().optional(),
    available_amount: z.string().optional(),
    /** On `budget_exceeded`: which budget, and when it begins anew. */
    budget: exceededBudget.optional(),
  }),
  /** The same as in `error`, where clients of the original product look for it. */
  required_amount: z.string().optional(),
});

export type ErrorBody = z.infer<typeof errorBody>;
