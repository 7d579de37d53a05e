import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from '../config.ts';
import { textDestination } from './text-log.ts';

/** What must never reach a log, wherever an object is logged that holds it. */
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

/** Structured log of the program, one JSON object per line, secrets redacted two levels deep. */
export function createLog(
  config: Pick<Config, 'logLevel' | 'logFormat'>,
  destination: DestinationStream | undefined = config.logFormat === 'text' ? textDestination : undefined,
): Logger {
  const paths = SECRET_FIELDS.flatMap((field) => [`["${field}"]`, `*["${field}"]`, `*.*["${field}"]`]);
  const options = {
    level: config.logLevel,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths, censor: '[redacted]' },
  };
  return destination ? pino(options, destination) : pino(options);
}
