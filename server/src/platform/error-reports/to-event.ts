import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { scrubText } from './scrub-text.ts';

/** An error to report, with its context. */
export type Reported = {
  /** Whether it happened in the server or in a browser. */
  platform: 'node' | 'javascript';
  errors: Pick<Error, 'name' | 'message' | 'stack'>[];
  userId?: string | undefined;
  tags: Record<string, string>;
};

type Frame = { filename: string; function?: string; lineno: number; colno: number; in_app: boolean };

/** A Sentry event. */
export type ErrorEvent = { event_id: string; timestamp: number; [field: string]: unknown };

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
const RELEASE = `bakehouse@${version}`;
const FRAMES_MAX = 50;
const CAUSES_MAX = 4;
/** Chrome and Node.js: 'at name (file:1:2)'; Firefox and Safari: 'name@file:1:2'. */
const FRAME =
  /^\s*(?:at (?:async )?(?:(?<node>.*?) \()?|(?<other>[^@]*)@)(?<file>.+?):(?<line>\d+):(?<column>\d+)\)?$/;

/** Returns the event of an error, without user input. */
export function toEvent({ platform, errors, userId, tags }: Reported, at: Date): ErrorEvent {
  return {
    event_id: randomUUID().replaceAll('-', ''),
    timestamp: at.getTime() / 1000,
    platform,
    level: 'error',
    release: RELEASE,
    // The cause first.
    exception: {
      values: errors.toReversed().map(({ name, message, stack }) => ({
        type: scrubText(name).slice(0, 100),
        value: scrubText(message),
        stacktrace: { frames: framesOf(stack ?? '') },
      })),
    },
    tags: Object.fromEntries(
      Object.entries(tags).map(([tag, value]) => [tag, scrubText(value).slice(0, 200)]),
    ),
    ...(userId !== undefined && { user: { id: userId } }),
  };
}

/** Returns an error and its causes, latest first; for other thrown values only their type. */
export function causesOf(thrown: unknown): Reported['errors'] {
  const chain: Reported['errors'] = [];
  for (let next = thrown; next instanceof Error && chain.length < CAUSES_MAX; next = next.cause)
    chain.push(next);
  return chain.length > 0 ? chain : [{ name: `Thrown ${typeof thrown}`, message: '' }];
}

/** Parses stack frames, oldest first. Skips lines of a multi-line message. */
function framesOf(stack: string): Frame[] {
  const frames = stack
    .slice(0, 20_000)
    .split('\n')
    .flatMap((line) => {
      const { node, other, file, line: lineno, column } = FRAME.exec(line)?.groups ?? {};
      if (file === undefined) return [];
      const name = (node ?? other ?? '').slice(0, 200);
      const filename = cutHost(file);
      return [
        {
          filename,
          ...(/^[\w.$<>#[\] ]+$/.test(name) && { function: name }),
          lineno: Number(lineno),
          colno: Number(column),
          in_app: !/node_modules|^node:/.test(filename),
        },
      ];
    });
  return frames.slice(0, FRAMES_MAX).toReversed();
}

/** Removes this machine's folders and the installation's address. */
function cutHost(file: string): string {
  if (file.startsWith('node:')) return file;
  const place = file.replace(/^file:\/\//, '');
  if (place.startsWith(`${ROOT}/`)) return place.slice(ROOT.length + 1);
  if (/^https?:/.test(place) && URL.canParse(place)) return new URL(place).pathname;
  return path.basename(place);
}
