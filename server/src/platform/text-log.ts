import type { DestinationStream } from 'pino';
import * as z from 'zod';

const entry = z.looseObject({
  time: z.iso.datetime(),
  level: z.string(),
  msg: z.string().default(''),
  err: z.looseObject({ message: z.string() }).optional(),
});

/** Writes the log to stdout as lines for people. */
export const textDestination: DestinationStream = {
  write: (json) => {
    process.stdout.write(`${textLine(json)}\n`);
  },
};

/** One JSON line of the log as 'HH:MM:SS message: cause'; above info the level stands before the message. */
export function textLine(json: string): string {
  const { time, level, msg, err } = entry.parse(JSON.parse(json));
  const clock = new Date(time).toTimeString().slice(0, 8);
  const weight = level === 'warn' || level === 'error' || level === 'fatal' ? `${level}: ` : '';
  return `${clock} ${weight}${msg}${err ? `: ${err.message}` : ''}`;
}
