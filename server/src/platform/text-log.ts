import type { DestinationStream } from 'pino';
import * as z from 'zod';

const entry = z.looseObject({
  time: z.iso.datetime(),
  level: z.string(),
  msg: z.string().default(''),
  err: z.looseObject({ message: z.string(), stack: z.string().optional() }).optional(),
  /** Which part of the program speaks: for machines that filter. */
  part: z.string().optional(),
});

/** Writes the log to stdout as lines for people. */
export const textDestination: DestinationStream = {
  write: (json) => {
    process.stdout.write(`${textLine(json)}\n`);
  },
};

/**
 * One JSON line of the log as 'YYYY-MM-DD HH:MM:SS message: cause key=value ...', in local time, with a value of several
 * lines below it. Above info the level stands before the message, and from error on the stack below it; at info the
 * message says all, and the fields are for machines.
 */
export function textLine(json: string): string {
  const { time, level, msg, err, part: _, ...fields } = entry.parse(JSON.parse(json));
  // Sweden writes dates as ISO 8601 does.
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

/** Names and outputs of users may hold line breaks, or what a terminal obeys. */
function withoutControls(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ');
}

/** A plain word stands as it is; anything else as JSON, so that it is seen where a value ends. */
function valueText(value: unknown): string {
  return typeof value === 'string' && /^[^\s"]+$/.test(value) ? value : JSON.stringify(value);
}
