import * as z from 'zod';
import { unavailable } from '../../../platform/errors.ts';
import type { Access, JobStatus, Service } from '../service.ts';
import { callService, moderated } from './call-service.ts';

const title = 'Black Forest Labs';

const submitted = z.object({ polling_url: z.url() });
const task = z.object({ status: z.string(), result: z.object({ sample: z.url() }).nullish() });

/**
 * Client of Black Forest Labs, the maker of FLUX. The answer to a submission has the address to poll. A task
 * cannot be cancelled.
 */
export function blackForestLabs({ key, url, clock }: Access): Service {
  const headers = { 'x-key': key };
  return {
    async submit({ model, input }) {
      const asked = { title, url: new URL(`/v1/${model}`, url).href, headers, clock };
      const { polling_url: polling } = submitted.parse(
        await callService({ ...asked, method: 'POST', body: input }),
      );
      if (!isSameService(polling, url))
        throw new Error(`${title} returned an address on another host: ${polling}`);
      return { polling };
    },

    async look({ polling = '' }, signal) {
      return toLook(task.parse(await callService({ title, url: polling, headers, clock, signal })));
    },
  };
}

function toLook({ status, result }: z.output<typeof task>): JobStatus {
  if (status === 'Ready' && result) return { state: 'done', outputs: [result.sample] };
  if (/moderated/i.test(status)) return { state: 'failed', error: moderated(title, new Error(status)) };
  if (/^(Error|Failed|Task not found)$/.test(status)) {
    const publicMessage = `${title} could not generate this`;
    return {
      state: 'failed',
      error: unavailable(publicMessage, { cause: new Error(status) }),
    };
  }
  return { state: 'waiting', reason: `${title} is generating it`, isGenerating: true };
}

/** True if the key may be sent to this address: the same host, or another region's host. */
function isSameService(address: string, url: string): boolean {
  const [named, own] = [new URL(address), new URL(url)];
  const isRegion = ({ protocol, hostname }: URL) => protocol === 'https:' && hostname.endsWith('.bfl.ai');
  return named.origin === own.origin || (isRegion(named) && isRegion(own));
}
