import * as z from 'zod';
import type { Access, Service } from '../service.ts';
import { callService } from './call-service.ts';

const title = 'BytePlus';
const DRAW_MS = 3 * 60_000;

const answered = z.object({ data: z.array(z.object({ url: z.url().optional() })) });

/** BytePlus ModelArk draws while it is waited for: there is no job that could be found again. */
export function byteplus({ key, url }: Access): Service {
  return {
    async submit({ model, input }, signal) {
      const { data } = answered.parse(
        await callService({
          title,
          url: new URL('/api/v3/images/generations', url).href,
          method: 'POST',
          headers: { authorization: `Bearer ${key}` },
          body: { model, response_format: 'url', ...input },
          signal,
          ms: DRAW_MS,
        }),
      );
      return { pictures: data.flatMap((one) => one.url ?? []) };
    },
    look: () => Promise.reject(new Error(`${title} has no jobs`)),
    cancel: () => Promise.resolve(),
  };
}
