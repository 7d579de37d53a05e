import * as contract from '@bakehouse/contract/trackers';
import { type Binding, type BindOptions, bind } from '../../platform/http/bind.ts';
import { deleteTracker } from './delete-tracker.ts';
import { downloadEvents } from './download-events.ts';
import { listTrackedRuns } from './list-tracked-runs.ts';
import { listTrackers } from './list-trackers.ts';
import { saveTracker } from './save-tracker.ts';

/** Each asks another server. */
const asksAService: BindOptions = { callsPerMinute: 20 };

export const trackingRoutes: Binding[] = [
  bind(contract.listTrackers, listTrackers),
  bind(contract.saveTracker, saveTracker, asksAService),
  bind(contract.deleteTracker, deleteTracker),
  bind(contract.listTrackedRuns, listTrackedRuns),
  bind(contract.downloadEvents, downloadEvents),
];
