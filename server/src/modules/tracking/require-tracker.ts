import { trackerLabels } from '@bakehouse/contract/trackers';
import { refused } from '../../platform/errors.ts';
import type { RequireTracker } from '../training/validation/check-fine-tune.ts';
import { findTracker } from './tracker-queries.ts';

/** Throws AppError 'invalid_request' where its owner has not connected the tracker, or it accepts the key no more. */
export const requireTracker: RequireTracker = async (db, { userId, service, param }) => {
  const tracker = await findTracker(db, { userId, service });
  const label = trackerLabels[service];
  const how = `under Experiment tracking in your profile, or by PUT /api/v1/trackers/${service}, or leave ${param} out`;
  if (!tracker) throw refused(param, `${param} needs an API key of ${label}: save one ${how}`);
  if (tracker.is_refused)
    throw refused(param, `${label} does not accept the API key that is saved here: save another one ${how}`);
};
