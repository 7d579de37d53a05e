import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import * as z from 'zod';
import type { Config } from '../config.ts';

const entry = z.looseObject({
  time: z.iso.datetime(),
  level: z.string(),
  msg: z.string().default(''),
  err: z.looseObject({ message: z.string(), stack: z.string().optional() }).optional(),
  /** Part of the program, for filtering by machines. */
  part: z.string().optional(),
});

/** Writes the log to stdout as readable lines. */
const textDestination: DestinationStream = {
  write: (json) => {
    process.stdout.write(`${textLine(json)}\n`);
  },
};

const ERROR_LEVEL = 50;

/** Fields to redact wherever an object with them is logged. */
const SECRET_FIELDS = [
  'authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'apiKey',
  'api_key',
  'key',
  'token',
  'password',
  'secret',
  'clientSecret',
];

/** Writes unformatted JSON to stdout. Pino's own stream would retry a line forever on a full disk. */
const jsonDestination: DestinationStream = {
  write: (json) => {
    process.stdout.write(json);
  },
};

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>;

type Options = {
  /** Instead of the terminal. */
  destination?: DestinationStream;
  /** Called for each line of level `error` or above, with its fields and message. */
  onError?: (fields: Record<string, unknown>, message: string | undefined) => void;
};

/** Creates the log of the program, one JSON object per line, with secrets redacted two levels deep. */
export function createLog(
  config: Pick<Config, 'logLevel' | 'logFormat'>,
  { destination = config.logFormat === 'text' ? textDestination : jsonDestination, onError }: Options = {},
): Logger {
  const paths = SECRET_FIELDS.flatMap((field) => [`["${field}"]`, `*["${field}"]`, `*.*["${field}"]`]);
  const options = {
    level: config.logLevel,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths, censor: '[redacted]' },
    ...(onError && { hooks: { logMethod: reportErrors(onError) } }),
  };
  return pino(options, destination);
}

function reportErrors(onError: NonNullable<Options['onError']>): LogMethod {
  return function logMethod(args, method, level) {
    const [first, message] = args as unknown[];
    if (level >= ERROR_LEVEL && typeof first === 'object' && first !== null)
      onError({ ...this.bindings(), ...first }, typeof message === 'string' ? message : undefined);
    method.apply(this, args);
  };
}

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
