import type { Http } from '../../platform/http/bind.ts';

/** The address of this server as the client of a request calls it. */
export function originOf({ request }: Http): string {
  return `${request.protocol}://${request.host}`;
}

/** The hub's address for its clients: what `HF_ENDPOINT` is. */
export function hubUrl(http: Http): string {
  return `${originOf(http)}/hub`;
}

/** Says in the header Link where the list goes on: the same call with another value of one field of the query. */
export function linkNextPage(http: Http, field: string, value: string): void {
  const url = new URL(http.request.url, originOf(http));
  url.searchParams.set(field, value);
  http.reply.header('link', `<${url.href}>; rel="next"`);
}
