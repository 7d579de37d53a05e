import * as contract from '@bakehouse/contract/trackers';
import { type Binding, type BindOptions, bind } from '../../platform/http/bind.ts';
import { downloadEvents } from './event-file.ts';
import { listTrackedRuns } from './tracked-runs.ts';
import { deleteTracker, listTrackers, saveTracker } from './trackers.ts';

/** Limited, because each call makes requests to another server. */
const asksAService: BindOptions = { callsPerMinute: 20 };

export const trackingRoutes: Binding[] = [
  bind(contract.listTrackers, listTrackers),
  bind(contract.saveTracker, saveTracker, asksAService),
  bind(contract.deleteTracker, deleteTracker),
  bind(contract.listTrackedRuns, listTrackedRuns),
  bind(contract.downloadEvents, downloadEvents),
];
