import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const LENGTH_MAX = 300;

/** Quotation marks. An apostrophe within a word is not one. */
const QUOTE = String.raw`(?:["\x60“”‘]|(?<!\w)['’]|['’](?!\w))`;

const rules: [RegExp, string][] = [
  // Quotations hold user input, such as a prompt or a row of a file. Match up to the last quotation mark,
  // because the input may contain some.
  [new RegExp(`${QUOTE}.*${QUOTE}`, 'su'), '[…]'],
  // A truncated quotation has no closing mark.
  [new RegExp(`${QUOTE}.*$`, 'su'), '[…]'],
  [/\b(password|passwd|secret|token|api[_-]?key|cookie|authorization)\b\s*[=:]\s*.*/gisu, '$1=[…]'],
  [/\b(bearer|basic)\s+\S+/giu, '$1 […]'],
  [/\b[a-z][a-z0-9+.-]*:\/\/\S+/giu, '[url]'],
  [/\S+@\S+/gu, '[address]'],
  [/\b(?:bk|sk|pk|rk|hf|whsec|ghp|xox[a-z])[_-]\S+/giu, '[secret]'],
  // Do not match our own ids, because they identify no person.
  [
    /(?<![\w-])(?![0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-]))(?=[^\s\d]*\d)[\w+-]{20,}/giu,
    '[secret]',
  ],
];

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
const RELEASE = `bakehouse@${version}`;
const FRAMES_MAX = 50;
const CAUSES_MAX = 4;

/** Chrome and Node.js: 'at name (file:1:2)'; Firefox and Safari: 'name@file:1:2'. */
const FRAME =
  /^\s*(?:at (?:async )?(?:(?<node>.*?) \()?|(?<other>[^@]*)@)(?<file>.+?):(?<line>\d+):(?<column>\d+)\)?$/;

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

/** Returns the event of an error, without user input. */
export function toEvent({ platform, errors, userId, tags }: Reported, at: Date): ErrorEvent {
  return {
    event_id: randomUUID().replaceAll('-', ''),
    timestamp: at.getTime() / 1000,
    platform,
    level: 'error',
    release: RELEASE,
    // Sentry expects the cause before the error.
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

/**
 * Removes user input, keys and addresses from an error message. Removes too much rather than too little,
 * because the stack also shows where the error happened.
 */
export function scrubText(text: string): string {
  const scrubbed = rules.reduce((rest, [pattern, by]) => rest.replace(pattern, by), text.slice(0, 10_000));
  return scrubbed.length > LENGTH_MAX ? `${scrubbed.slice(0, LENGTH_MAX)}…` : scrubbed;
}
