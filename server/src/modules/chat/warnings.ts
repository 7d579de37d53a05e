import { ignoredFields } from '@bakehouse/contract/fields/chat-body';
import type * as z from 'zod';
import type { Http } from '../../platform/http/bind.ts';

const NAMES_MAX = 20;
const NAME_LENGTH_MAX = 64;
const HEADER_LENGTH_MAX = 2000;

/** Returns one warning about unknown fields, or none. */
export function ignoredWarning(schema: z.ZodType | undefined, body: object): string[] {
  const names = ignoredFields((schema as z.ZodObject).shape, body);
  if (names.length === 0) return [];
  const shown = names.slice(0, NAMES_MAX).map((name) => name.slice(0, NAME_LENGTH_MAX));
  return [`ignored fields: ${shown.join(', ')}${names.length > NAMES_MAX ? ', ...' : ''}`];
}

/** Returns the body without unknown fields, because some names have a meaning inside this server. */
export function knownFields<Body extends object>(schema: z.ZodType | undefined, body: Body): Body {
  const ignored = new Set(ignoredFields((schema as z.ZodObject).shape, body));
  return Object.fromEntries(Object.entries(body).filter(([name]) => !ignored.has(name))) as Body;
}

/** Sends the warnings in a response header. */
export function sendWarnings(reply: Http['reply'], warnings: string[]): void {
  if (warnings.length === 0) return;
  const text = warnings.join('; ');
  reply.header('bakehouse-warning', text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, HEADER_LENGTH_MAX));
}
