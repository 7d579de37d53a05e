import type { Http } from '../../platform/http/bind.ts';

/** Returns this server's origin as the client addressed it. */
export function originOf({ request }: Http): string {
  return `${request.protocol}://${request.host}`;
}

/** Returns the hub's base URL for its clients, the value of `HF_ENDPOINT`. */
export function hubUrl(http: Http): string {
  return `${originOf(http)}/hub`;
}

/** Sets the Link header to the next page: the same call with another value of one query parameter. */
export function linkNextPage(http: Http, field: string, value: string): void {
  const url = new URL(http.request.url, originOf(http));
  url.searchParams.set(field, value);
  http.reply.header('link', `<${url.href}>; rel="next"`);
}
