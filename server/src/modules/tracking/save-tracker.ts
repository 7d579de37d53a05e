import type { InputOf } from '@bakehouse/contract/endpoint';
import { type saveTracker as endpoint, type Tracker, trackerLabels } from '@bakehouse/contract/trackers';
import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError, refused } from '../../platform/errors.ts';
import { encrypt } from '../../platform/secrets/encryption.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import { encryptionOf, keyOf, openService } from './open-service.ts';
import { RunRefused, ServiceRefused, ServiceUnavailable } from './services/tracking-service.ts';
import { toTracker } from './to-tracker.ts';
import { forgetOpenRuns } from './tracked-run-queries.ts';
import { findTracker, type TrackerRow, upsertTracker } from './tracker-queries.ts';

/**
 * Connects a tracker once its service has accepted the key, or changes it. Without a key the one of before stays, unless
 * it would go to another address. Throws AppError 'invalid_request' with the field, and 'unavailable' where Weights & Biases does not answer.
 */
export async function saveTracker(
  ctx: Context,
  { params: { service }, body }: InputOf<typeof endpoint>,
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
    if (isElsewhere) await forgetOpenRuns(tx, { userId, service });
    const saved = await upsertTracker(tx, row);
    await recordAudit(tx, { userId, action: 'tracker.saved', detail: { service: trackerLabels[service] } });
    return toTracker(saved);
  });
}

/** The address of MLflow; null for Weights & Biases, whose address the operator sets. */
function urlOf(service: Tracker['service'], url: string | undefined): string | null {
  if (service === 'mlflow') {
    if (!url) throw refused('url', 'url is required');
    return url.replace(/\/+$/, '');
  }
  if (url) throw refused('url', `url must be left out for ${trackerLabels[service]}`);
  return null;
}

/** What the service says, with its refusals at the fields that they are about. */
async function check<Answer>(service: Tracker['service'], ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ServiceRefused) throw refused(error.param, error.message, error);
    if (error instanceof RunRefused && service === 'wandb') throw refused('api_key', error.message, error);
    if (error instanceof RunRefused)
      throw refused('url', `This address does not answer as ${trackerLabels[service]} does`, error);
    if (!(error instanceof ServiceUnavailable)) throw error;
    // Its address is the user's own choice.
    if (service === 'mlflow') throw refused('url', error.message, error);
    throw new AppError('unavailable', {
      publicMessage: `${error.message}. Nothing was changed`,
      cause: error,
    });
  }
}
