import { regexes } from 'zod';
import { type Automaton, guarded, patternAutomaton } from './text-pattern.ts';

const inner = (regex: RegExp) => regex.source.replace(/^\^/, '').replace(/\$$/, '');

const date = `(?!0000)${inner(regexes.date)}`;
const time = String.raw`(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?`;
const offset = String.raw`(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)`;
const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,28}[A-Za-z0-9])?';
const part = String.raw`\d{1,6}`;

/** The formats that OpenAI documents for strict schemas. Lengths are bounded so that a model ends a text. */
const formats: Record<string, string> = {
  date,
  time: `${time}${offset}?`,
  'date-time': `${date}T${time}${offset}`,
  duration: `P(?:${part}W|(?=\\d|T\\d)(?:${part}Y)?(?:${part}M)?(?:${part}D)?(?:T(?=\\d)(?:${part}H)?(?:${part}M)?(?:${part}(?:\\.${part})?S)?)?)`,
  email: String.raw`[A-Za-z0-9_+-]{1,15}(?:\.[A-Za-z0-9_+-]{1,15}){0,3}@(?:${label}\.){1,4}[A-Za-z]{2,20}`,
  hostname: String.raw`${label}(?:\.${label}){0,7}`,
  ipv4: inner(regexes.ipv4),
  ipv6: inner(regexes.ipv6),
  uuid: inner(regexes.guid),
};

const known = new Map<string, Automaton>();

/** Returns the automaton of a format; null if the format is unknown or not enforced. */
export function formatAutomaton(format: string): Automaton | null {
  const source = formats[format];
  if (source === undefined) return null;
  const found = known.get(format) ?? guarded(`'format' ${format}`, () => patternAutomaton(`^(?:${source})$`));
  known.set(format, found);
  return found;
}

/** Returns true if the pattern is the regular expression of the format itself. zod writes both. */
export function isFormatPattern(pattern: string, format: string): boolean {
  const own = regexes[format as 'hostname'] as RegExp | undefined;
  return own instanceof RegExp && own.source === pattern && format in formats;
}
