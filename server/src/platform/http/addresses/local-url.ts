import { isIPv6 } from 'node:net';

/** Returns the local URL of a server that listens there. Wildcard addresses include 127.0.0.1. */
export function localUrl({ host, port }: { host: string; port: number }): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  const name = everywhere ? '127.0.0.1' : isIPv6(host) ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
