import * as z from 'zod';
import type { Access, Service } from '../service.ts';
import { byteplusTasks } from './byteplus-tasks.ts';
import { callService } from './call-service.ts';

const title = 'BytePlus';
const GENERATION_MS = 3 * 60_000;

const answered = z.object({ data: z.array(z.object({ url: z.url().optional() })) });

/**
 * BytePlus ModelArk generates pictures while it is waited for: such a job is over once it is known, and the handle has the
 * pictures. Videos are tasks.
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

    // A job of pictures is over.
    cancel: async (handle) => (handle.task === undefined ? undefined : tasks.cancel(handle)),
  };
}
