import * as z from 'zod';
import { type AppError, unavailable } from '../../../platform/errors.ts';
import type { Access, JobStatus, Service } from '../service.ts';
import { callService, moderated } from './call-service.ts';

const title = 'BytePlus';
const GENERATION_MS = 3 * 60_000;
const answered = z.object({ data: z.array(z.object({ url: z.url().optional() })) });

/**
 * Client of BytePlus ModelArk. The submission call of a picture returns the outputs, which become its handle.
 * Videos are tasks.
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

    // A handle without a task belongs to a picture, which is already done.
    cancel: async (handle) => (handle.task === undefined ? undefined : tasks.cancel(handle)),
  };
}

const id = z.string().regex(/^[\w-]+$/);
const submitted = z.object({ id });
const task = z.object({
  status: z.enum(['queued', 'running', 'succeeded', 'failed', 'cancelled', 'expired']),
  content: z.object({ video_url: z.url().optional() }).nullish(),
  error: z.object({ code: z.string(), message: z.string() }).nullish(),
});

/** Client of BytePlus ModelArk's video tasks. Queued tasks can be cancelled. */
function byteplusTasks({ key, url, clock }: Access): Required<Pick<Service, 'submit' | 'look' | 'cancel'>> {
  const call = { title, headers: { authorization: `Bearer ${key}` }, clock };
  const address = (path = '') => new URL(`/api/v3/contents/generations/tasks${path}`, url).href;
  return {
    async submit({ model, input: { prompt, first_frame: frame, ...settings } }) {
      const picture = { type: 'image_url', image_url: { url: frame }, role: 'first_frame' };
      const content = [{ type: 'text', text: prompt }, ...(frame === undefined ? [] : [picture])];
      const body = { model, content, ...settings };
      const answer = await callService({ ...call, url: address(), method: 'POST', body });
      return { task: submitted.parse(answer).id };
    },

    look: async (handle, signal) =>
      toLook(task.parse(await callService({ ...call, url: address(`/${handle.task}`), signal }))),

    async cancel(handle) {
      await callService({ ...call, url: address(`/${handle.task}`), method: 'DELETE' });
    },
  };
}

function toLook({ status, content, error }: z.output<typeof task>): JobStatus {
  switch (status) {
    case 'queued':
      return { state: 'waiting', reason: `Queued at ${title}`, isGenerating: false };
    case 'running':
      return { state: 'waiting', reason: `${title} is generating it`, isGenerating: true };
    case 'succeeded':
      return { state: 'done', outputs: content?.video_url ? [content.video_url] : [] };
    case 'failed':
      return { state: 'failed', error: failure(error?.code ?? '', error?.message ?? '') };
    case 'cancelled':
    case 'expired':
      return { state: 'failed', error: failure(status, `the task has ${status}`) };
  }
}

function failure(code: string, message: string): AppError {
  const cause = new Error(`${code}: ${message}`);
  if (/SensitiveContent|PolicyViolation/.test(code)) return moderated(title, cause);
  return unavailable(`${title} could not generate this`, { cause });
}
