/** URL for envelopes, and the key that identifies the project. */
export type SentryAddress = { envelopeUrl: string; publicKey: string };

/** Converts a DSN such as 'https://key@sentry.example/4' to its envelope URL; null if it is invalid. */
export function parseSentryDsn(dsn: string): SentryAddress | null {
  if (!URL.canParse(dsn)) return null;
  const { protocol, username, host, pathname, search, hash } = new URL(dsn);
  const [, prefix, project] = /^(\/(?:.+\/)?)([^/]+)$/.exec(pathname) ?? [];
  const isWhole = /^https?:$/.test(protocol) && username !== '' && project !== undefined;
  if (!isWhole || search !== '' || hash !== '') return null;
  return {
    envelopeUrl: `${protocol}//${host}${prefix}api/${project}/envelope/`,
    publicKey: decodeURIComponent(username),
  };
}
