import type { Services } from '../../platform/context.ts';
import { defineJob } from '../../platform/jobs/define-job.ts';
import { findIntegration } from '../training/openai-jobs/find-integration.ts';
import { logRun } from './log-run.ts';
import { keyOf, openService } from './open-service.ts';
import { RunRefused, ServiceRefused, ServiceUnavailable } from './services/tracking-service.ts';
import { closeRun, selectOpenRuns, type TrackedRunRow, trackNewRuns } from './tracked-run-queries.ts';
import { findTracker, updateTrouble } from './tracker-queries.ts';

/** Trackers that are asked at once. */
const TRACKERS_AT_ONCE = 4;

/** Logs what runs have reported since to the trackers of their owners, once a minute. A run never waits for it. */
export const logRunsJob = defineJob({
  name: 'tracking.log-runs',
  schedule: '* * * * *',
  run: async (services, _data, signal) => {
    await trackNewRuns(services.db);
    const open = await selectOpenRuns(services.db);
    const ofTrackers = [...Map.groupBy(open, ({ userId, service }) => `${userId} ${service}`).values()];
    const lane = async () => {
      for (let runs = ofTrackers.pop(); runs && !signal.aborted; runs = ofTrackers.pop())
        await logToTracker(services, runs);
    };
    await Promise.all(Array.from({ length: TRACKERS_AT_ONCE }, lane));
  },
});

/** The runs of one tracker, one after the other. Where it accepts no key, or does not answer, the others wait. */
async function logToTracker(services: Services, runs: TrackedRunRow[]): Promise<void> {
  const { db, config, clock, log } = services;
  const tracker = runs[0] && (await findTracker(db, runs[0]));
  if (!tracker) return;
  for (const run of runs) {
    try {
      const asked = await findIntegration(db, run);
      const project = asked?.project ?? tracker.project;
      const service = openService({ ...tracker, project, key: keyOf(tracker, config) }, config);
      await logRun(services, run, service, asked);
    } catch (error) {
      const refusal = { err: error, run_id: run.runId, service: run.service };
      if (error instanceof RunRefused) {
        log.warn(refusal, 'a run was refused by its tracker');
        await closeRun(db, run, { at: clock.now(), trouble: error.message });
      } else if (error instanceof ServiceRefused || error instanceof ServiceUnavailable) {
        log.warn(refusal, 'a tracker accepts nothing for now');
        await updateTrouble(db, tracker, troubleOf(error));
        return;
      } else {
        log.error(refusal, 'a run could not be logged to its tracker: the next minute tries again');
      }
    }
  }
  if (tracker.trouble !== null) await updateTrouble(db, tracker, { trouble: null, isRefused: false });
}

/** What its owner reads. */
function troubleOf(error: ServiceRefused | ServiceUnavailable): { trouble: string; isRefused: boolean } {
  if (error instanceof ServiceUnavailable)
    return { trouble: `${error.message}. It is tried again each minute`, isRefused: false };
  const then = error.param === 'url' ? ', then save it again' : '. Save another one to go on';
  return { trouble: `${error.message}${then}`, isRefused: true };
}
