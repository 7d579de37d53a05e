import type { InputOf } from '@bakehouse/contract/endpoint';
import type { downloadEvents as endpoint } from '@bakehouse/contract/trackers';
import { selectMetrics } from '../../engine/reports/select-metrics.ts';
import type { Context } from '../../platform/context.ts';
import type { Http } from '../../platform/http/bind.ts';
import { contentDisposition } from '../assets/files/content-disposition.ts';
import { findOwnRun } from '../training/runs/find-own-run.ts';
import { eventFile } from './event-file.ts';

/** Sends the metrics of a run of the caller's as a file of TensorBoard. Throws AppError 'not_found'. */
export async function downloadEvents(
  { db, caller: { userId } }: Context,
  { params: { runId } }: InputOf<typeof endpoint>,
  { reply }: Pick<Http, 'reply'>,
): Promise<void> {
  const { run } = await findOwnRun(db, { runId, userId });
  const name = `events.out.tfevents.${Math.floor(run.createdAt.getTime() / 1000)}.${run.id}`;
  await reply
    .type('application/octet-stream')
    .header('content-disposition', contentDisposition('attachment', name))
    .send(eventFile({ startedAt: run.createdAt, points: await selectMetrics(db, run.id) }));
}
