import type { AccessRequest, RestrictedModel } from '@bakehouse/contract/restricted-models';
import type { ModelRow, RequestRow } from './queries.ts';

/** Returns a restricted model as seen by the user whose request its row contains. */
export function toRestrictedModel({ asset_id, is_own, ...model }: ModelRow): RestrictedModel {
  return {
    ...model,
    is_available: asset_id !== null,
    dataset_id: model.access === 'granted' || is_own ? asset_id : null,
  };
}

/** Returns a request as operators see it. */
export function toAccessRequest(row: RequestRow): AccessRequest {
  return {
    request_id: row.id,
    model_id: row.restricted_model_id,
    model_name: row.model_name,
    user_id: row.user_id,
    username: row.username,
    email: row.email,
    message: row.message,
    state: row.state,
    requested_at: row.requested_at.toISOString(),
    decided_at: row.decided_at?.toISOString() ?? null,
  };
}
