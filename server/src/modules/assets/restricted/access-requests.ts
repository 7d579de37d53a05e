import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type {
  AccessRequest,
  decideAccessRequest as decideAccessRequestEndpoint,
  listAccessRequests as listAccessRequestsEndpoint,
  RestrictedModel,
  requestAccess as requestAccessEndpoint,
} from '@bakehouse/contract/restricted-models';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { conflict, notFound, unknownCursor } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { notify } from '../../notifications/notifications.ts';
import {
  deleteUserRequests,
  findRequest,
  insertRequest,
  listRequests,
  type RequestRow,
  selectUserRequests,
  setDecision,
} from './queries.ts';
import { getRestrictedModel, toAccessRequest } from './restricted-models.ts';

/** Requests access to a restricted model from the operators; a rejected user may request it again. */
export async function requestAccess(
  ctx: Context,
  { params: { modelId }, body: { message } }: InputOf<typeof requestAccessEndpoint>,
): Promise<RestrictedModel> {
  const { userId } = ctx.caller;
  const model = await getRestrictedModel(ctx, { modelId });
  await inTransaction(ctx.db, async (tx) => {
    if (!(await insertRequest(tx, { modelId, userId, message }))) {
      throw conflict(
        model.access === 'granted'
          ? `You already have access to ${model.name}`
          : `You have already requested access to ${model.name}. An operator will decide.`,
      );
    }
    await recordAudit(tx, { userId, action: 'access.requested', detail: { model_id: modelId } });
    await publishChange(tx, userId, { topic: 'asset', id: modelId });
  });
  return getRestrictedModel(ctx, { modelId });
}

/** Lists access requests, newest first; for operators. The cursor is the previous page's last request. */
export async function listAccessRequests(
  ctx: Context,
  { query: { state, cursor, limit } }: InputOf<typeof listAccessRequestsEndpoint>,
): Promise<ResponseOf<typeof listAccessRequestsEndpoint>> {
  if (cursor !== undefined && !(await findRequest(ctx.db, cursor))) throw unknownCursor();
  const found = await listRequests(ctx.db, { state, cursor, limit: limit + 1 });
  const requests = found.slice(0, limit);
  return {
    requests: requests.map(toAccessRequest),
    next_cursor: found.length > limit ? (requests.at(-1)?.id ?? null) : null,
  };
}

/** Returns the caller's access requests, oldest first. */
export async function listOwnRequests({ db, caller }: Context) {
  return selectUserRequests(db, caller.userId);
}

/**
 * Grants or rejects a request; the caller is an operator. The operator can change the decision later. After a
 * change to 'rejected', the user can no longer read the files, but running work continues.
 */
export async function decideAccessRequest(
  ctx: Context,
  { params: { requestId }, body: { decision } }: InputOf<typeof decideAccessRequestEndpoint>,
): Promise<AccessRequest> {
  const operatorId = ctx.caller.userId;
  return inTransaction(ctx.db, async (tx) => {
    const before = await findRequest(tx, requestId);
    if (!before) throw notFound('Request');
    const now = ctx.clock.now();
    if (before.state !== decision) {
      await setDecision(tx, { id: requestId, decision, decidedBy: operatorId, now });
      const detail = { model_id: before.restricted_model_id, to_user_id: before.user_id };
      await recordAudit(tx, { userId: operatorId, action: `access.${decision}`, detail });
      await notifyOfDecision(tx, before, decision);
      await publishChange(tx, before.user_id, { topic: 'asset', id: before.restricted_model_id });
    }
    return toAccessRequest((await findRequest(tx, requestId)) ?? before);
  });
}

async function notifyOfDecision(
  tx: Transaction,
  { user_id: userId, restricted_model_id, model_name, state }: RequestRow,
  decision: 'granted' | 'refused',
): Promise<void> {
  const model = { model_id: restricted_model_id, name: model_name };
  if (decision === 'granted') return notify(tx, { userId, kind: 'access_granted', data: model });
  const data = { ...model, was_granted: state === 'granted' };
  await notify(tx, { userId, kind: 'access_refused', data });
}

/** Step: deletes the access requests of a deleted user, granted or not. */
export async function deleteUserAccessRequests(tx: Transaction, userId: string): Promise<void> {
  await deleteUserRequests(tx, userId);
}
