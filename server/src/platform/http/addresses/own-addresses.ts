import { isIP, isIPv6 } from 'node:net';
import { hostname } from 'node:os';
import * as z from 'zod';

/**
 * Returns true if a Host header names this server: the public URL's host, localhost, the machine's own name,
 * or any numeric address. With any other name, a page of another site could reach this server by DNS
 * rebinding and would share its origin.
 */
export function isOwnHost(host: string, publicUrl: string): boolean {
  const url = URL.parse(`http://${host}`);
  if (!url) return false;
  if (url.host === URL.parse(publicUrl)?.host) return true;
  const name = url.hostname.replace(/^\[|\]$/g, '');
  const machine = hostname().toLowerCase();
  return isIP(name) !== 0 || /(^|\.)localhost$/.test(name) || name === machine || name === `${machine}.local`;
}

/** Returns the local URL of a server that listens at this address. Wildcard addresses include 127.0.0.1. */
export function localUrl({ host, port }: { host: string; port: number }): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  const name = everywhere ? '127.0.0.1' : isIPv6(host) ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

/** Parses `name=address` pairs, separated by commas, that override default addresses. */
export function namedUrls<Urls extends Record<string, string>>(
  usual: Urls,
  example: keyof Urls & string,
): (text: string, context: z.core.$RefinementCtx) => Urls {
  return (text, context) => {
    const entries = text.split(',').map((entry) => entry.trim());
    const given = entries.filter(Boolean).map((entry) => {
      const [name = '', ...rest] = entry.split('=');
      const url = rest.join('=');
      if (!Object.hasOwn(usual, name) || !z.url({ protocol: /^https?$/ }).safeParse(url).success)
        context.addIssue(
          `must be such as ${example}=${usual[example]}, of ${Object.keys(usual).join(', ')}, not '${entry}'`,
        );
      return [name, url] as const;
    });
    return { ...usual, ...Object.fromEntries(given.map(([name, url]) => [name, url.replace(/\/+$/, '')])) };
  };
}
