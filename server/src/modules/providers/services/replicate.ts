import * as z from 'zod';
import { type AppError, unavailable } from '../../../platform/errors.ts';
import type { Access, JobStatus, Service } from '../service.ts';
import { callService, moderated } from './call-service.ts';

const title = 'Replicate';

const prediction = z.object({
  id: z.string().regex(/^\w+$/),
  status: z.enum(['starting', 'processing', 'succeeded', 'failed', 'canceled', 'aborted']),
  output: z.union([z.url(), z.array(z.url())]).nullish(),
  error: z.string().nullish(),
});

const file = z.object({ urls: z.object({ get: z.url() }) });

/** Client of Replicate's predictions with official models. */
export function replicate({ key, url, clock }: Access): Service {
  const headers = { authorization: `Bearer ${key}` };
  const address = (path: string) => new URL(`/v1/${path}`, url).href;
  return {
    // Replicate accepts `data:` URLs only for small files.
    async upload({ bytes, mediaType }, signal) {
      const body = new FormData();
      body.append('content', new Blob([new Uint8Array(bytes)], { type: mediaType }), 'picture');
      const asked = { title, url: address('files'), headers, clock, signal };
      return file.parse(await callService({ ...asked, method: 'POST', body })).urls.get;
    },

    async submit({ model, input }) {
      const asked = { title, url: address(`models/${model}/predictions`), headers, clock };
      const { id } = prediction.parse(await callService({ ...asked, method: 'POST', body: { input } }));
      return { id };
    },

    async look({ id = '' }, signal) {
      return toLook(
        prediction.parse(
          await callService({ title, url: address(`predictions/${id}`), headers, clock, signal }),
        ),
      );
    },

    async cancel({ id = '' }) {
      await callService({ title, url: address(`predictions/${id}/cancel`), method: 'POST', headers, clock });
    },
  };
}

function toLook({ status, output, error }: z.output<typeof prediction>): JobStatus {
  switch (status) {
    case 'starting':
      return { state: 'waiting', reason: `${title} is starting the model`, isGenerating: false };
    case 'processing':
      return { state: 'waiting', reason: `${title} is generating it`, isGenerating: true };
    case 'succeeded':
      return { state: 'done', outputs: typeof output === 'string' ? [output] : (output ?? []) };
    case 'failed':
      return { state: 'failed', error: failure(error ?? '') };
    case 'canceled':
    case 'aborted':
      return { state: 'failed', error: failure('it was cancelled there') };
  }
}

function failure(message: string): AppError {
  const cause = new Error(message);
  if (/nsfw|sensitive|safety|flagged|moderat/i.test(message)) return moderated(title, cause);
  return unavailable(`${title} could not generate this`, { cause });
}
