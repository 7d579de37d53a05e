import type { DestinationStream } from 'pino';
import * as z from 'zod';

const entry = z.looseObject({
  time: z.iso.datetime(),
  level: z.string(),
  msg: z.string().default(''),
  err: z.looseObject({ message: z.string(), stack: z.string().optional() }).optional(),
  /** Part of the program, for filtering by machines. */
  part: z.string().optional(),
});

/** Writes the log to stdout as readable lines. */
export const textDestination: DestinationStream = {
  write: (json) => {
    process.stdout.write(`${textLine(json)}\n`);
  },
};

/**
 * Formats one JSON line of the log as 'YYYY-MM-DD HH:MM:SS message: cause key=value ...', in local time, with
 * multi-line values below it. Above info it includes the level before the message, and from error on the
 * stack below it; at info the message is sufficient, and the fields are for machines.
 */
export function textLine(json: string): string {
  const { time, level, msg, err, part: _, ...fields } = entry.parse(JSON.parse(json));
  // Sweden uses ISO 8601 dates.
  const clock = new Date(time).toLocaleString('sv-SE');
  const weight = level === 'warn' || level === 'error' || level === 'fatal' ? `${level}: ` : '';
  const message = withoutControls(`${weight}${msg}${err ? `: ${err.message}` : ''}`);
  const shownFields = level === 'info' ? [] : Object.entries(fields);
  const details = shownFields
    .filter(([, value]) => !isText(value))
    .map(([name, value]) => ` ${name}=${valueText(value)}`);
  const texts = shownFields.flatMap(([, value]) => (isText(value) ? value.trim().split('\n') : []));
  const stack = level === 'error' || level === 'fatal' ? (err?.stack?.split('\n').slice(1) ?? []) : [];
  const below = [...texts, ...stack.map((line) => line.trim())].map(
    (line) => `\n${`    ${withoutControls(line)}`.trimEnd()}`,
  );
  return `${clock} ${message}${details.join('')}${below.join('')}`;
}

/** Text of several lines, such as a mail, to be copied. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim().includes('\n');
}

/** Users' names and outputs may contain line breaks or terminal sequences. */
function withoutControls(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ');
}

/** A plain word is printed unquoted; anything else as JSON, so that its end is visible. */
function valueText(value: unknown): string {
  return typeof value === 'string' && /^[^\s"]+$/.test(value) ? value : JSON.stringify(value);
}
