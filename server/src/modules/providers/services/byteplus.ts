import * as z from 'zod';
import type { Access, Service } from '../service.ts';
import { byteplusTasks } from './byteplus-tasks.ts';
import { callService } from './call-service.ts';

const title = 'BytePlus';
const GENERATION_MS = 3 * 60_000;
const answered = z.object({ data: z.array(z.object({ url: z.url().optional() })) });

/**
 * Client of BytePlus ModelArk. Pictures are generated within the submission call, so their handle contains
 * the outputs. Videos are tasks.
 */
export function byteplus(access: Access): Service {
  const { key, url, clock } = access;
  const tasks = byteplusTasks(access);
  return {
    generatesAtSubmission: 'image',

    async submit(request, signal) {
      if (request.makes === 'video') return tasks.submit(request, signal);
      const { model, input } = request;
      const { data } = answered.parse(
        await callService({
          title,
          url: new URL('/api/v3/images/generations', url).href,
          method: 'POST',
          headers: { authorization: `Bearer ${key}` },
          clock,
          body: { model, response_format: 'url', ...input },
          signal,
          ms: GENERATION_MS,
        }),
      );
      return { pictures: JSON.stringify(data.flatMap((one) => one.url ?? [])) };
    },

    look: async (handle, signal) =>
      handle.task === undefined
        ? { state: 'done', outputs: z.array(z.string()).parse(JSON.parse(handle.pictures ?? '[]')) }
        : tasks.look(handle, signal),

    // A picture job is already finished.
    cancel: async (handle) => (handle.task === undefined ? undefined : tasks.cancel(handle)),
  };
}
