import { type InputOf, type ResponseOf } from '@bakehouse/contract/endpoint';
import {
  type deleteTracker as deleteEndpoint,
  type listTrackers as listEndpoint,
  type saveTracker as saveEndpoint,
  type Tracker,
  trackerLabels,
} from '@bakehouse/contract/trackers';
import { type Context } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { invalidParam, notFoundError, unavailable } from '../../platform/errors.ts';
import { encrypt } from '../../platform/secrets/encryption.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import { type RequireTracker } from '../fine-tuning/validation/check-fine-tune.ts';
import { encryptionOf, keyOf, openService } from './open-service.ts';
import { RunRefused, ServiceRefused, ServiceUnavailable } from './services/tracking-service.ts';
import { resetOpenRuns } from './tracked-run-queries.ts';
import {
  deleteTrackerRow,
  findTracker,
  selectTrackers,
  type TrackerRow,
  upsertTracker,
} from './tracker-queries.ts';

/** Returns the caller's trackers. */
export async function listTrackers({ db, caller }: Context): Promise<ResponseOf<typeof listEndpoint>> {
  return { trackers: (await selectTrackers(db, caller.userId)).map(toTracker) };
}

/**
 * Saves a tracker if its service accepts the key. If the call has no key, the saved key is used, but only for
 * the same address. Throws AppError 'invalid_request' with the field, and 'unavailable' if Weights & Biases
 * does not answer.
 */
export async function saveTracker(
  ctx: Context,
  { params: { service }, body }: InputOf<typeof saveEndpoint>,
): Promise<Tracker> {
  const { config, caller, clock, db } = ctx;
  const { userId } = caller;
  const { project, api_key: sent } = body;
  const url = urlOf(service, body.url);
  const before = await findTracker(db, { userId, service });
  const { key, account } = await check(service, async () => {
    const tried = sent || (before?.url === url ? keyOf(before, config) : null);
    if (service === 'wandb' && !tried) throw new ServiceRefused('api_key is required');
    return { key: tried, account: await openService({ service, project, url, key: tried }, config).check() };
  });
  const row: TrackerRow = {
    ...{ user_id: userId, service, project, url, account },
    encrypted: key ? encrypt(key, encryptionOf(userId, config)) : null,
    ...{ connected_at: clock.now(), trouble: null, is_refused: false },
  };
  return inTransaction(db, async (tx) => {
    const isElsewhere = before?.project !== project || before.url !== url;
    if (isElsewhere) await resetOpenRuns(tx, { userId, service });
    const saved = await upsertTracker(tx, row);
    await recordAudit(tx, { userId, action: 'tracker.saved', detail: { service: trackerLabels[service] } });
    return toTracker(saved);
  });
}

/**
 * Returns the address of an MLflow server; null for Weights & Biases, whose address the operator has
 * configured.
 */
function urlOf(service: Tracker['service'], url: string | undefined): string | null {
  if (service === 'mlflow') {
    if (!url) throw invalidParam('url', 'url is required');
    return url.replace(/\/+$/, '');
  }
  if (url) throw invalidParam('url', `url must be left out for ${trackerLabels[service]}`);
  return null;
}

/** Calls the service and turns a refusal into an error about the field of the request. */
async function check<Answer>(service: Tracker['service'], ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ServiceRefused) throw invalidParam(error.param, error.message, error);
    if (error instanceof RunRefused && service === 'wandb')
      throw invalidParam('api_key', error.message, error);
    if (error instanceof RunRefused)
      throw invalidParam('url', `The server at this address is not ${trackerLabels[service]}`, error);
    if (!(error instanceof ServiceUnavailable)) throw error;
    // The user has entered this address, so it may be wrong.
    if (service === 'mlflow') throw invalidParam('url', error.message, error);
    throw unavailable(`${error.message}. Nothing was changed`, { cause: error });
  }
}

/** Deletes a tracker and its key; logged runs stay at the service. Throws AppError 'not_found'. */
export async function deleteTracker(
  { db, caller: { userId } }: Context,
  { params: { service } }: InputOf<typeof deleteEndpoint>,
): Promise<undefined> {
  await inTransaction(db, async (tx) => {
    if (!(await deleteTrackerRow(tx, { userId, service })))
      throw notFoundError(`${trackerLabels[service]} is not connected`);
    await recordAudit(tx, { userId, action: 'tracker.deleted', detail: { service: trackerLabels[service] } });
  });
}

/**
 * Throws AppError 'invalid_request' if the user has no such tracker, or if the tracker has refused the saved
 * key.
 */
export const requireTracker: RequireTracker = async (db, { userId, service, param }) => {
  const tracker = await findTracker(db, { userId, service });
  const label = trackerLabels[service];
  const how = `under Experiment tracking in your profile, or by PUT /api/v1/trackers/${service}, or leave ${param} out`;
  if (!tracker) throw invalidParam(param, `${param} needs an API key of ${label}: save one ${how}`);
  if (tracker.is_refused)
    throw invalidParam(
      param,
      `${label} does not accept the API key that is saved here: save another one ${how}`,
    );
};

/** Converts a tracker for the API, without its key. */
function toTracker({ service, project, url, account, connected_at, trouble }: TrackerRow): Tracker {
  return { service, project, url, account, connected_at: connected_at.toISOString(), trouble };
}

/** Step: deletes a user's trackers and the logging state of their runs. */
export async function deleteUserTrackers(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('trackers').where('user_id', '=', userId).execute();
  await tx.deleteFrom('tracked_runs').where('user_id', '=', userId).execute();
}
