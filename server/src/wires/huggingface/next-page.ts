import type { FastifyRequest } from 'fastify';
import { Answer } from '../../platform/http/answer.ts';

/** The parts of a request that contain the address that the client used. */
export type Addressed = Pick<FastifyRequest, 'protocol' | 'host' | 'url'>;

/** Returns this server's origin, as the client addressed it. */
export function originOf({ protocol, host }: Pick<Addressed, 'protocol' | 'host'>): string {
  return `${protocol}://${host}`;
}

/** Returns the hub's base URL for its clients, the value of `HF_ENDPOINT`. */
export function hubUrl(request: Addressed): string {
  return `${originOf(request)}/hub`;
}

/**
 * Returns a page. If there are more pages, a header links to the next one: the same URL with another value of
 * one query parameter.
 */
export function answerPage<Body>(
  request: Addressed,
  body: Body,
  next: { field: string; value: string | null },
): Answer<Body> {
  if (next.value === null) return new Answer(body);
  const url = new URL(request.url, originOf(request));
  url.searchParams.set(next.field, next.value);
  return new Answer(body, { headers: { link: `<${url.href}>; rel="next"` } });
}
