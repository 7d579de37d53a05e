import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import * as z from 'zod';
import type { Config } from '../config.ts';

const entry = z.looseObject({
  time: z.iso.datetime(),
  level: z.string(),
  msg: z.string().default(''),
  err: z.looseObject({ message: z.string(), stack: z.string().optional() }).optional(),
  /** Which part of the program wrote the entry; only printed as JSON. */
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
  /** Destination instead of the terminal. */
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
 * Formats one JSON line of the log as 'YYYY-MM-DD HH:MM:SS message: cause key=value ...', in local time. At
 * info, only the message is printed. Above info, the level is printed before the message, and multi-line
 * values below it. From error on, the stack follows.
 */
export function textLine(json: string): string {
  const { time, level, msg, err, part: _, ...fields } = entry.parse(JSON.parse(json));
  // The Swedish format is ISO 8601.
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

/** A value of several lines, such as a mail, that the operator may want to copy. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim().includes('\n');
}

/** Users' names and outputs may contain line breaks or terminal sequences. */
function withoutControls(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ');
}

/** Prints a plain word unquoted, and anything else as JSON, which shows where it ends. */
function valueText(value: unknown): string {
  return typeof value === 'string' && /^[^\s"]+$/.test(value) ? value : JSON.stringify(value);
}
