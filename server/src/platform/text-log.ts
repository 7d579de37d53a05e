import type { DestinationStream } from 'pino';
import * as z from 'zod';

const entry = z.looseObject({
  time: z.iso.datetime(),
  level: z.string(),
  msg: z.string().default(''),
  err: z.looseObject({ message: z.string() }).optional(),
  /** Which part of the program speaks: for machines that filter. */
  part: z.string().optional(),
});

/** Writes the log to stdout as lines for people. */
export const textDestination: DestinationStream = {
  write: (json) => {
    process.stdout.write(`${textLine(json)}\n`);
  },
};

/** One JSON line of the log as 'HH:MM:SS message: cause key=value ...'; above info the level stands before the message. */
export function textLine(json: string): string {
  const { time, level, msg, err, part: _, ...fields } = entry.parse(JSON.parse(json));
  const clock = new Date(time).toTimeString().slice(0, 8);
  const weight = level === 'warn' || level === 'error' || level === 'fatal' ? `${level}: ` : '';
  const details = Object.entries(fields).map(([name, value]) => ` ${name}=${valueText(value)}`);
  return `${clock} ${weight}${msg}${err ? `: ${err.message}` : ''}${details.join('')}`;
}

/** A plain word stands as it is; anything else as JSON, so that it is seen where a value ends. */
function valueText(value: unknown): string {
  return typeof value === 'string' && /^[^\s"]+$/.test(value) ? value : JSON.stringify(value);
}
