import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { linkSignals } from '../../../platform/link-signals.ts';
import { askHub, type HubAccess, unreachable } from './ask-hub.ts';
import { refuseAnswer } from './refuse-answer.ts';

/** More than the metadata of a thousand files. */
const ANSWER_BYTES_MAX = 16 * 1024 ** 2;
/** From the request to the last byte. */
const LIMIT_MS = 20_000;

/**
 * Returns a `fetch` for the hub's own library, which requests JSON. Throws AppErrors in place of the
 * library's errors: 'not_found', 'conflict' for a gated repository, 'unavailable'. `what` names the object in
 * messages.
 */
export function hubFetch(
  access: HubAccess,
  { what, signal }: { what: string; signal: AbortSignal },
): typeof fetch {
  return async (input) => {
    using limited = linkSignals(AbortSignal.timeout(LIMIT_MS), signal);
    const url = new URL(input instanceof Request ? input.url : input);
    try {
      const answer = await askHub(access, url, {
        headers: { accept: 'application/json' },
        signal: limited.signal,
      });
      const { statusCode = 0, headers } = answer;
      if (statusCode !== 200) {
        answer.destroy();
        throw refuseAnswer({ statusCode, headers }, { what, token: access.token });
      }
      const { link } = headers;
      const body = await readBounded(answer);
      return new Response(body, {
        headers: { 'content-type': 'application/json', ...(link && { link: String(link) }) },
      });
    } catch (error) {
      signal.throwIfAborted();
      throw limited.signal.aborted ? unreachable(error) : error;
    }
  };
}

async function readBounded(answer: Readable): Promise<Buffer<ArrayBuffer>> {
  let bytes = 0;
  const bounded = async function* () {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) throw new Error('response larger than 16 MB');
      yield chunk;
    }
  };
  try {
    return await buffer(Readable.from(bounded()));
  } catch (error) {
    answer.destroy();
    throw unreachable(error);
  }
}
