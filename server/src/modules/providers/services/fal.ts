import * as z from 'zod';
import { AppError } from '../../../platform/errors.ts';
import type { Access, Handle, JobStatus, Service } from '../service.ts';
import { type Call, callService, moderated, ServiceReportedError } from './call-service.ts';

const title = 'fal';

const submitted = z.object({ status_url: z.url(), response_url: z.url(), cancel_url: z.url() });
const status = z.object({
  status: z.enum(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED']),
  queue_position: z.number().optional(),
});
const file = z.object({ url: z.url() });
const result = z.union([
  z.object({ images: z.array(file), has_nsfw_concepts: z.array(z.boolean()).optional() }),
  z.object({ video: file }),
]);

/** Client of fal's queue. Each job has its own addresses, returned by its submission. */
export function fal({ key, url, clock }: Access): Service {
  const headers = { authorization: `Key ${key}` };
  return {
    async submit({ model, input }) {
      const address = new URL(`/${model}`, url).href;
      const answer = submitted.parse(
        await callService({ title, url: address, method: 'POST', headers, clock, body: input }),
      );
      return {
        status: onlyHere(answer.status_url, url),
        result: onlyHere(answer.response_url, url),
        cancel: onlyHere(answer.cancel_url, url),
      };
    },

    async look(handle, signal): Promise<JobStatus> {
      const now = status.parse(
        await callService({ title, url: handle.status ?? '', headers, clock, signal }),
      );
      if (now.status === 'IN_PROGRESS')
        return { state: 'waiting', reason: `${title} is generating it`, isGenerating: true };
      if (now.status === 'IN_QUEUE')
        return { state: 'waiting', reason: queueText(now.queue_position ?? 0), isGenerating: false };
      return readResult(handle, { headers, clock, signal });
    },

    async cancel(handle) {
      await callService({ title, url: handle.cancel ?? '', method: 'PUT', headers, clock });
    },
  };
}

/** Returns the result of a finished job: its outputs, or its error. */
async function readResult(
  handle: Handle,
  call: Pick<Call, 'headers' | 'clock' | 'signal'>,
): Promise<JobStatus> {
  try {
    const answer = result.parse(await callService({ title, url: handle.result ?? '', ...call }));
    if ('video' in answer) return { state: 'done', outputs: [answer.video.url] };
    // If fal's safety check flags a picture, fal returns a black one.
    const flagged = answer.has_nsfw_concepts ?? [];
    const outputs = answer.images.filter((_, index) => !flagged[index]).map(({ url }) => url);
    if (outputs.length === 0 && answer.images.length > 0) return { state: 'failed', error: moderated(title) };
    return { state: 'done', outputs };
  } catch (error) {
    const isRefused = error instanceof AppError && error.code === 'invalid_request';
    if (isRefused || error instanceof ServiceReportedError) return { state: 'failed', error };
    throw error;
  }
}

function queueText(position: number): string {
  return position === 0
    ? `Queued at ${title}, next in line`
    : `Queued at ${title}, ${position} ahead of yours`;
}

/** Throws if an address in an answer is on another origin, because the key must not be sent there. */
function onlyHere(address: string, url: string): string {
  if (new URL(address).origin !== new URL(url).origin)
    throw new Error(`${title} returned an address on another host: ${new URL(address).origin}`);
  return address;
}
