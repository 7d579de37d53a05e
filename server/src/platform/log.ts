import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import type { Config } from '../config.ts';
import { textDestination } from './text-log.ts';

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>;

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

type Options = {
  /** Instead of the terminal. */
  destination?: DestinationStream;
  /** Called for each line of level `error` or above, with its fields and message. */
  onError?: (fields: Record<string, unknown>, message: string | undefined) => void;
};

/** Writes unformatted JSON to stdout. Pino's own stream would retry a line forever on a full disk. */
const jsonDestination: DestinationStream = {
  write: (json) => {
    process.stdout.write(json);
  },
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
