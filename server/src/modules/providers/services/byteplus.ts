import * as z from 'zod';
import type { Access, Service } from '../service.ts';
import { callService } from './call-service.ts';

const title = 'BytePlus';
const GENERATION_MS = 3 * 60_000;

const answered = z.object({ data: z.array(z.object({ url: z.url().optional() })) });

/** BytePlus ModelArk generates while it is waited for: its job is over once it is known, and the handle has the pictures. */
export function byteplus({ key, url, clock }: Access): Service {
  return {
    generatesAtSubmission: true,

    async submit({ model, input }, signal) {
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

    look: ({ pictures = '[]' }) =>
      Promise.resolve({ state: 'done', outputs: z.array(z.string()).parse(JSON.parse(pictures)) }),
  };
}
